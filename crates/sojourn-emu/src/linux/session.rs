//! One emulation from its beginning to its end: processes, threads, and what is seen of it meanwhile.

use super::between::{Between, Interfaces};
use super::error::{Refused, in_words};
use super::far_port::FarPort;
use super::holder::Holder;
use super::inside::Commands;
use super::monotonic::Monotonic;
use super::namespace::{FAR_DEVICE, INSIDE_DEVICE, Setup};
use super::packet_port::PacketPort;
use super::priority::{self, Priority};
use super::relay::Relay;
use super::tun::Superpackets;
use super::tun_port::TunPort;
use crate::capture::Captures;
use crate::plan::{Plan, Refusal};
use crate::port::{Ends, Port};
use crate::pump::{Failure, Finished, Pump};
use crate::snapshot::Snapshot;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::SigSet;
use nix::sys::socket::{AddressFamily, SockFlag, SockType, setsockopt, socketpair, sockopt};
use nix::time::{ClockId, clock_gettime};
use nix::unistd::pipe2;
use sojourn_base::{PerDirection, Span};
use std::fs::File;
use std::io::{self, BufWriter};
use std::os::fd::{AsFd, OwnedFd};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// How an emulation is run.
#[derive(Clone, Debug)]
pub struct Request {
    /// The emulation's plan.
    pub plan: Plan,
    /// The processes or interfaces at its ends.
    pub around: Around,
    /// Duration; `None` if it ends on request.
    pub lasts: Option<Span>,
    /// True if the loop requests real-time priority.
    pub real_time: bool,
    /// True if the loop polls the clock before each packet.
    pub precise: bool,
    /// True if the clock stands while the loop computes, as that of a guest in virtual time does.
    pub is_virtual: bool,
    /// Directory that is there, for captures.
    pub captures: Option<PathBuf>,
}

/// Ends of an emulation.
#[derive(Clone, Debug)]
pub enum Around {
    /// A command in a namespace of its own.
    Command {
        /// Configuration of both ends.
        setup: Setup,
        /// Commands inside and beside the far end.
        commands: Commands,
    },
    /// Two interfaces of the host.
    Interfaces(Interfaces),
}

/// Resources held during an emulation.
#[derive(Debug)]
enum Held {
    Command(Arc<Holder>),
    Interfaces(#[expect(dead_code, reason = "it is there to be dropped")] Between),
}

impl Held {
    /// The process that runs the command, if there is one.
    fn holder(&self) -> Option<&Holder> {
        match self {
            Self::Command(holder) => Some(holder),
            Self::Interfaces(_) => None,
        }
    }
}

/// How long the loop looks at the clock before a packet is due, if it shall be precise (specification of the emulator,
/// section 8).
const SPIN: Span = Span::from_us(60);

/// Bytes of datagrams that wait between loop and relay. chosen: 0.2 s of 100 Mb/s.
const RELAY_BUFFER: usize = 4 << 20;

/// Why an emulation has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// Its command has.
    Command,
    /// Its time was over.
    Time,
    /// On request.
    Asked,
}

impl Ended {
    /// The word for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Command => "command",
            Self::Time => "time",
            Self::Asked => "asked",
        }
    }
}

/// Result of an emulation.
#[derive(Debug)]
pub struct Outcome {
    /// Result of the loop.
    pub finished: Finished,
    /// Why it ended.
    pub ended: Ended,
    /// Status of the command, as a shell has it; none if it was lost, or there is none.
    pub status: Option<i32>,
    /// Error that ended the loop, if one did; the result reaches up to it.
    pub failed: Option<String>,
}

/// Result of the loop, and its error.
type Loop = JoinHandle<(Finished, Option<String>)>;

/// An emulation that runs.
#[derive(Debug)]
pub struct Session {
    held: Held,
    /// Number of the loop's thread.
    pub loop_thread: i32,
    /// Which superpackets both devices hand over.
    pub superpackets: (Superpackets, Superpackets),
    snapshot: Arc<Mutex<Snapshot>>,
    /// Closed, it ends the loop and the relay.
    stop: Option<OwnedFd>,
    is_asked: bool,
    looped: Option<Loop>,
    relayed: Option<JoinHandle<()>>,
}

impl Session {
    /// Takes interfaces or makes namespaces, and starts the loop; a command waits for [`Self::go`].
    ///
    /// # Errors If the system refuses, or the plan cannot be emulated.
    pub fn start(request: &Request) -> Result<Self, Refused> {
        let wrong = |why: Refusal| Refused::usage(why.message, why.hint);
        request.plan.check().map_err(wrong)?;
        let pipe = || pipe2(nix::fcntl::OFlag::O_CLOEXEC).map_err(|error| cannot_start(&error.into()));
        let snapshot = Arc::new(Mutex::new(Snapshot::default()));
        let shown = Arc::clone(&snapshot);
        let (started, stop) = match &request.around {
            Around::Command { setup, commands } => {
                let holder = Arc::new(Holder::start(setup, commands)?);
                // Later than the holder: its processes would keep the end that stops the loop when it is let go.
                let (watched, stop) = pipe()?;
                (start_around(request, holder, watched, shown), stop)
            }
            Around::Interfaces(asked) => {
                let (between, ends) = Between::take(asked, request.plan.mtu)?;
                let (watched, stop) = pipe()?;
                (start_between(request, between, ends, watched, shown), stop)
            }
        };
        let Started { held, superpackets, looped: (loop_thread, looped), relayed } =
            started.map_err(|error| cannot_start(&error))?;
        Ok(Self {
            held,
            loop_thread,
            superpackets,
            snapshot,
            stop: Some(stop),
            is_asked: false,
            looped: Some(looped),
            relayed,
        })
    }

    /// Starts the command.
    ///
    /// # Errors
    /// If there is none of this name.
    pub fn go(&self) -> Result<(), Refused> {
        self.held.holder().map_or(Ok(()), Holder::go)
    }

    /// Waits for the end, and no longer than this; whether it is over.
    pub fn wait(&self, milliseconds: u16) -> bool {
        let is_over = || self.looped.as_ref().is_none_or(JoinHandle::is_finished);
        if !is_over() {
            let ended = self.held.holder().map(Holder::ended);
            let mut polled = ended.map(|ended| PollFd::new(ended, PollFlags::POLLIN));
            let _ = poll(polled.as_mut_slice(), PollTimeout::from(milliseconds));
            if polled.is_some_and(|one| one.any() == Some(true)) {
                // chosen: what the loop needs for its last pass and its records, before we look again.
                let _ = poll(&mut [], PollTimeout::from(5_u16));
            }
        }
        is_over()
    }

    /// Returns the latest state; it is renewed twenty times a second.
    pub fn snapshot(&self) -> Snapshot {
        *self.snapshot.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How the kernel schedules the loop now.
    pub fn priority(&self) -> Priority {
        priority::of_thread(self.loop_thread)
    }

    /// Namespaces for a process that joins.
    pub fn namespaces(&self) -> &[OwnedFd] {
        self.held.holder().map_or(&[], |holder| &holder.namespaces)
    }

    /// Ends it.
    pub fn end(&mut self) {
        self.is_asked = true;
        self.stop = None;
    }

    /// Waits until everything has ended, and returns the result.
    pub fn finish(mut self) -> Outcome {
        let looped = self.looped.take().expect("a session is finished once");
        let (finished, failed) = match looped.join() {
            Ok(left) => left,
            Err(panic) => std::panic::resume_unwind(panic),
        };
        self.stop = None;
        let (mut is_over, mut status) = (false, None);
        if let Some(holder) = self.held.holder() {
            let mut polled = [PollFd::new(holder.ended(), PollFlags::POLLIN)];
            is_over = poll(&mut polled, PollTimeout::ZERO) == Ok(1);
            if !is_over {
                holder.end();
            }
            status = holder.status();
        }
        if let Some(relayed) = self.relayed.take() {
            let _ = relayed.join();
        }
        let ended = match (self.is_asked, is_over) {
            (true, _) => Ended::Asked,
            (false, true) => Ended::Command,
            (false, false) => Ended::Time,
        };
        Outcome { finished, ended, status, failed }
    }
}

fn relay_sockets() -> io::Result<(OwnedFd, OwnedFd)> {
    let flags = SockFlag::SOCK_CLOEXEC | SockFlag::SOCK_NONBLOCK;
    let both = socketpair(AddressFamily::Unix, SockType::SeqPacket, None, flags)?;
    for socket in [&both.0, &both.1] {
        setsockopt(socket, sockopt::SndBuf, &RELAY_BUFFER)?;
    }
    Ok(both)
}

fn start_relay(holder: &Arc<Holder>, model: OwnedFd, plan: &Plan, watched: Arc<OwnedFd>) -> io::Result<JoinHandle<()>> {
    let holder = Arc::clone(holder);
    let device = holder.devices.far.try_clone()?;
    let (far, mtu) = (plan.far.clone(), usize::try_from(plan.mtu.0).unwrap_or(1500));
    thread::Builder::new().name("sojourn-relay".to_owned()).spawn(move || {
        let _ = SigSet::all().thread_block(); // Python's thread has them
        let _ = Relay::new(&holder, model, device, far, mtu).run(watched.as_fd());
    })
}

/// Parts of a started session.
struct Started {
    held: Held,
    superpackets: (Superpackets, Superpackets),
    looped: (i32, Loop),
    relayed: Option<JoinHandle<()>>,
}

fn cannot_start(error: &io::Error) -> Refused {
    let why = in_words(error);
    Refused::failure(format!("the emulation cannot start: {why}"), "")
}

/// Starts the loop around a command, and the relay behind its far end if there is an Internet.
fn start_around(
    request: &Request,
    holder: Arc<Holder>,
    watched: OwnedFd,
    snapshot: Arc<Mutex<Snapshot>>,
) -> io::Result<Started> {
    let watched = Arc::new(watched);
    let has_internet = matches!(&request.around, Around::Command { setup, .. } if setup.internet);
    let (mut relay, mut relayed) = (None, None);
    if has_internet {
        let (ours, theirs) = relay_sockets()?;
        relay = Some(ours);
        let watched = Arc::clone(&watched);
        relayed = Some(start_relay(&holder, theirs, &request.plan, watched)?);
    }
    let devices = &holder.devices;
    let inside = TunPort::new(devices.inside.try_clone()?, INSIDE_DEVICE, devices.inside_counters.try_clone()?);
    let far = TunPort::new(devices.far.try_clone()?, FAR_DEVICE, devices.far_counters.try_clone()?);
    let mut downstream = vec![devices.far.try_clone()?];
    downstream.extend(relay.as_ref().map(OwnedFd::try_clone).transpose()?);
    let ends = Ends {
        inside: FarPort::new(inside, None, Vec::new()),
        far: FarPort::new(far, relay, request.plan.far.clone()),
    };
    let waits = Waits {
        sources: PerDirection { upstream: vec![devices.inside.try_clone()?], downstream },
        enders: vec![holder.ended().try_clone_to_owned()?, watched.try_clone()?],
    };
    Ok(Started {
        looped: start_loop(request, ends, waits, snapshot)?,
        superpackets: devices.superpackets,
        held: Held::Command(holder),
        relayed,
    })
}

/// Starts the loop between two interfaces.
fn start_between(
    request: &Request,
    between: Between,
    ends: Ends<PacketPort>,
    watched: OwnedFd,
    snapshot: Arc<Mutex<Snapshot>>,
) -> io::Result<Started> {
    let waits = Waits {
        sources: PerDirection {
            upstream: vec![ends.inside.as_fd().try_clone_to_owned()?],
            downstream: vec![ends.far.as_fd().try_clone_to_owned()?],
        },
        enders: vec![watched],
    };
    Ok(Started {
        looped: start_loop(request, ends, waits, snapshot)?,
        superpackets: (Superpackets::TcpAndUdp, Superpackets::TcpAndUdp),
        held: Held::Interfaces(between),
        relayed: None,
    })
}

/// Descriptors that the loop waits for.
struct Waits {
    /// Sources of packets of each direction.
    sources: PerDirection<Vec<OwnedFd>>,
    /// Readable or closed once the emulation shall end.
    enders: Vec<OwnedFd>,
}

fn start_loop<P: Port + Send + 'static>(
    request: &Request,
    ends: Ends<P>,
    waits: Waits,
    snapshot: Arc<Mutex<Snapshot>>,
) -> io::Result<(i32, Loop)> {
    let mut pump = Pump::new(&request.plan, ends).map_err(io::Error::other)?;
    if request.is_virtual {
        pump.write_singly();
    }
    if let Some(directory) = &request.captures {
        pump.capture(captures(directory, request.plan.link_header)?);
    }
    let (real_time, precise, lasts) = (request.real_time, request.precise, request.lasts);
    let (told, thread) = std::sync::mpsc::sync_channel(1);
    let looped = thread::Builder::new().name("sojourn-loop".to_owned()).spawn(move || {
        let _ = SigSet::all().thread_block();
        let priority = priority::raise(real_time);
        let _ = told.send(nix::unistd::gettid().as_raw());
        let sources = PerDirection {
            upstream: waits.sources.upstream.iter().map(AsFd::as_fd).collect(),
            downstream: waits.sources.downstream.iter().map(AsFd::as_fd).collect(),
        };
        let enders: Vec<_> = waits.enders.iter().map(AsFd::as_fd).collect();
        let spins = precise && priority == Priority::RealTime;
        let spin = if spins { SPIN } else { Span::ZERO };
        let mut clock = Monotonic::new(&sources, &enders, lasts, spin);
        let mut show = |seen: &Snapshot| {
            // The loop never waits for this lock: a reader that holds it keeps the previous state.
            if let Ok(mut place) = snapshot.try_lock() {
                *place = *seen;
            }
        };
        let failed = run_guarded(&mut pump, &mut clock, &mut show);
        priority::lower();
        (pump.finish(), failed)
    })?;
    Ok((thread.recv().unwrap_or(0), looped))
}

/// Runs the loop, and returns its error: the records so far are kept, even after a panic.
fn run_guarded<P: Port>(
    pump: &mut Pump<P>,
    clock: &mut Monotonic<'_>,
    show: &mut dyn FnMut(&Snapshot),
) -> Option<String> {
    let run = AssertUnwindSafe(|| pump.run(clock, show));
    match catch_unwind(run) {
        Ok(result) => result.err().map(|Failure { doing, source }| format!("cannot {doing}: {}", in_words(&source))),
        Err(panic) => {
            let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
            let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
            let text = text.unwrap_or_default();
            Some(format!("a bug in sojourn: {text}"))
        }
    }
}

/// Bytes that wait for a capture's file. chosen: 10,000 packets between two writes.
const CAPTURE_BUFFER: usize = 1 << 20;

/// Files for what the model sees, in a directory.
fn captures(directory: &Path, link_header: usize) -> io::Result<Captures> {
    Captures::new(since_1970(), link_header, |name| {
        let file = File::create_new(directory.join(name))?;
        Ok(Box::new(BufWriter::with_capacity(CAPTURE_BUFFER, file)))
    })
}

/// Returns the time of day, for captures.
fn since_1970() -> Duration {
    let now = clock_gettime(ClockId::CLOCK_REALTIME).expect("every Linux has this clock");
    Duration::from(now)
}
