//! The process that holds the namespaces, and its first child inside them.
//!
//! The program itself stays where it was started, with no privilege. The **holder** enters new namespaces, makes both
//! devices and sends their descriptors out; then it makes the first process of a new process namespace, and listens for
//! the relay. Whatever ends the program ends the holder (`PR_SET_PDEATHSIG`), that ends the first process, and that
//! every process inside. Nothing has a name outside, so nothing is left to be put away.

use super::error::Refused;
use super::inside::{self, Commands, Inside, dies_with, tell};
use super::mail::{Letter, Mail};
use super::namespace::{self, Failed, Setup, named, number};
use super::system;
use super::tun::Superpackets;
use nix::fcntl::{OFlag, openat};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sched::{CloneFlags, setns, unshare};
use nix::sys::signal::{SaFlags, SigAction, SigHandler, SigSet, Signal};
use nix::sys::socket::{
    AddressFamily, Backlog, SockFlag, SockType, SockaddrStorage, bind, listen, setsockopt, socket, sockopt,
};
use nix::sys::stat::Mode;
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::{Pid, getgid, getuid, pipe2};
use std::fs::File;
use std::io;
use std::net::SocketAddr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

/// The namespaces while they are held; they end with it.
#[derive(Debug)]
pub struct Holder {
    mail: Mail,
    inside: Mail,
    /// Readable when the command has ended, or closed by the end of the first process inside.
    alive: OwnedFd,
    /// Number of the holder's process.
    pub process: i32,
    /// Devices and what counts their losses.
    pub devices: Devices,
    /// Namespaces for a process that joins: users, mounts, network inside, network of the far end, processes.
    pub namespaces: Vec<OwnedFd>,
}

/// Descriptors that the loop needs.
#[derive(Debug)]
pub struct Devices {
    /// The device of the inside.
    pub inside: OwnedFd,
    /// The device of the far end.
    pub far: OwnedFd,
    /// Which superpackets each hands over.
    pub superpackets: (Superpackets, Superpackets),
    /// `/proc/net/dev` of the inside's namespace.
    pub inside_counters: File,
    /// The same of the far end's.
    pub far_counters: File,
}

impl Holder {
    /// Makes the namespaces with their devices. The command waits for [`Self::go`].
    ///
    /// # Errors If the system refuses, with its reason.
    pub fn start(setup: &Setup, commands: &Commands) -> Result<Self, Refused> {
        let failed = |error: io::Error| Refused::failure(format!("no process for the emulation: {error}"), "");
        let (holder, there) = Mail::pair().map_err(failed)?;
        let (inside, inside_there) = Mail::pair().map_err(failed)?;
        let (alive, alive_there) = pipe2(OFlag::O_CLOEXEC).map_err(|error| failed(error.into()))?;
        let parent = nix::unistd::getpid();
        let process =
            system::in_child(|| hold(parent, &there, (inside_there, alive_there), setup, commands)).map_err(failed)?;
        drop(there);
        let letter = answer(&holder)?;
        let mut words = letter.text.split(' ').skip(1);
        let mut descriptors = letter.descriptors.into_iter();
        let mut next = || descriptors.next().expect("the holder sends eight");
        let devices = Devices {
            inside: next(),
            far: next(),
            superpackets: (Superpackets::of(words.next()), Superpackets::of(words.next())),
            inside_counters: next().into(),
            far_counters: next().into(),
        };
        let namespaces = descriptors.chain(answer(&holder)?.descriptors).collect();
        Ok(Self { mail: holder, inside, alive, process, devices, namespaces })
    }

    /// Starts the command; the far end's commands are running.
    ///
    /// # Errors
    /// If there is no such command, as a sentence.
    pub fn go(&self) -> Result<(), Refused> {
        answer(&self.inside)?; // the far end is there
        let gone = |error: io::Error| Refused::failure(format!("the command was lost: {error}"), "");
        self.inside.send("go", &[]).map_err(gone)?;
        answer(&self.inside).map(|_| ())
    }

    /// Returns a descriptor that becomes readable once the command, or the process that runs it, has ended.
    pub fn ended(&self) -> BorrowedFd<'_> {
        self.alive.as_fd()
    }

    /// The status with which the command ended, as a shell has it; none if it was lost.
    pub fn status(&self) -> Option<i32> {
        let letter = self.inside.receive().ok()??;
        letter.text.strip_prefix("ended ")?.parse().ok()
    }

    /// Asks the command to end; what does not is ended.
    pub fn end(&self) {
        let _ = self.inside.send("end", &[]);
    }

    /// A socket of the far end that listens at an address of the Internet's.
    ///
    /// # Errors Those of the system.
    pub fn listen(&self, address: SocketAddr) -> io::Result<OwnedFd> {
        self.mail.send(&format!("listen {address}"), &[])?;
        let gone = || io::Error::from(io::ErrorKind::BrokenPipe);
        let letter = self.mail.receive()?.ok_or_else(gone)?;
        let number = letter.text.parse().unwrap_or(libc::EIO);
        let refused = || io::Error::from_raw_os_error(number);
        letter.descriptors.into_iter().next().ok_or_else(refused)
    }
}

impl Drop for Holder {
    fn drop(&mut self) {
        let _ = poll(&mut [], PollTimeout::from(inside::REAPED_AFTER_MS)); // the kernel reaps what is left inside
        let process = Pid::from_raw(self.process);
        let _ = nix::sys::signal::kill(process, Signal::SIGKILL);
        let _ = waitpid(process, None);
    }
}

/// Waits for word that a step went well.
fn answer(mail: &Mail) -> Result<Letter, Refused> {
    let gone = || Refused::failure("the process that holds the namespaces has ended", "");
    let letter = mail.receive().ok().flatten().ok_or_else(gone)?;
    let mut words = letter.text.splitn(3, '\t');
    if words.next() == Some("failed") {
        let number = words.next().and_then(|word| word.parse().ok());
        let step = words.next().unwrap_or("namespaces");
        return Err(Refused::step(step, number.unwrap_or(libc::EIO)));
    }
    Ok(letter)
}

/// The holder's life.
fn hold(parent: Pid, mail: &Mail, (inside, alive): (Mail, OwnedFd), setup: &Setup, commands: &Commands) -> i32 {
    let caller = (getuid().as_raw(), getgid().as_raw());
    default_signals();
    match prepare(parent, caller, mail, setup) {
        Err(failed) => {
            tell(mail, failed);
            1
        }
        Ok(far) => {
            let user = inside::user_of_command(caller);
            let first = Inside { mail: inside, alive, far, user, is_mapped: caller.0 != 0, commands };
            // Opened before: the first process mounts its own /proc, in which the holder has no number.
            let own = match File::open("/proc/thread-self/ns") {
                Ok(own) => own,
                Err(error) => {
                    tell(&first.mail, named("namespace of processes")(error));
                    return 1;
                }
            };
            match system::in_child(|| inside::live(&first)) {
                Err(error) => {
                    tell(&first.mail, named("first process")(error));
                    1
                }
                Ok(child) => {
                    // There is such a namespace to be joined only with its first process.
                    let flags = OFlag::O_RDONLY | OFlag::O_CLOEXEC;
                    let processes = match openat(&own, "pid_for_children", flags, Mode::empty()) {
                        Ok(processes) => processes,
                        Err(error) => {
                            tell(mail, number("namespace of processes")(error));
                            return 1;
                        }
                    };
                    if mail.send("first", &[processes.as_fd()]).is_err() {
                        return 1;
                    }
                    let far = first.far;
                    drop((first.mail, first.alive));
                    serve(mail, Pid::from_raw(child), &far)
                }
            }
        }
    }
}

/// Interrupts are for the command and the program; Python's handlers are of no use here.
fn default_signals() {
    let ignore = SigAction::new(SigHandler::SigIgn, SaFlags::empty(), SigSet::empty());
    let default = SigAction::new(SigHandler::SigDfl, SaFlags::empty(), SigSet::empty());
    for signal in [Signal::SIGINT, Signal::SIGQUIT, Signal::SIGHUP, Signal::SIGTSTP] {
        system::set_handler(signal, &ignore);
    }
    for signal in [Signal::SIGTERM, Signal::SIGCHLD, Signal::SIGPIPE] {
        system::set_handler(signal, &default);
    }
}

/// Enters the namespaces, makes both ends, and sends out what the program needs. Returns the far end's network.
fn prepare(parent: Pid, caller: (u32, u32), mail: &Mail, setup: &Setup) -> Result<OwnedFd, Failed> {
    dies_with(parent)?;
    namespace::enter(caller.0, caller.1)?;
    dies_with(parent)?; // new rights have cleared it
    let opened = |path: &'static str| File::open(path).map_err(named("namespaces"));
    let far_counters = opened("/proc/thread-self/net/dev")?;
    let (far_device, far_superpackets) = namespace::make_far(setup)?;
    let far: OwnedFd = opened("/proc/thread-self/ns/net")?.into();
    unshare(CloneFlags::CLONE_NEWNET).map_err(number("namespaces"))?;
    let inside_counters = opened("/proc/thread-self/net/dev")?;
    let (inside_device, inside_superpackets) = namespace::make_inside(setup)?;
    let network = opened("/proc/thread-self/ns/net")?;
    let users = opened("/proc/thread-self/ns/user")?;
    let mounts = opened("/proc/thread-self/ns/mnt")?;
    // Last: every process that is made before counts as one of the new namespace, and with the first that ends no more
    // can be made.
    unshare(CloneFlags::CLONE_NEWPID).map_err(number("namespaces"))?;
    let text = format!("ready {} {}", inside_superpackets.as_str(), far_superpackets.as_str());
    let descriptors = [
        inside_device.as_fd(),
        far_device.as_fd(),
        inside_counters.as_fd(),
        far_counters.as_fd(),
        users.as_fd(),
        mounts.as_fd(),
        network.as_fd(),
        far.as_fd(),
    ];
    mail.send(&text, &descriptors).map_err(named("process"))?;
    Ok(far)
}

/// Listens for the relay until the first process ends or the program does.
fn serve(mail: &Mail, child: Pid, far: &OwnedFd) -> i32 {
    if setns(far, CloneFlags::CLONE_NEWNET).is_err() {
        return 1;
    }
    loop {
        let mut polled = [PollFd::new(mail.as_fd(), PollFlags::POLLIN)];
        // chosen: half a second, by which the end of the first process is noticed; the program notices at once.
        let _ = poll(&mut polled, PollTimeout::from(500_u16));
        let status = waitpid(child, Some(WaitPidFlag::WNOHANG));
        if !matches!(status, Ok(WaitStatus::StillAlive)) {
            return 0;
        }
        if polled[0].any() != Some(true) {
            continue;
        }
        let Ok(Some(letter)) = mail.receive() else {
            return 0;
        };
        let asked = letter.text.strip_prefix("listen ");
        let answered = match asked.and_then(|address| address.parse().ok()).map(listener) {
            Some(Ok(socket)) => mail.send("listening", &[socket.as_fd()]),
            Some(Err(error)) => mail.send(&(error as i32).to_string(), &[]),
            None => mail.send(&libc::EINVAL.to_string(), &[]),
        };
        if answered.is_err() {
            return 0;
        }
    }
}

/// Listens at an address that is no interface's, for connections that the route of the far end brings here.
fn listener(address: SocketAddr) -> nix::Result<OwnedFd> {
    let family = match address {
        SocketAddr::V4(_) => AddressFamily::Inet,
        SocketAddr::V6(_) => AddressFamily::Inet6,
    };
    let flags = SockFlag::SOCK_CLOEXEC | SockFlag::SOCK_NONBLOCK;
    let socket = socket(family, SockType::Stream, flags, None)?;
    match address {
        SocketAddr::V4(_) => setsockopt(&socket, sockopt::IpTransparent, &true)?,
        SocketAddr::V6(_) => system::accept_any_address6(&socket)?,
    }
    setsockopt(&socket, sockopt::ReuseAddr, &true)?;
    bind(std::os::fd::AsRawFd::as_raw_fd(&socket), &SockaddrStorage::from(address))?;
    listen(&socket, Backlog::MAXCONN)?;
    Ok(socket)
}
