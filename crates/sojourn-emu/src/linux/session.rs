//! One emulation from its beginning to its end: processes, threads, and what is seen of it meanwhile.

use super::error::Refused;
use super::far_port::FarPort;
use super::holder::Holder;
use super::inside::Commands;
use super::monotonic::Monotonic;
use super::namespace::{FAR_DEVICE, INSIDE_DEVICE, Setup};
use super::priority::{self, Priority};
use super::relay::Relay;
use super::tun::Superpackets;
use super::tun_port::TunPort;
use crate::capture::Captures;
use crate::plan::{Plan, Refusal};
use crate::port::Ends;
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
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// How an emulation is run.
#[derive(Clone, Debug)]
pub struct Request {
    /// What is emulated.
    pub plan: Plan,
    /// What both ends are told.
    pub setup: Setup,
    /// What runs inside and beside the far end.
    pub commands: Commands,
    /// When it ends by itself.
    pub lasts: Option<Span>,
    /// Whether the loop asks for real-time priority.
    pub real_time: bool,
    /// Whether the loop looks at the clock without pause before each packet.
    pub precise: bool,
    /// Directory that is there, for captures.
    pub captures: Option<PathBuf>,
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
    /// Somebody asked for it.
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

/// What an emulation leaves.
#[derive(Debug)]
pub struct Outcome {
    /// What the loop leaves.
    pub finished: Finished,
    /// Why it ended.
    pub ended: Ended,
    /// Status of the command, as a shell has it; none if it was lost.
    pub status: Option<i32>,
}

type Loop = JoinHandle<Result<Finished, Failure>>;

/// An emulation that runs.
#[derive(Debug)]
pub struct Session {
    holder: Arc<Holder>,
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
    /// Makes the namespaces and starts the loop; the command waits for [`Self::go`].
    ///
    /// # Errors
    /// What the system refuses, or what of the plan cannot be.
    pub fn start(request: &Request) -> Result<Self, Refused> {
        let wrong = |why: Refusal| Refused::usage(why.message, why.hint);
        request.plan.check().map_err(wrong)?;
        let holder = Arc::new(Holder::start(&request.setup, &request.commands)?);
        let failed =
            |error: io::Error| Refused::failure(format!("the emulation cannot start: {error}"), "");
        let (watched, stop) =
            pipe2(nix::fcntl::OFlag::O_CLOEXEC).map_err(|error| failed(error.into()))?;
        let watched = Arc::new(watched);
        let mut relayed = None;
        let mut to_relay = None;
        if request.setup.internet {
            let (ours, theirs) = relay_sockets().map_err(failed)?;
            to_relay = Some(ours);
            relayed = Some(
                start_relay(&holder, theirs, &request.plan, Arc::clone(&watched))
                    .map_err(failed)?,
            );
        }
        let snapshot = Arc::new(Mutex::new(Snapshot::default()));
        let (loop_thread, looped) =
            start_loop(request, &holder, to_relay, watched, Arc::clone(&snapshot))
                .map_err(failed)?;
        Ok(Self {
            superpackets: holder.devices.superpackets,
            holder,
            loop_thread,
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
        self.holder.go()
    }

    /// Waits for the end, and no longer than this; whether it is over.
    pub fn wait(&self, milliseconds: u16) -> bool {
        let is_over = || self.looped.as_ref().is_none_or(JoinHandle::is_finished);
        if !is_over() {
            let mut polled = [PollFd::new(self.holder.ended(), PollFlags::POLLIN)];
            let _ = poll(&mut polled, PollTimeout::from(milliseconds));
            if polled[0].any() == Some(true) {
                // chosen: what the loop needs for its last pass and its records, before we look again.
                let _ = poll(&mut [], PollTimeout::from(5_u16));
            }
        }
        is_over()
    }

    /// What it looks like; twenty times a second there is something new.
    pub fn snapshot(&self) -> Snapshot {
        *self.snapshot.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How the kernel schedules the loop now.
    pub fn priority(&self) -> Priority {
        priority::of_thread(self.loop_thread)
    }

    /// Namespaces for whoever joins.
    pub fn namespaces(&self) -> &[OwnedFd] {
        &self.holder.namespaces
    }

    /// Ends it.
    pub fn end(&mut self) {
        self.is_asked = true;
        self.stop = None;
    }

    /// Waits until everything has ended, and says what it was.
    ///
    /// # Errors
    /// If the loop failed.
    pub fn finish(mut self) -> Result<Outcome, Refused> {
        let looped = self.looped.take().expect("a session is finished once");
        let finished = match looped.join() {
            Ok(result) => result
                .map_err(|error| Refused::failure(format!("the emulation failed: {error}"), ""))?,
            Err(panic) => std::panic::resume_unwind(panic),
        };
        self.stop = None;
        let mut polled = [PollFd::new(self.holder.ended(), PollFlags::POLLIN)];
        let is_over = poll(&mut polled, PollTimeout::ZERO) == Ok(1);
        if !is_over {
            self.holder.end();
        }
        let status = self.holder.status();
        if let Some(relayed) = self.relayed.take() {
            let _ = relayed.join();
        }
        let ended = match (self.is_asked, is_over) {
            (true, _) => Ended::Asked,
            (false, true) => Ended::Command,
            (false, false) => Ended::Time,
        };
        Ok(Outcome {
            finished,
            ended,
            status,
        })
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

fn start_relay(
    holder: &Arc<Holder>,
    model: OwnedFd,
    plan: &Plan,
    watched: Arc<OwnedFd>,
) -> io::Result<JoinHandle<()>> {
    let holder = Arc::clone(holder);
    let device = holder.devices.far.try_clone()?;
    let (far, mtu) = (
        plan.far.clone(),
        usize::try_from(plan.mtu.0).unwrap_or(1500),
    );
    thread::Builder::new()
        .name("sojourn-relay".to_owned())
        .spawn(move || {
            let _ = SigSet::all().thread_block(); // Python's thread has them
            let _ = Relay::new(&holder, model, device, far, mtu).run(watched.as_fd());
        })
}

fn start_loop(
    request: &Request,
    holder: &Arc<Holder>,
    relay: Option<OwnedFd>,
    watched: Arc<OwnedFd>,
    snapshot: Arc<Mutex<Snapshot>>,
) -> io::Result<(i32, Loop)> {
    let holder = Arc::clone(holder);
    let devices = &holder.devices;
    let inside = TunPort::new(
        devices.inside.try_clone()?,
        INSIDE_DEVICE,
        devices.inside_counters.try_clone()?,
    );
    let far = TunPort::new(
        devices.far.try_clone()?,
        FAR_DEVICE,
        devices.far_counters.try_clone()?,
    );
    let relay_seen = relay.as_ref().map(OwnedFd::try_clone).transpose()?;
    let far = FarPort::new(far, relay, request.plan.far.clone());
    let ends = Ends {
        inside: FarPort::new(inside, None, Vec::new()),
        far,
    };
    let mut pump = Pump::new(&request.plan, ends).map_err(io::Error::other)?;
    if let Some(directory) = &request.captures {
        pump.capture(captures(directory, request.plan.link_header)?);
    }
    let (real_time, precise, lasts) = (request.real_time, request.precise, request.lasts);
    let (told, thread) = std::sync::mpsc::sync_channel(1);
    let looped = thread::Builder::new()
        .name("sojourn-loop".to_owned())
        .spawn(move || {
            let _ = SigSet::all().thread_block();
            let priority = priority::raise(real_time);
            let _ = told.send(nix::unistd::gettid().as_raw());
            let mut downstream = vec![holder.devices.far.as_fd()];
            downstream.extend(relay_seen.as_ref().map(AsFd::as_fd));
            let sources = PerDirection {
                upstream: vec![holder.devices.inside.as_fd()],
                downstream,
            };
            let spins = precise && priority == Priority::RealTime;
            let spin = if spins { SPIN } else { Span::ZERO };
            let enders = [holder.ended(), watched.as_fd()];
            let mut clock = Monotonic::new(&sources, &enders, lasts, spin);
            let mut show = |seen: &Snapshot| {
                // The loop waits for nobody: a look that comes in between sees the one before.
                if let Ok(mut place) = snapshot.try_lock() {
                    *place = *seen;
                }
            };
            let result = pump.run(&mut clock, &mut show);
            priority::lower();
            result.map(|()| pump.finish())
        })?;
    Ok((thread.recv().unwrap_or(0), looped))
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

/// The time of day, for those who read a capture.
fn since_1970() -> Duration {
    let now = clock_gettime(ClockId::CLOCK_REALTIME).expect("every Linux has this clock");
    Duration::from(now)
}
