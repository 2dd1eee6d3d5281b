//! Application models: what people and programs do with a connection.
//!
//! An application plays all ends of its conversation: the subscriber's client and the servers it
//! talks to. It is causal all the same, because each end acts only on what has been delivered to it.
//! It answers events with requests to its [`ApplicationContext`] and owns no clock, socket or generator.
//!
//! | module | applications |
//! |---|---|
//! | [`adaptive_video`] | games and calls whose picture follows the network |
//! | [`bulk`] | file transfers: endless, repeating, bursty, BitTorrent pieces |
//! | [`capture`] | packets as a capture has them |
//! | [`cloud_game`] | games computed elsewhere: video down, input up |
//! | [`constant_rate`] | voice, game streams, constant bit rate |
//! | [`game`] | online games: small packets both ways |
//! | [`has`] | videos whose quality follows the network |
//! | [`has_ll`] | live streams, a few seconds behind what happens |
//! | [`pd`] | videos that are played while they are downloaded |
//! | [`probe`] | round trips: echoed datagrams, or connections and requests |
//! | [`video_call`] | picture and sound both ways |
//! | [`web`] | pages with many objects from several servers |
//! | [`web_akhtar`] | pages by statistics, over one connection to each of seven hosts |
//! | [`web_3gpp`] | pages of random size, object after object over one connection |
//!
//! Sizes, pauses and intervals that are drawn are a [`Distribution`].
#![forbid(unsafe_code)]

pub mod adaptive_video;
pub mod bulk;
pub mod capture;
pub mod cloud_game;
mod connections;
pub mod constant_rate;
#[cfg(test)]
mod desk;
pub mod distribution;
mod frames;
pub mod game;
pub mod has;
pub mod has_ll;
pub mod keys;
mod kind;
mod kinds;
mod pages;
pub mod pd;
pub mod probe;
mod scream;
pub mod tls;
pub mod video_call;
pub mod web;
pub mod web_3gpp;
pub mod web_akhtar;

pub use adaptive_video::{AdaptiveVideo, AdaptiveVideoConfig, Session};
pub use bulk::{Bulk, BulkConfig, FileSize};
pub use capture::{Capture, CaptureConfig, CaptureMarking, PacketList};
pub use cloud_game::{CloudGame, CloudGameConfig};
pub use constant_rate::{ConstantRate, ConstantRateConfig, IntervalMode, StreamConfig};
pub use distribution::{Bounds, Distribution, Inverse, Law, Measured, Outside, Sampler};
pub use frames::VideoConfig;
pub use game::{Game, GameConfig};
pub use has::{Has, HasConfig};
pub use has_ll::{HasLl, HasLlConfig};
pub use kind::{ApplicationConfig, ApplicationKind};
pub use kinds::add_application;
pub use pd::{Pd, PdConfig, ServerPacing};
pub use probe::{Probe, ProbeConfig, ProbeOver};
pub use video_call::{VideoCall, VideoCallConfig};
pub use web::Protocol;
pub use web::{Closing, EqualPage, GeneratedPage, ListedPage, NameLookup, PageModel, Web, WebConfig};

pub use web_3gpp::{CountMode, Web3gpp, Web3gppConfig};
pub use web_akhtar::{WebAkhtar, WebAkhtarConfig};

pub use sojourn_base::report::{
    Chunk, DownloadSession, Frame, LiveSecond, LiveSession, Object, Page, PlayedCall, Report, StreamingSession,
    Transfer,
};

use core::any::Any;
use sojourn_base::{Direction, Ecn, Instant, Shown, Span};
use std::collections::VecDeque;

sojourn_base::shown!(dyn Application + '_);

/// A connection, as the context names it. Never reused within a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ConnectionId(pub u32);

/// An end of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum End {
    /// The subscriber's side, which opens the connection.
    Client,
    /// The far side.
    Server,
}

/// Events of an application.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// A timer that was armed with this token is due.
    Timer(u32),
    /// The connection is established at this end.
    Connected(ConnectionId, End),
    /// All attempts to connect have failed.
    ConnectFailed(ConnectionId),
    /// Bytes that this end has received in order, in total.
    Delivered(ConnectionId, End, u64),
    /// Bytes that this end has received before some that were written earlier: from the first of these to below the
    /// second (QUIC). [`Event::Delivered`] counts them when it gets there.
    Early(ConnectionId, End, u64, u64),
    /// Bytes written at this end and acknowledged, in total.
    Acknowledged(ConnectionId, End, u64),
    /// This end has received the end of the peer's data.
    PeerClosed(ConnectionId, End),
    /// Both sides are closed, or the connection was given up: the id is history.
    Closed(ConnectionId),
    /// The datagram that was sent with this tag has arrived at this end, with this ECN field.
    Datagram(End, u32, Ecn),
}

/// Purposes of an application's random draws; each has its own stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Draw {
    /// Its start.
    Start,
    /// How much it transfers.
    Size,
    /// How long it pauses.
    Gap,
    /// Its choice.
    Choice,
}

impl Draw {
    /// All purposes.
    pub const ALL: [Self; 4] = [Self::Start, Self::Size, Self::Gap, Self::Choice];

    /// The word in the name of its random stream.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Start => "start",
            Self::Size => "size",
            Self::Gap => "gap",
            Self::Choice => "choice",
        }
    }
}

/// Services for an application.
pub trait ApplicationContext {
    /// The context that this one stands around, if there is one: methods with a default ask that one.
    fn inner(&mut self) -> Option<&mut (dyn ApplicationContext + '_)>;
    /// Open a connection to server number `server` of this application's list.
    fn open(&mut self, server: usize) -> ConnectionId;
    /// `bytes` more to send at `end`; `u64::MAX` means without end.
    fn write(&mut self, connection: ConnectionId, end: End, bytes: u64);
    /// Data written without end are not sent any more, until [`ApplicationContext::write`] is called again.
    fn hold(&mut self, connection: ConnectionId, end: End);
    /// Returns true if connections include the handshake of TLS (QUIC).
    fn is_quic(&mut self) -> bool {
        self.inner().is_some_and(ApplicationContext::is_quic)
    }
    /// The client's data leaves before the connection is established (QUIC, 0-RTT). Called before the first write.
    fn send_early(&mut self, connection: ConnectionId) {
        if let Some(inner) = self.inner() {
            inner.send_early(connection);
        }
    }
    /// Nothing more to send at `end`.
    fn close(&mut self, connection: ConnectionId, end: End);
    /// Postpones [`Event::Delivered`] at `end` until `total` bytes are there. A context may ignore this, and bring
    /// earlier events.
    fn await_delivered(&mut self, connection: ConnectionId, end: End, total: u64) {
        if let Some(inner) = self.inner() {
            inner.await_delivered(connection, end, total);
        }
    }
    /// Do not bring [`Event::Acknowledged`] at `end` until `total` bytes are acknowledged; as above.
    fn await_acknowledged(&mut self, connection: ConnectionId, end: End, total: u64) {
        if let Some(inner) = self.inner() {
            inner.await_acknowledged(connection, end, total);
        }
    }
    /// Removes the connection without notice: both ends are gone, and so are the packets in flight. No event follows.
    fn abandon(&mut self, connection: ConnectionId);
    /// Send a datagram of `length` bytes (IP packet) to or from server number `server`.
    fn send_datagram(&mut self, server: usize, direction: Direction, length: u32);
    /// Like [`ApplicationContext::send_datagram`], and deliver [`Event::Datagram`] with `tag` at the receiving end if
    /// the datagram arrives. Name look-ups and probes use it. A context that does not provide it loses the answers.
    fn send_tagged_datagram(&mut self, server: usize, direction: Direction, length: u32, tag: u32) {
        match self.inner() {
            Some(inner) => inner.send_tagged_datagram(server, direction, length, tag),
            None => self.send_datagram(server, direction, length),
        }
    }
    /// Like [`ApplicationContext::send_datagram`], with a DSCP and an ECN field of its own instead of those of the traffic
    /// entry. A context that does not provide it marks as the entry says.
    fn send_marked_datagram(&mut self, server: usize, direction: Direction, length: u32, marks: (u8, Ecn)) {
        match self.inner() {
            Some(inner) => inner.send_marked_datagram(server, direction, length, marks),
            None => self.send_datagram(server, direction, length),
        }
    }
    /// The ECN field of datagrams that have none of their own.
    fn ecn(&mut self) -> Ecn {
        self.inner().map_or(Ecn::NotEct, ApplicationContext::ecn)
    }
    /// Deliver [`Event::Timer`] with `token` at `at`. Tokens are not exclusive: each call is one event.
    fn arm(&mut self, at: Instant, token: u32);
    /// A uniform draw in [0, 1) from the application's stream of `purpose`.
    fn unit(&mut self, purpose: Draw) -> f64;
    /// So much was done within this call, in steps of some nanoseconds; whether to go on. If not, the run is given up.
    fn work(&mut self, units: u64) -> bool {
        self.inner().is_none_or(|inner| inner.work(units))
    }
    /// Reports results; [`record`](#method.record) takes each kind.
    fn report(&mut self, report: Report<'_>);
}

impl dyn ApplicationContext + '_ {
    /// Tells of its work: a transfer, a page, a session.
    pub fn record<'a>(&mut self, report: impl Into<Report<'a>>) {
        self.report(report.into());
    }
}

/// Which of the frequent events an application listens to. It ignores the others, so that its context
/// need not bring them; events that this does not name are always brought.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interest {
    /// [`Event::Delivered`].
    pub delivered: bool,
    /// [`Event::Acknowledged`].
    pub acknowledged: bool,
}

impl Interest {
    /// All events.
    pub const EVERYTHING: Self = Self { delivered: true, acknowledged: true };
}

/// An application.
pub trait Application: Shown + Send {
    /// Returns the kinds of event that it needs, the same throughout the run.
    fn interest(&self) -> Interest {
        Interest::EVERYTHING
    }
    /// The run begins.
    fn start(&mut self, now: Instant, context: &mut dyn ApplicationContext);
    /// Something happened.
    fn on_event(&mut self, now: Instant, event: Event, context: &mut dyn ApplicationContext);
    /// Goes on with the parameters `to`, of the type that it was built from, as [`ApplicationKind::may_become`] allows.
    fn retune(&mut self, now: Instant, to: &dyn Any, context: &mut dyn ApplicationContext) {
        let _ = (now, to, context);
    }
    /// Pauses or resumes it: its timers stand still during a pause. A start without a timer waits for one, too.
    fn pause(&mut self, now: Instant, is_paused: bool, context: &mut dyn ApplicationContext) {
        let _ = (now, is_paused, context);
    }
    /// Bytes of the packets, transfers and pages that it keeps at this moment and that no bound of a key limits; the
    /// run counts them towards its budget. The needs known before the run are [`ApplicationKind::bytes`].
    fn bytes(&self) -> usize;
    /// The run ends: record what is unfinished.
    fn finish(&mut self, now: Instant, context: &mut dyn ApplicationContext);
}

/// Bytes of the places of a ring.
fn ring_bytes<T>(ring: &VecDeque<T>) -> usize {
    ring.capacity() * size_of::<T>()
}

/// Users, servers, sessions, objects and timers are counted in 32 bits.
pub(crate) fn number(index: usize) -> u32 {
    u32::try_from(index).expect("counts of users, servers, sessions, objects and timers are small")
}

/// The nearest whole number, at least one: of drawn sizes and counts.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "clamped by `as`; sizes and counts are positive"
)]
fn whole(value: f64) -> u64 {
    ((value + 0.5) as u64).max(1)
}

/// `start` plus a uniform share of `jitter`; nothing is drawn without jitter.
fn jittered(start: Span, jitter: Span, context: &mut dyn ApplicationContext) -> Span {
    if jitter.is_zero() {
        start
    } else {
        let later = Span::from_secs_f64(jitter.as_secs_f64() * context.unit(Draw::Start));
        start.saturating_add(later)
    }
}
