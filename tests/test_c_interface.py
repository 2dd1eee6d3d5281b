"""Queue managers behind the C interface: the header says what the library has, and a program in C replays every golden trace."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from sojourn.aqm.golden import FOLDER, read_golden

ROOT = Path(__file__).parents[1]
CRATE = ROOT / "crates" / "sojourn-queue-c"
HEADER = CRATE / "include" / "sojourn_queue.h"
PROGRAM = ROOT / "examples" / "c-queue" / "replay.c"

OF_C = {
    "u8": "uint8_t",
    "u16": "uint16_t",
    "u32": "uint32_t",
    "u64": "uint64_t",
    "i32": "int32_t",
    "i64": "int64_t",
    "f64": "double",
    "usize": "size_t",
    "c_char": "char",
    "c_void": "void",
}
"""Types of Rust as C has them."""


def in_c(rust: str) -> str:
    """Return a type of Rust as C spells it, without spaces before stars."""
    rust = rust.strip()
    if array := re.fullmatch(r"\[(\w+); (\d+)\]", rust):
        return f"{in_c(array[1])}[{array[2]}]"
    if function := re.fullmatch(r"Option<\s*unsafe extern \"C\" fn\((.*?)\)(?: -> (\w+))?,?\s*>", rust, re.DOTALL):
        return f"{in_c(function[2]) if function[2] else 'void'}(*)({parameters_in_c(function[1])})"
    if rust.startswith("*const "):
        return f"const {in_c(rust[7:])}*"
    if rust.startswith("*mut "):
        return f"{in_c(rust[5:])}*"
    return OF_C.get(rust, rust)


def parameters_in_c(rust: str) -> str:
    pairs = re.findall(r"(\w+): ([^,]+)", rust)
    return ",".join(f"{in_c(kind)} {name}" for name, kind in pairs) or "void"


def normal(c: str) -> str:
    """Return a declaration of C without comments, and with spaces where they mean something."""
    c = re.sub(r"/\*.*?\*/", "", c, flags=re.DOTALL)
    c = re.sub(r"\s+", " ", c)
    c = re.sub(r" ?\*+ ?", lambda stars: stars[0].replace(" ", "") + " ", c)
    return re.sub(r" ?([(),;{}]) ?", r"\1", c).replace("* (", "*(").replace("(* ", "(*")


def functions_of_rust() -> set[str]:
    source = (CRATE / "src" / "lib.rs").read_text()
    declared = re.findall(
        r"#\[unsafe\(no_mangle\)\]\s*pub (?:unsafe )?extern \"C\" fn (\w+)\((.*?)\)(?: -> (\w+))? \{", source, re.DOTALL
    )
    return {
        normal(f"{in_c(answer) if answer else 'void'} {name}({parameters_in_c(parameters)})")
        for name, parameters, answer in declared
    }


def functions_of_c() -> set[str]:
    text = HEADER.read_text().split('extern "C" {', 1)[1]
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)
    found = re.findall(r"^(\w[\w *]*?\bsjq_\w+\([^;]*\));", text, re.MULTILINE)
    return {normal(one) for one in found}


def structs_of_rust() -> dict[str, list[str]]:
    source = re.sub(r"///[^\n]*", "", (CRATE / "src" / "types.rs").read_text())
    found = re.findall(r"pub struct (\w+) \{(.*?)\n\}", source, re.DOTALL)
    fields = {name: re.findall(r"pub (\w+):\s+(.*?),\s*(?=pub |$)", body, re.DOTALL) for name, body in found}
    return {name: [normal(f"{in_c(kind)} {field}") for field, kind in listed] for name, listed in fields.items()}


def structs_of_c() -> dict[str, list[str]]:
    text = re.sub(r"/\*.*?\*/", "", HEADER.read_text(), flags=re.DOTALL)
    found: dict[str, list[str]] = {}
    for name, body in re.findall(r"typedef struct (\w+) \{(.*?)\} \1;", text, re.DOTALL):
        found[name] = []
        for line in filter(None, (line.strip() for line in body.split(";"))):
            if function := re.fullmatch(r"(.*?)\(\*(\w+)\)\((.*)\)", line, re.DOTALL):
                found[name].append(normal(f"{function[1].strip()}(*)({function[3]}) {function[2]}"))
            elif array := re.fullmatch(r"(\w+) (\w+)\[(\d+)\]", line):
                found[name].append(normal(f"{array[1]}[{array[3]}] {array[2]}"))
            else:
                found[name].append(normal(line))
    return found


def test_the_header_declares_the_functions_that_the_library_has() -> None:
    assert len(functions_of_rust()) == 10
    assert functions_of_c() == functions_of_rust()


def test_the_header_has_the_structs_and_numbers_of_the_library() -> None:
    assert structs_of_c() == structs_of_rust()
    source = (CRATE / "src" / "types.rs").read_text()
    numbers = dict(re.findall(r"pub const (SJQ_\w+): \w+ = (-?\d+);", source))
    assert dict(re.findall(r"#define (SJQ_\w+) (-?\d+)", HEADER.read_text())) == numbers


@pytest.fixture(scope="module")
def replay(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Compile the library and the example, with sanitisers where the compiler has them."""
    compiler, cargo = shutil.which("cc"), shutil.which("cargo")
    if compiler is None or cargo is None:
        pytest.skip("no C compiler or no cargo: the C interface is not tried")
    done = subprocess.run(
        [cargo, "build", "--quiet", "--offline", "-p", "sojourn-queue-c"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    program = tmp_path_factory.mktemp("c") / "replay"
    command = [compiler, "-std=c11", "-Wall", "-Wextra", "-Werror", "-O1", "-g", f"-I{HEADER.parent}"]
    command += ["-o", str(program), str(PROGRAM), str(target / "debug" / "libsojourn_queue.a")]
    libraries = ["-lpthread", "-ldl", "-lm"]
    sanitisers = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
    if subprocess.run([*command, *sanitisers, *libraries], capture_output=True, check=False).returncode:
        subprocess.run([*command, *libraries], check=True)
    return program


def replayed(program: Path, text: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run([program], input=text, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("trace", sorted(FOLDER.glob("*.sjt.xz")), ids=lambda path: path.name[:-7])
def test_a_program_in_c_replays_each_golden_trace(replay: Path, trace: Path) -> None:
    done = replayed(replay, read_golden(trace))
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("the same over ")


def test_the_program_names_the_line_of_a_fault(replay: Path) -> None:
    lines = read_golden(FOLDER / "codel.sjt.xz").split("\n")
    place = next(n for n, line in enumerate(lines) if line.endswith(" target"))
    lines[place] = lines[place].replace("target", "early")
    done = replayed(replay, "\n".join(lines))
    assert done.returncode == 1
    assert done.stderr.startswith(f'line {place + 1}: the trace says "< d ')
    done = replayed(replay, "sojourn-trace 1\n= manager codle\n> o 1\n")
    assert "did you mean codel?" in done.stderr
