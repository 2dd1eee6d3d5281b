//! The sending half of a QUIC connection: packets in flight, what is sent next, and the timers.
//!
//! Source: RFC 9002 sections 5, 6.2 and 7, appendices A and B, by their names. Windows are in full packets, as
//! controllers count them; what is in flight is compared in bytes.
//! Deviations: one packet number space; every packet that is counted asks for an acknowledgement.

mod acknowledgement;
mod congestion;
mod loss_detection;
mod timers;
mod transmit;

use super::rtt::Estimator;
use crate::CongestionState;
use crate::common::delivery_rate::DeliveryRate;
use crate::common::marks::Marks;
use crate::common::pacer::Pacer;
use crate::common::stream::Stream;
use crate::config::StackConfig;
use crate::congestion::WindowControl;
use crate::quic::ranges::Ranges;
use alloc::boxed::Box;
use alloc::collections::VecDeque;
use sojourn_base::Instant;

/// Contents of a packet. If it is lost, another one carries them: numbers are never used twice, offsets are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Content {
    pub(super) offset: u64,
    pub(super) length: u16,
    /// The data end here.
    pub(super) last: bool,
    pub(super) handshake: bool,
    pub(super) written_at: Instant,
    pub(super) first_sent_at: Instant,
}

impl Content {
    /// A PING frame: nothing that would have to be sent again.
    const fn none(now: Instant) -> Self {
        Self { offset: 0, length: 0, last: false, handshake: false, written_at: now, first_sent_at: now }
    }

    const fn end(&self) -> u64 {
        self.offset + self.length as u64
    }

    const fn is_ping(&self) -> bool {
        self.length == 0 && !self.last && !self.handshake
    }
}

/// Fate of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    Outstanding,
    Acknowledged,
    Lost,
}

/// A packet that was sent (RFC 9002 appendix A.1).
#[derive(Clone, Copy, Debug)]
pub(super) struct SentPacket {
    pub(super) content: Content,
    pub(super) sent_at: Instant,
    /// Bytes of its IP packet.
    pub(super) bytes: u32,
    pub(super) fate: Fate,
}

/// Sending half of a connection.
#[derive(Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts about the connection")]
pub(super) struct Sender {
    pub(super) control: WindowControl,
    pub(super) round_trip: Estimator,
    pub(super) stream: Stream,
    pacer: Pacer,
    delivery_rate: Option<Box<DeliveryRate>>,
    /// Packets from number `first` on; the first of them is outstanding.
    packets: VecDeque<SentPacket>,
    first: u32,
    outstanding: u32,
    in_flight: u64,
    largest_acknowledged: Option<u32>,
    /// Time of the next loss detection by time (`loss_time`).
    loss_at: Instant,
    /// `time_of_last_ack_eliciting_packet` and `pto_count`.
    last_sent_at: Instant,
    pub(super) expiries: u32,
    /// Contents to send again.
    lost: VecDeque<Content>,
    acknowledged: Ranges,
    told: u64,
    handshake_done: bool,
    end_acknowledged: bool,
    /// Beginning of the recovery period (`congestion_recovery_start_time`), and whether it goes on.
    recovery_since: Option<Instant>,
    recovering: bool,
    /// Packets sent until then say nothing new of marks.
    marks_until: Option<Instant>,
    marks: Marks,
    /// Window or pacer hold data back.
    limited: bool,
    /// Most packets outstanding in this round trip, which ends with the acknowledgement of a number.
    largest: (u32, u32),
    /// Packets that may leave whatever the window says.
    allowance: u32,
    /// Only the handshake may be sent.
    waiting: bool,
    /// Most bytes that may be sent in total while the peer may be anyone.
    most: Option<u64>,
    state_since: Instant,
    given_up: bool,
}

impl Sender {
    pub(super) fn new(config: &StackConfig) -> Self {
        let control = WindowControl::new(config);
        let samples = control.wants_rate_samples();
        Self {
            delivery_rate: samples.then(|| Box::new(DeliveryRate::new())),
            control,
            round_trip: Estimator::default(),
            stream: Stream::default(),
            pacer: Pacer::default(),
            packets: VecDeque::new(),
            first: 0,
            outstanding: 0,
            in_flight: 0,
            largest_acknowledged: None,
            loss_at: Instant::NEVER,
            last_sent_at: Instant::NEVER,
            expiries: 0,
            lost: VecDeque::new(),
            acknowledged: Ranges::default(),
            told: 0,
            handshake_done: false,
            end_acknowledged: false,
            recovery_since: None,
            recovering: false,
            marks_until: None,
            marks: Marks::default(),
            limited: false,
            largest: (0, 0),
            allowance: 0,
            waiting: true,
            most: None,
            state_since: Instant::ZERO,
            given_up: false,
        }
    }

    /// The number of the next packet.
    pub(super) fn next(&self) -> u32 {
        self.first + u32::try_from(self.packets.len()).expect("fewer than 2^32 in flight")
    }

    pub(super) const fn outstanding(&self) -> u32 {
        self.outstanding
    }

    /// Contents that wait to be sent again.
    pub(super) fn waiting_again(&self) -> u32 {
        u32::try_from(self.lost.len()).unwrap_or(u32::MAX)
    }

    /// Bytes acknowledged from the beginning on.
    pub(super) fn acknowledged(&self) -> u64 {
        self.acknowledged.prefix()
    }

    pub(super) const fn is_finished(&self) -> bool {
        self.end_acknowledged
    }

    pub(super) const fn has_given_up(&self) -> bool {
        self.given_up
    }

    pub(super) const fn state(&self) -> CongestionState {
        if self.recovering { CongestionState::Recovery } else { CongestionState::Open }
    }

    /// Bytes that its memory takes beside itself.
    pub(super) fn bytes(&self) -> usize {
        self.packets.capacity() * size_of::<SentPacket>()
            + self.lost.capacity() * size_of::<Content>()
            + self.acknowledged.bytes()
            + self.delivery_rate.as_deref().map_or(0, DeliveryRate::bytes)
    }

    /// Counters agree with a recount: for tests.
    pub(super) fn is_consistent(&self) -> bool {
        let outstanding = || self.packets.iter().filter(|p| p.fate == Fate::Outstanding);
        outstanding().count() == self.outstanding as usize
            && outstanding().map(|p| u64::from(p.bytes)).sum::<u64>() == self.in_flight
    }

    /// Data may leave before the handshake is over, up to `most` bytes including all sent before.
    pub(super) const fn send_early(&mut self, most: Option<u64>) {
        self.waiting = false;
        self.most = most;
    }

    /// The handshake is over: data may leave.
    pub(super) const fn establish(&mut self, now: Instant) {
        self.waiting = false;
        self.most = None;
        self.state_since = now;
    }
}
