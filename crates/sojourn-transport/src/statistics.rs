//! Counters of a connection, and its state for recorders.
//!
//! Counters only; recorders make distributions.

use sojourn_base::{Instant, Span};

/// Congestion state of a sender.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CongestionState {
    /// Nothing unusual.
    #[default]
    Open,
    /// Duplicates or SACKed segments, but no loss yet.
    Disorder,
    /// Fast recovery.
    Recovery,
    /// Repair after a retransmission timeout.
    Loss,
}

/// Counters of one end of a connection; first those that nearly every packet changes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ConnectionStatistics {
    /// Segments sent that occupy a place in the sequence, retransmissions included.
    pub segments_sent: u64,
    /// Packets sent that only acknowledge.
    pub acknowledgements_sent: u64,
    /// Bytes of all packets sent (IP packets).
    pub wire_bytes_sent: u64,
    /// Bytes of application data sent, retransmissions included.
    pub payload_bytes_sent: u64,
    /// Packets received.
    pub packets_received: u64,
    /// Bytes of all packets received (IP packets).
    pub wire_bytes_received: u64,
    /// Packets received with a congestion mark.
    pub marks_received: u64,
    /// Smallest and largest round-trip sample.
    pub round_trip_extremes: Option<(Span, Span)>,
    /// Segments that arrived although this end had them already.
    pub duplicates_received: u64,
    /// Retransmissions in fast recovery.
    pub fast_retransmissions: u64,
    /// Retransmissions in repair after a timeout.
    pub timeout_retransmissions: u64,
    /// Tail-loss probes that repeated a segment.
    pub probe_retransmissions: u64,
    /// Retransmissions of segments not known to be lost (RFC 6675 rules 3 and 4).
    pub speculative_retransmissions: u64,
    /// Retransmission timeouts.
    pub timeouts: u64,
    /// Timeouts after which the original turned out to have arrived.
    pub spurious_timeouts: u64,
    /// SYNs or SYN-ACKs sent again.
    pub syn_retransmissions: u64,
    /// Acknowledgements received that echo a congestion mark.
    pub echoes_received: u64,
    /// Window reductions after a detected loss.
    pub loss_reductions: u64,
    /// Window reductions after a mark.
    pub mark_reductions: u64,
    /// Time in open and disordered state, in recovery, and in repair after a timeout, up to the last
    /// change of state.
    pub time_open: Span,
    /// See [`Self::time_open`].
    pub time_in_recovery: Span,
    /// See [`Self::time_open`].
    pub time_in_loss: Span,
}

impl ConnectionStatistics {
    /// Another round-trip sample.
    pub(crate) fn note_round_trip(&mut self, sample: Span) {
        match &mut self.round_trip_extremes {
            Some((low, high)) => (*low, *high) = (sample.min(*low), sample.max(*high)),
            extremes @ None => *extremes = Some((sample, sample)),
        }
    }

    /// Retransmissions of any cause.
    pub const fn retransmissions(&self) -> u64 {
        self.fast_retransmissions
            + self.timeout_retransmissions
            + self.probe_retransmissions
            + self.speculative_retransmissions
    }
}

/// Window and round trip of a sender at one moment: what a series of them is made of.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CongestionSnapshot {
    /// Congestion window in segments.
    pub window: f64,
    /// Slow-start threshold in segments; infinite before the first reduction of a modern stack.
    pub threshold: f64,
    /// Segments that are probably in the network.
    pub pipe: u32,
    /// Smoothed round-trip time; `None` before the first sample.
    pub smoothed_round_trip: Option<Span>,
    /// Variation of the round-trip time.
    pub round_trip_variation: Span,
    /// Congestion state.
    pub state: CongestionState,
}

/// One end of a connection at one moment, with everything that tests ask about.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ConnectionSnapshot {
    /// Congestion window in segments.
    pub window: f64,
    /// Slow-start threshold in segments; infinite before the first reduction of a modern stack.
    pub threshold: f64,
    /// Smoothed round-trip time; `None` before the first sample.
    pub smoothed_round_trip: Option<Span>,
    /// Variation of the round-trip time.
    pub round_trip_variation: Span,
    /// Retransmission timeout with its back-off.
    pub timeout: Span,
    /// Expiry of the timeout; [`Instant::NEVER`] if it is not running.
    pub timeout_at: Instant,
    /// Segments that are probably in the network.
    pub pipe: u32,
    /// Segments outstanding, SACKed ones included.
    pub flight: u32,
    /// Segments SACKed.
    pub sacked: u32,
    /// Segments marked lost whose retransmission is not outstanding.
    pub lost: u32,
    /// Congestion state.
    pub state: CongestionState,
    /// Bytes delivered in order to this end.
    pub delivered: u64,
    /// Bytes of this end acknowledged by the peer.
    pub acknowledged: u64,
}
