//! The first process inside: it shows its namespace, starts what runs there, and ends with the command.

use super::error::Refused;
use super::mail::Mail;
use super::namespace::{Failed, map_user, named, number};
use super::system;
use nix::errno::Errno;
use nix::mount::{MntFlags, MsFlags, mount, umount2};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sched::{CloneFlags, setns, unshare};
use nix::sys::prctl;
use nix::sys::signal::{SaFlags, SigAction, SigHandler, SigSet, Signal, kill};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use nix::sys::time::TimeSpec;
use nix::sys::timerfd::{ClockId, Expiration, TimerFd, TimerFlags, TimerSetTimeFlags};
use nix::sys::wait::{Id, WaitPidFlag, WaitStatus, waitid, waitpid};
use nix::unistd::{Gid, Pid, Uid, dup2_stdin, dup2_stdout, execvpe, getppid, pause, setgid, setgroups, setuid, write};
use std::ffi::CString;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::fd::{AsFd, OwnedFd, RawFd};

/// Commands to run inside.
#[derive(Clone, Debug)]
pub struct Commands {
    /// The command with its arguments.
    pub command: Vec<CString>,
    /// Commands of the far end, for the shell.
    pub far: Vec<CString>,
    /// The environment of all of them, `NAME=VALUE`.
    pub environment: Vec<CString>,
    /// True if the output of the command goes to stderr.
    pub output_to_stderr: bool,
    /// Content of the command's /etc/resolv.conf; `None` leaves the host's.
    pub resolver: Option<String>,
}

/// Arguments of the first process.
pub(super) struct Inside<'a> {
    pub mail: Mail,
    /// Gets a byte when the command has ended, and is open as long as this process lives. Its other end tells the program.
    pub alive: OwnedFd,
    /// Network of the far end.
    pub far: OwnedFd,
    /// User and group of the commands.
    pub user: (u32, u32),
    /// True if the namespaces belong to a user namespace.
    pub is_mapped: bool,
    pub commands: &'a Commands,
}

/// How long a command that was asked to end may take, in ms. chosen: what a server needs to write its last lines.
const PATIENCE_MS: u16 = 2000;

/// Longest wait until the far end's commands listen, in ms. chosen: an interpreter's start.
const FAR_START_MS: u16 = 2000;

/// Time between the end of a process and its reaping, in ms. The last thread of a process reports its end first and drops its
/// entries of /proc then. In a guest whose clock stands, a parent that is woken between both and reaps waits for these entries
/// without letting the thread go on; once the guest has slept, they are gone. chosen: as process 1 of the guest (`guest.py`).
pub(super) const REAPED_AFTER_MS: u8 = 20;

/// Returns user and group of the commands: the caller's; under `sudo`, those of the caller of `sudo`.
pub(super) fn user_of_command(caller: (u32, u32)) -> (u32, u32) {
    let number = |name: &str| std::env::var(name).ok()?.parse::<u32>().ok();
    match (caller.0, number("SUDO_UID"), number("SUDO_GID")) {
        (0, Some(user), Some(group)) => (user, group),
        _ => caller,
    }
}

/// The life of the first process.
pub(super) fn live(inside: &Inside<'_>) -> i32 {
    match run(inside) {
        Ok(status) => {
            let _ = inside.mail.send(&format!("ended {status}"), &[]);
            let _ = write(&inside.alive, b".");
            pause(); // until the holder's end ends all that runs here
            0
        }
        Err(failed) => {
            tell(&inside.mail, failed);
            1
        }
    }
}

fn run(inside: &Inside<'_>) -> Result<i32, Failed> {
    // In a process namespace of its own, a parent outside has no number.
    dies_with(getppid())?;
    show_namespace(inside.commands.resolver.as_deref());
    let mut signals = SigSet::empty();
    signals.add(Signal::SIGCHLD);
    signals.thread_block().map_err(number("signals"))?;
    let children =
        SignalFd::with_flags(&signals, SfdFlags::SFD_CLOEXEC | SfdFlags::SFD_NONBLOCK).map_err(number("signals"))?;
    let before = listening(inside)?;
    for command in &inside.commands.far {
        let shell = [c"/bin/sh".into(), c"-c".into(), command.clone()];
        start(inside, &shell, true)?;
    }
    let wanted = before + inside.commands.far.len();
    for _ in 0..FAR_START_MS / 10 {
        if inside.commands.far.is_empty() || listening(inside)? >= wanted {
            break;
        }
        let _ = poll(&mut [], PollTimeout::from(10_u16));
    }
    inside.mail.send("ready", &[]).map_err(named("process"))?;
    match inside.mail.receive() {
        Ok(Some(letter)) if letter.text == "go" => {}
        _ => return Ok(0),
    }
    let command = start(inside, &inside.commands.command, false)?;
    inside.mail.send("running", &[]).map_err(named("process"))?;
    wait_for(command, inside, &children)
}

/// Waits until the command has ended, and returns its status; the command stays unreaped. Reaps the others some time after they end.
fn wait_for(command: Pid, inside: &Inside<'_>, children: &SignalFd) -> Result<i32, Failed> {
    let later = TimerFd::new(ClockId::CLOCK_MONOTONIC, TimerFlags::TFD_CLOEXEC | TimerFlags::TFD_NONBLOCK);
    let later = later.map_err(number("process"))?;
    let in_a_while = Expiration::OneShot(TimeSpec::new(0, i64::from(REAPED_AFTER_MS) * 1_000_000));
    let (mut is_ending, mut is_set) = (false, false);
    loop {
        let mut polled = [
            PollFd::new(later.as_fd(), PollFlags::POLLIN),
            PollFd::new(children.as_fd(), PollFlags::POLLIN),
            PollFd::new(inside.mail.as_fd(), PollFlags::POLLIN),
        ];
        let (heard, patience) = if is_ending { (2, PollTimeout::from(PATIENCE_MS)) } else { (3, PollTimeout::NONE) };
        match poll(&mut polled[..heard], patience) {
            Ok(0) => return Ok(128 + Signal::SIGKILL as i32), // the others are ended with this process
            Ok(_) | Err(Errno::EINTR) => {}
            Err(error) => return Err(number("process")(error)),
        }
        let [is_later, has_ended, is_asked] = polled.map(|one| one.any() == Some(true));
        if has_ended {
            while let Ok(Some(_)) = children.read_signal() {}
            if !is_set {
                later.set(in_a_while, TimerSetTimeFlags::empty()).map_err(number("process"))?;
                is_set = true;
            }
        }
        if let Some((_, status)) = status_of(Id::Pid(command)) {
            return Ok(status);
        }
        if is_later {
            let _ = later.wait();
            is_set = false;
            while let Some((process, _)) = status_of(Id::All).filter(|(process, _)| *process != command) {
                let _ = waitpid(process, None);
            }
        }
        if is_asked {
            let _ = inside.mail.receive();
            is_ending = true;
            let _ = kill(command, Signal::SIGTERM);
            let _ = kill(command, Signal::SIGHUP); // what an interactive shell ends for
        }
    }
}

/// Returns the first of these children that has ended, unreaped, with its status as a shell encodes it.
fn status_of(children: Id<'_>) -> Option<(Pid, i32)> {
    match waitid(children, WaitPidFlag::WEXITED | WaitPidFlag::WNOHANG | WaitPidFlag::WNOWAIT) {
        Ok(WaitStatus::Exited(process, status)) => Some((process, status)),
        Ok(WaitStatus::Signaled(process, signal, _)) => Some((process, 128 + signal as i32)),
        _ => None,
    }
}

/// Returns the number of listening sockets of the far end.
fn listening(inside: &Inside<'_>) -> Result<usize, Failed> {
    if inside.commands.far.is_empty() {
        return Ok(0);
    }
    let here = File::open("/proc/thread-self/ns/net").map_err(named("namespaces"))?;
    setns(&inside.far, CloneFlags::CLONE_NEWNET).map_err(number("namespaces"))?;
    let count = ["tcp", "tcp6", "udp", "udp6"].iter().map(|table| {
        let text = fs::read_to_string(format!("/proc/thread-self/net/{table}"));
        // Column 4 is the state: 0A listens, 07 is a socket of UDP without a peer.
        let waits = |line: &&str| {
            let state = line.split_whitespace().nth(3);
            state == Some("0A") || state == Some("07")
        };
        text.map_or(0, |text| text.lines().filter(waits).count())
    });
    let count = count.sum();
    setns(&here, CloneFlags::CLONE_NEWNET).map_err(number("namespaces"))?;
    Ok(count)
}

/// Mounts the file systems that show the namespace: processes, devices, the resolver. If the system forbids one, it
/// stays as it is.
fn show_namespace(resolver: Option<&str>) {
    let none: Option<&str> = None;
    let alone = MsFlags::MS_REC | MsFlags::MS_PRIVATE;
    if mount(none, "/", none, alone, none).is_err() {
        return; // nothing may be mounted that would be seen outside
    }
    let plain = MsFlags::MS_NOSUID | MsFlags::MS_NODEV | MsFlags::MS_NOEXEC;
    let _ = mount(Some("proc"), "/proc", Some("proc"), plain, none);
    if let Some(resolver) = resolver
        && mount(Some("tmpfs"), "/sys", Some("tmpfs"), plain, Some("size=64k")).is_ok()
    {
        // A file on a file system without a name: with the mounts it goes.
        if fs::write("/sys/resolv.conf", resolver).is_ok() {
            let bind = MsFlags::MS_BIND;
            let _ = mount(Some("/sys/resolv.conf"), "/etc/resolv.conf", none, bind, none);
        }
        let _ = umount2("/sys", MntFlags::MNT_DETACH);
    }
    let _ = mount(Some("sysfs"), "/sys", Some("sysfs"), plain, none);
}

/// Starts a command as the user, in the network inside or that of the far end.
fn start(inside: &Inside<'_>, command: &[CString], is_far: bool) -> Result<Pid, Failed> {
    let (mail, there) = Mail::pair().map_err(named("process"))?;
    let here = nix::unistd::getpid();
    let child = system::in_child(|| {
        let failed = become_command(inside, command, is_far, here);
        tell(&there, failed);
        127
    });
    let child = Pid::from_raw(child.map_err(named("process"))?);
    drop(there);
    // The other end closes when the command takes the process over.
    match mail.receive() {
        Ok(None) => Ok(child),
        Ok(Some(letter)) => {
            let mut words = letter.text.splitn(3, '\t').skip(1);
            let number = words.next().and_then(|word| word.parse().ok());
            let step = if words.next() == Some("command") { "command" } else { "inside" };
            Err((step, number.unwrap_or(libc::EIO)))
        }
        Err(error) => Err(named("process")(error)),
    }
}

/// Turns this process into the command; returns only what failed.
fn become_command(inside: &Inside<'_>, command: &[CString], is_far: bool, first: Pid) -> Failed {
    let prepared = || -> Result<(), Failed> {
        if is_far {
            setns(&inside.far, CloneFlags::CLONE_NEWNET).map_err(number("namespaces"))?;
            let nothing = OpenOptions::new().read(true).write(true).open("/dev/null");
            let nothing = nothing.map_err(named("process"))?;
            dup2_stdin(&nothing).map_err(number("process"))?;
            dup2_stdout(&nothing).map_err(number("process"))?;
        } else if inside.commands.output_to_stderr {
            dup2_stdout(io::stderr()).map_err(number("process"))?;
        }
        take_user(inside.user, inside.is_mapped)?;
        dies_with(first)
    };
    if let Err(failed) = prepared() {
        return failed;
    }
    replace(command, &inside.commands.environment)
}

/// Replaces this process by a command, with default signal handlers; returns only if that fails.
fn replace(command: &[CString], environment: &[CString]) -> Failed {
    let default = SigAction::new(SigHandler::SigDfl, SaFlags::empty(), SigSet::empty());
    for signal in Signal::iterator() {
        system::set_handler(signal, &default);
    }
    let _ = SigSet::empty().thread_set_mask();
    let Err(error) = execvpe(&command[0], command, environment);
    ("command", error as i32)
}

/// Becomes the user again, without any right in the namespaces: by a user namespace inside the first, or as root does it. Root
/// itself stays root, without capabilities.
pub(super) fn take_user((user, group): (u32, u32), is_mapped: bool) -> Result<(), Failed> {
    if is_mapped {
        unshare(CloneFlags::CLONE_NEWUSER).map_err(number("inside"))?;
        return map_user((user, 0), (group, 0)).map_err(named("inside"));
    }
    if user == 0 {
        return system::drop_capabilities().map_err(named("user"));
    }
    let group = Gid::from_raw(group);
    setgroups(&[group]).map_err(number("user"))?;
    setgid(group).map_err(number("user"))?;
    setuid(Uid::from_raw(user)).map_err(number("user"))
}

/// Runs a command in the namespaces of a running emulation, and returns its exit status as a shell encodes it.
///
/// `namespaces` are users, mounts, network inside, network of the far end, processes; they are taken over.
///
/// # Errors If the system refuses, with its reason.
pub fn join(namespaces: &[RawFd], command: &[CString], environment: &[CString], is_far: bool) -> Result<i32, Refused> {
    let failed = |error: io::Error| Refused::failure(format!("cannot join: {error}"), "");
    let namespaces = system::adopt(namespaces);
    let [users, mounts, near, far, processes] = &namespaces[..] else {
        return Err(Refused::failure("cannot join: this is no emulation", ""));
    };
    let caller = (nix::unistd::getuid().as_raw(), nix::unistd::getgid().as_raw());
    let network = if is_far { far } else { near };
    let (mail, there) = Mail::pair().map_err(failed)?;
    let enter = || -> Result<(), Failed> {
        if caller.0 != 0 {
            setns(users, CloneFlags::CLONE_NEWUSER).map_err(number("namespaces"))?;
        }
        setns(mounts, CloneFlags::CLONE_NEWNS).map_err(number("namespaces"))?;
        setns(network, CloneFlags::CLONE_NEWNET).map_err(number("namespaces"))?;
        setns(processes, CloneFlags::CLONE_NEWPID).map_err(number("namespaces"))
    };
    let here = nix::unistd::getpid();
    let child = system::in_child(|| {
        let work = || -> Result<i32, Failed> {
            dies_with(here)?;
            enter()?;
            dies_with(here)?;
            let run = || {
                let taken = take_user(user_of_command(caller), caller.0 != 0);
                let failed = match taken.and_then(|()| prctl::set_pdeathsig(Signal::SIGKILL).map_err(number("process")))
                {
                    Ok(()) => replace(command, environment),
                    Err(failed) => failed,
                };
                tell(&there, failed);
                127
            };
            let process = system::in_child(run).map_err(named("process"))?;
            match waitpid(Pid::from_raw(process), None) {
                Ok(WaitStatus::Exited(_, status)) => Ok(status),
                Ok(WaitStatus::Signaled(_, signal, _)) => Ok(128 + signal as i32),
                _ => Err(("process", libc::ECHILD)),
            }
        };
        work().unwrap_or_else(|failed| {
            tell(&there, failed);
            127
        })
    });
    let child = Pid::from_raw(child.map_err(failed)?);
    drop(there);
    // The other end closes with the last process that is no command.
    if let Ok(Some(letter)) = mail.receive() {
        let _ = waitpid(child, None);
        let mut words = letter.text.splitn(3, '\t').skip(1);
        let number = words.next().and_then(|word| word.parse().ok());
        return Err(Refused::step(words.next().unwrap_or(""), number.unwrap_or(libc::EIO)));
    }
    match waitpid(child, None) {
        Ok(WaitStatus::Exited(_, status)) => Ok(status),
        _ => Err(Refused::failure("the command was lost with the emulation", "")),
    }
}

/// Tells the program which step failed.
pub(super) fn tell(mail: &Mail, (step, number): Failed) {
    let _ = mail.send(&format!("failed\t{number}\t{step}"), &[]);
}

/// This process ends when its parent does.
pub(super) fn dies_with(parent: Pid) -> Result<(), Failed> {
    prctl::set_pdeathsig(Signal::SIGKILL).map_err(number("process"))?;
    if getppid() == parent {
        Ok(())
    } else {
        Err(("process", libc::ESRCH)) // it died before we asked
    }
}
