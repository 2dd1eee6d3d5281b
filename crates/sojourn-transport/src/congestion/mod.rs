//! How fast to send: the window, and the controllers that move it.
//!
//! A controller is a type that answers to events: [`CongestionControl`]. Window and threshold belong to the sender,
//! because recovery, timeouts and idle restarts move them too; a controller gets them with each event. Slow start and
//! its exits stand beside the controllers, so that each exit works with each of them.
//!
//! A controller of this crate is one file here, with its parameters and keys ([`ControllerKind`]), and one line in
//! `kinds.rs`; one of another crate is a file there and a call of [`add_controller`].
//!
//! Source: RFC 5681 section 3.1 (slow start, threshold); the controllers name theirs. Windows are in segments,
//! fractions included; senders compare whole segments.
//! Deviations: a window never exceeds the receive window, so that flows limited by it do not inflate.

mod any;
pub(crate) mod bbr1;
pub(crate) mod bbr2;
pub(crate) mod bbr3;
mod bbr_model;
pub(crate) mod compound;
mod control;
pub(crate) mod cubic_linux;
pub(crate) mod cubic_rfc9438;
pub(crate) mod cubic_v21;
pub(crate) mod dctcp;
mod hystart;
mod hystart_plus_plus;
mod kind;
mod kinds;
pub(crate) mod ledbat;
pub(crate) mod ledbat_ns2;
pub(crate) mod prague;
pub(crate) mod reno;
pub(crate) mod slow_start;

use alloc::boxed::Box;
use sojourn_base::{BitRate, Bytes, Instant, Shown, Span};

sojourn_base::shown!(dyn CongestionControl + '_);

pub use any::AnyController;
pub(crate) use control::WindowControl;
pub use kind::{ControllerConfig, ControllerKind};
#[cfg(feature = "std")]
pub use kinds::add_controller;

/// Congestion window and slow-start threshold in segments.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Window {
    /// Data that may be in flight.
    pub size: f64,
    /// Below it the window grows by slow start.
    pub threshold: f64,
}

impl Window {
    /// Whole segments of the window.
    pub fn whole(&self) -> u32 {
        whole(self.size)
    }
}

/// Arguments of an acknowledgement for a controller.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts about one acknowledgement")]
pub struct Ack {
    /// Time of its arrival.
    pub now: Instant,
    /// Segments by which it may open the window: those newly acknowledged, by either means, each once
    /// (or as [`crate::habits::Habits::grows_by_all_covered`] says).
    pub acked: u32,
    /// Bytes by which the cumulative acknowledgement has advanced.
    pub acked_bytes: u32,
    /// It echoes a congestion mark.
    pub marked: bool,
    /// Marked segments that it reports, if the peer counts them; 0 otherwise. The window grows by the others.
    pub marks: u32,
    /// Lowest unacknowledged segment now.
    pub first: u32,
    /// Next new segment.
    pub next: u32,
    /// Delivery rate, for controllers that have requested it.
    pub rate: Option<RateSample>,
    /// Round-trip sample of this acknowledgement.
    pub round_trip: Option<Span>,
    /// Smoothed round-trip time.
    pub smoothed: Span,
    /// One-way delay of the segment that this acknowledgement answers.
    pub one_way_delay: Option<Span>,
    /// Segments outstanding before this acknowledgement.
    pub flight_before: u32,
    /// The window may change: new data are acknowledged, and the sender is not in recovery.
    pub may_change: bool,
    /// The window may grow: besides, it was used (the sender was not limited by its application).
    pub may_grow: bool,
    /// Nothing is or was wrong.
    pub open: bool,
    /// A timeout is being repaired.
    pub after_timeout: bool,
}

/// How fast the network delivered up to an acknowledgement (draft-cheng-iccrg-delivery-rate-estimation).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RateSample {
    /// Delivered in `interval`.
    pub delivered: Bytes,
    /// The longer of the times in which that was sent and acknowledged.
    pub interval: Span,
    /// Delivered in total when the newest segment of the acknowledgement was sent: a round ends when this passes the
    /// total at its start.
    pub delivered_before: Bytes,
    /// Delivered in total.
    pub delivered_in_total: Bytes,
    /// The application had nothing to send: the network may be faster.
    pub application_limited: bool,
    /// Round trip of the newest segment of the acknowledgement, if it was sent once: without the wait of a delayed
    /// acknowledgement, which [`Ack::round_trip`] includes.
    pub round_trip: Option<Span>,
    /// Segments in the network now, and when the newest segment of the acknowledgement was sent, that one included.
    pub in_flight: u32,
    /// See [`Self::in_flight`].
    pub in_flight_when_sent: u32,
    /// Segments in the network before the acknowledgement.
    pub in_flight_before: u32,
    /// Time until the pacer lets the next segment leave.
    pub until_departure: Span,
    /// Segments found lost since that one was sent.
    pub lost: u32,
    /// Segments found lost since the sample before.
    pub newly_lost: u32,
    /// The window held data back lately.
    pub window_limited: bool,
}

impl RateSample {
    /// Delivered bytes by time.
    pub fn rate(&self) -> BitRate {
        BitRate::from_bps(whole_bits(8.0 * self.delivered.0 as f64 / self.interval.as_secs_f64()))
    }
}

/// Why a window has to shrink.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// Loss detection has found a loss, or a tail-loss probe has repaired one.
    Loss,
    /// A congestion mark came back, the first in a round trip.
    Mark,
    /// The retransmission timer has expired.
    Timeout,
}

/// A congestion event; the window is still that before it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Congestion {
    /// Time of the event.
    pub now: Instant,
    /// Why.
    pub cause: Cause,
    /// Segments that the stack multiplies at a reduction.
    pub base: f64,
    /// Next new segment: the round trip of the event ends with its acknowledgement.
    pub next: u32,
}

/// Facts of a connection when its controller is built.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Connection {
    /// Bytes of a full segment.
    pub maximum_segment_size: u32,
    /// Bytes of headers of a segment with data.
    pub data_header: u32,
    /// Segments of the initial window.
    pub initial_window: u32,
    /// Acknowledgements say how many segments were marked.
    pub counts_marks: bool,
}

/// State of a controller, for records.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ControllerState {
    /// State in the word of its document; `None` if it has no states.
    pub phase: Option<&'static str>,
    /// Rate of IP packets that it takes the path to have.
    pub bandwidth: Option<BitRate>,
    /// Segments that may be in the network, as losses or marks have taught it; `None` without such a bound.
    pub bound: Option<f64>,
}

/// Requests of a controller to its sender, read once, when a connection begins. Features a controller does not request
/// are not computed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "independent requests, each named after its request")]
pub struct Requests {
    /// Thresholds keep their fractions, whatever the stack's unit of the window.
    pub fractions: bool,
    /// An acknowledgement that echoes a mark may open the window, too; RFC 3168 section 6.1.2 says it may not.
    pub growth_with_marks: bool,
    /// Acknowledgements come with [`Ack::rate`].
    pub rate_samples: bool,
    /// Segments are spread by [`CongestionControl::pacing_rate`] also if the stack does not pace.
    pub pacing: bool,
    /// It sets the window itself with each acknowledgement (BBR), so no growth waits for a window that is full.
    pub own_window: bool,
}

impl Requests {
    /// Nothing.
    pub const NONE: Self =
        Self { fractions: false, growth_with_marks: false, rate_samples: false, pacing: false, own_window: false };
}

/// Congestion control of one sender.
///
/// For each acknowledgement the sender calls [`Self::on_ack`], then, if the window may grow, slow start or
/// [`Self::on_congestion_avoidance`]; [`Self::on_congestion`] at most once per episode of losses, once per round trip of marks.
///
/// # Examples
///
/// Additive increase and multiplicative decrease with other constants:
///
/// ```
/// use sojourn_transport::congestion::{Ack, Congestion, CongestionControl, Window};
///
/// #[derive(Clone, Debug)]
/// struct Gentle;
///
/// impl CongestionControl for Gentle {
///     fn on_congestion_avoidance(&mut self, acked: u32, _ack: &Ack, window: &mut Window) {
///         window.size += 0.5 * f64::from(acked) / window.size;
///     }
///
///     fn on_congestion(&mut self, event: &Congestion, _window: &Window) -> f64 {
///         0.875 * event.base
///     }
/// }
/// ```
pub trait CongestionControl: Shown + Send + Duplicate {
    /// Returns requests beyond the events of every controller.
    fn requests(&self) -> Requests {
        Requests::NONE
    }

    /// Returns true if the next growth is by slow start.
    fn in_slow_start(&self, window: &Window) -> bool {
        window.size < window.threshold
    }

    /// Any acknowledgement with news: measure, and change the window if that does not depend on
    /// [`Ack::may_grow`].
    fn on_ack(&mut self, ack: &Ack, window: &mut Window) {
        let _ = (ack, window);
    }

    /// The window may grow, and slow start has left `acked` segments: congestion avoidance.
    fn on_congestion_avoidance(&mut self, acked: u32, ack: &Ack, window: &mut Window);

    /// Returns true if a mark echoed now, the first in a round trip, requires a reduction.
    fn reacts_to_mark(&self, now: Instant) -> bool {
        let _ = now;
        true
    }

    /// Congestion: the new threshold in segments. The sender rounds it as its stack does, and lets the window follow
    /// as its recovery says.
    fn on_congestion(&mut self, event: &Congestion, window: &Window) -> f64;

    /// Sending resumes after `idle`; the window is what the stack's idle restart has made of it.
    fn on_restart(&mut self, idle: Span, window: &mut Window) {
        let _ = (idle, window);
    }

    /// The window below which rate halving does not go.
    fn recovery_floor(&self, window: &Window) -> f64 {
        window.threshold
    }

    /// The rate at which to send, if that is not for the stack's pacing to derive from the window; asked if the stack
    /// paces or the controller has requested it.
    fn pacing_rate(&self) -> Option<BitRate> {
        None
    }

    /// Segments that leave at once at its pace, if those are more than the stack's [`Pace::quantum`](crate::config::Pace).
    fn burst(&self) -> u32 {
        1
    }

    /// Returns its state; for recorders only, which a browser's tab does without.
    fn state(&self) -> ControllerState {
        ControllerState::default()
    }
}

/// A copy of a controller behind a pointer; every controller that can be cloned has it.
pub trait Duplicate {
    /// The copy.
    fn duplicate(&self) -> Box<dyn CongestionControl>;
}

impl<C: CongestionControl + Clone + 'static> Duplicate for C {
    fn duplicate(&self) -> Box<dyn CongestionControl> {
        Box::new(self.clone())
    }
}

impl Clone for Box<dyn CongestionControl> {
    fn clone(&self) -> Self {
        (**self).duplicate()
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "`as` clamps, and rates are never negative"
)]
const fn whole_bits(rate: f64) -> u64 {
    rate as u64
}

/// The whole part of a window that is not negative.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "`as` clamps, and windows are never negative"
)]
pub(crate) const fn whole(segments: f64) -> u32 {
    segments as u32
}

#[cfg(test)]
pub(crate) mod testing {
    use super::*;

    /// A connection with full segments of Ethernet.
    pub(crate) const CONNECTION: Connection =
        Connection { maximum_segment_size: 1448, data_header: 52, initial_window: 10, counts_marks: false };

    /// An acknowledgement of `acked` segments that may grow the window.
    pub(crate) fn ack_at(now: Instant, acked: u32) -> Ack {
        Ack {
            now,
            acked,
            acked_bytes: acked * 1448,
            marked: false,
            marks: 0,
            first: 0,
            next: 0,
            rate: None,
            round_trip: None,
            smoothed: Span::from_ms(100),
            one_way_delay: None,
            flight_before: acked,
            may_change: true,
            may_grow: true,
            open: true,
            after_timeout: false,
        }
    }

    /// A congestion event at the beginning of time.
    pub(crate) fn congestion(base: f64, cause: Cause) -> Congestion {
        Congestion { now: Instant::ZERO, cause, base, next: 0 }
    }
}
