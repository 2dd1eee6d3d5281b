"""Untrusted files: opened so that nothing waits, created so that nothing is written through a link.

What is read is opened once, without waiting, and has to be a regular file of bounded size. What is written is created
anew under a random name in a directory that is opened once, and then renamed. Where a directory is not trusted, `root`
names it, and no link below it is followed.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat

TYPE_CHECKING = False  # as type checkers read it; the module typing would take its time
if TYPE_CHECKING:
    from collections.abc import Generator
    from io import BufferedReader
    from pathlib import Path
    from typing import IO

LARGEST_TEXT = 32 * 2**20
"""Bytes of a text or a JSON file. chosen: a manifest of 10,000 points has 4 MB; reading the largest takes a second."""

_FOLDER = os.O_RDONLY | os.O_DIRECTORY
_BELOW = _FOLDER | os.O_NOFOLLOW
_READ = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY
_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW

_KINDS = {
    stat.S_IFDIR: "is a directory",
    stat.S_IFLNK: "is a link",
    stat.S_IFIFO: "is a pipe and no file",
    stat.S_IFSOCK: "is a socket and no file",
}


def open_file(path: Path, *, root: Path | None = None, most: int | None = None) -> BufferedReader:
    """Open a regular file for reading.

    Raises `OSError` if it is not there, is something else, or is larger.

    Parameters
    ----------
    path
        The file.
    root
        A directory around it that is not trusted: no link below it is followed. Without one, links are
        followed: the user has named the file.
    most
        Bytes that it may have.
    """
    with _parent(path, root) as (parent, name):
        # Devices are not even opened: some act when they are.
        _refuse_others(os.stat(name, dir_fd=parent, follow_symlinks=root is None), path)
        flags = _READ if root is None else _READ | os.O_NOFOLLOW
        file = os.fdopen(os.open(name, flags, dir_fd=parent), "rb")
    try:
        found = os.fstat(file.fileno())
        _refuse_others(found, path)
        if most is not None:
            _refuse_larger(found.st_size, most, path)
    except BaseException:
        file.close()
        raise
    return file


def read_file(path: Path, *, root: Path | None = None, most: int = LARGEST_TEXT, is_shown: bool = False) -> bytes:
    """Return the content of a regular file; see `open_file`.

    Below a `root`, a file with a second name is refused if a page shows it (`is_shown`): a hard link is a file of the reader's
    that another user has given a name here. Raises `OSError` if it is not there, is something else, or is larger.
    """
    with open_file(path, root=root, most=most) as file:
        if is_shown and root is not None and os.fstat(file.fileno()).st_nlink > 1:
            raise OSError(errno.EMLINK, "has a second name elsewhere (a hard link), and is not shown", str(path))
        content = file.read(most + 1)
    _refuse_larger(len(content), most, path)  # it may grow while it is read
    return content


def read_named(path: Path, *, most: int = LARGEST_TEXT) -> bytes:
    """Return the content of what a user has named: a file, or an open pipe such as `/dev/stdin` or `/dev/fd/63`.

    Raises `OSError` if it cannot be read, or is larger.
    """
    if not _is_open_already(path):
        return read_file(path, most=most)
    with os.fdopen(_open_again(path), "rb") as file:
        content = file.read(most + 1)
    _refuse_larger(len(content), most, path)
    return content


def _open_again(path: Path) -> int:
    """Open what is open already; any other device is not even opened, some act when they are."""
    found = path.stat()
    is_terminal = stat.S_ISCHR(found.st_mode) and os.major(found.st_rdev) in TERMINALS
    if not (stat.S_ISFIFO(found.st_mode) or stat.S_ISSOCK(found.st_mode) or is_terminal):
        _refuse_others(found, path)
    return os.open(path, os.O_RDONLY | os.O_NOCTTY)


TERMINALS = (4, 5, *range(136, 144))
"""Major numbers of consoles, of `/dev/tty`, and of pseudo-terminals. Source: Linux, Documentation/admin-guide/devices.txt."""


def place_of(file: BufferedReader) -> str:
    """Return a name of an open file that stays the same file; its path may be replaced meanwhile."""
    return f"/dev/fd/{file.fileno()}"


def allow_many() -> None:
    """Let this process open as many files as the system lets it."""
    import resource

    with contextlib.suppress(OSError, ValueError):
        most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


def is_file(path: Path, *, root: Path | None = None) -> bool:
    """Return whether there is a regular file; see `open_file`."""
    try:
        open_file(path, root=root).close()
    except (OSError, ValueError):  # a name with a NUL is a ValueError
        return False
    return True


def folder_names(path: Path, *, root: Path | None = None) -> list[str]:
    """Return the names in a folder, in their order; none if it is no folder, or a link below `root`."""
    with contextlib.suppress(OSError), _folder(path, root) as folder:
        return sorted(os.listdir(folder))  # noqa: PTH208 - of a descriptor
    return []


@contextlib.contextmanager
def new_file(path: Path, *, root: Path | None = None) -> Generator[IO[bytes]]:
    """Give a new file that gets its name when the block ends well; what had the name before is replaced.

    Raises `OSError` if it cannot be written.

    Parameters
    ----------
    path
        The file.
    root
        A directory around it that is not trusted: no link below it is followed. Without one the user has
        named the file, and `/dev/stdout` takes what is written.
    """
    if root is None and _is_open_already(path):
        with path.open("wb") as file:
            yield file
        return
    with _parent(path, root) as (parent, name):
        temporary = f".{os.urandom(8).hex()}.partial"
        descriptor = os.open(temporary, _CREATE, 0o666, dir_fd=parent)
        try:
            with os.fdopen(descriptor, "wb") as file:
                yield file
            os.replace(temporary, name, src_dir_fd=parent, dst_dir_fd=parent)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(temporary, dir_fd=parent)
            raise


def write_file(path: Path, content: bytes | memoryview | str, *, root: Path | None = None) -> None:
    """Write a file; see `new_file`. Texts are written as UTF-8; of names of files, what is none becomes a question mark.

    Raises `OSError` if it cannot be written.
    """
    with new_file(path, root=root) as file:
        file.write(content.encode(errors="replace") if isinstance(content, str) else content)


def create_file(path: Path, content: bytes, *, temporary: Path, root: Path) -> bool:
    """Write a file that does not exist yet, and keep it through a power cut; return whether it was new.

    Of many that create the same file at the same time, on any machine that shares the disk, one gets it.

    Raises `OSError` if it cannot be written.

    Parameters
    ----------
    path, content
        The file.
    temporary
        A name of the caller's own on the same disk; its folder is there.
    root
        A directory around both. No link below it is followed.
    """
    with _parent(temporary, root) as (begin, old), _parent(path, root) as (end, new):
        file = os.open(old, _CREATE, 0o666, dir_fd=begin)
        try:
            with os.fdopen(file, "wb") as opened:
                opened.write(content)
                opened.flush()
                os.fsync(opened.fileno())
            is_new = _link(old, begin, new, end)
        finally:
            with contextlib.suppress(FileNotFoundError):  # renamed, where there are no links
                os.unlink(old, dir_fd=begin)
        if is_new:
            os.fsync(end)
        return is_new


def _link(old: str, begin: int, new: str, end: int) -> bool:
    """Give a whole file its name; return whether the name was free."""
    try:
        os.link(old, new, src_dir_fd=begin, dst_dir_fd=end, follow_symlinks=False)
    except FileExistsError:
        # A server of NFS may have done it and lost the answer: open(2) says what tells.
        return os.stat(old, dir_fd=begin, follow_symlinks=False).st_nlink == 2
    except OSError as error:
        if error.errno not in (errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK):
            raise
        # A disk without links, where two at the same moment can both believe to be first.
        with contextlib.suppress(FileNotFoundError):
            os.stat(new, dir_fd=end, follow_symlinks=False)
            return False
        os.rename(old, new, src_dir_fd=begin, dst_dir_fd=end)
    return True


def make_folder(path: Path, *, root: Path) -> None:
    """Make a folder below `root` with those around it, as far as they are not there; no link is one.

    Raises `OSError` if something else is in the way.
    """
    root.mkdir(parents=True, exist_ok=True)
    made = root
    for part in path.relative_to(root).parts:
        made /= part
        with _parent(made, root) as (parent, name), contextlib.suppress(FileExistsError):
            os.mkdir(name, dir_fd=parent)
    with _folder(path, root):
        return


def fresh_folder(path: Path, *, root: Path) -> Path:
    """Make an empty folder below `root`; its old content is removed, and a link without its target.

    Raises `OSError` if it cannot be made.
    """
    with _parent(path, root) as (parent, name):
        with contextlib.suppress(FileNotFoundError):
            _remove(name, parent)
        os.mkdir(name, dir_fd=parent)
    return path


def remove(path: Path, *, root: Path) -> None:
    """Remove a file, folder or link below `root`, as far as the system allows; a link without its target."""
    with contextlib.suppress(OSError), _parent(path, root) as (parent, name):
        _remove(name, parent)


def _remove(name: str, parent: int) -> None:
    import shutil

    if stat.S_ISDIR(os.stat(name, dir_fd=parent, follow_symlinks=False).st_mode):
        shutil.rmtree(name, dir_fd=parent)  # which follows no link either
    else:
        os.unlink(name, dir_fd=parent)


def move(source: Path, target: Path, *, root: Path) -> None:
    """Rename something below `root`; no link around source or target is followed.

    Raises `OSError` if it cannot be renamed.
    """
    with _parent(source, root) as (begin, old), _parent(target, root) as (end, new):
        os.rename(old, new, src_dir_fd=begin, dst_dir_fd=end)


@contextlib.contextmanager
def _parent(path: Path, root: Path | None) -> Generator[tuple[int, str]]:
    """Give the directory of a file, opened, and the file's name in it."""
    if path.name in ("", ".."):
        raise OSError(errno.EISDIR, "is a directory", str(path))
    with _folder(path.parent, root) as folder:
        yield folder, path.name


@contextlib.contextmanager
def _folder(path: Path, root: Path | None) -> Generator[int]:
    """Give a directory, opened; below `root` step by step, and through no link."""
    folder = os.open(path if root is None else root, _FOLDER)
    try:
        for part in () if root is None else path.relative_to(root).parts:
            if part == "..":
                raise OSError(errno.EINVAL, "lies outside", str(path))
            try:
                inner = os.open(part, _BELOW, dir_fd=folder)
            except OSError as error:
                if error.errno not in (errno.ELOOP, errno.ENOTDIR):
                    raise
                found = os.stat(part, dir_fd=folder, follow_symlinks=False)
                _refuse_others(found, path)
                raise NotADirectoryError(errno.ENOTDIR, "is no directory", str(path)) from error
            os.close(folder)
            folder = inner
        yield folder
    finally:
        os.close(folder)


def _is_open_already(path: Path) -> bool:
    """Return whether a user's own name is that of a pipe or a device of the system, such as `/dev/stdout` or `/dev/fd/63`.

    Other pipes may wait for ever for their other end.
    """
    return path.parts[:2] in (("/", "dev"), ("/", "proc"))


def _refuse_larger(size: int, most: int, path: Path) -> None:
    """Make sure that a file is not too large.

    Raises `OSError` if it is.
    """
    if size > most:
        raise OSError(errno.EFBIG, f"has more than {most} bytes", str(path))


def _refuse_others(found: os.stat_result, path: Path) -> None:
    """Make sure that what was found is a regular file.

    Raises `OSError` if it is not.
    """
    kind = stat.S_IFMT(found.st_mode)
    if kind != stat.S_IFREG:
        told = _KINDS.get(kind, "is a device and no file")
        code = errno.EISDIR if kind == stat.S_IFDIR else errno.EINVAL
        raise OSError(code, told, str(path))
