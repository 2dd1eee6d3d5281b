//! Packets of calls, games and other streams one by one, and their quality for a listener or a player.
//!
//! Source: White 2012 3.2.2 for late packets and the rating, as in `sojourn_metrics::voice`.
//! Deviations: the shortest delay is that of the packets so far, because later ones are still unknown.

use sojourn_base::{Direction, Span};
use sojourn_metrics::voice::{Call, DelayTerm};
use sojourn_record::{Datagram, Fate};

/// Fate of a packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Became {
    /// It is on its way, or was never sent.
    #[default]
    Unknown,
    /// It arrived after this delay in ns.
    Arrived(u64),
    /// It was lost.
    Lost,
}

/// A packet of a flow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Packet {
    /// Time of sending, ns.
    pub sent_ns: u64,
    /// Its fate.
    pub became: Became,
}

/// The packets of one flow of datagrams.
#[derive(Clone, Debug)]
pub struct Packets {
    /// Number of the traffic entry.
    pub traffic: u16,
    /// Flow within the entry.
    pub flow: u32,
    /// Direction of the packets.
    pub direction: Direction,
    /// In the order of sending.
    pub sent: Vec<Packet>,
}

/// Packets of a flow that are kept at most. chosen: 16 MB; a call sends 50 a second.
pub const MOST_PACKETS: usize = 1 << 20;

impl Packets {
    /// The flow of `datagram`, still without packets.
    pub fn of(datagram: &Datagram) -> Self {
        Self { traffic: datagram.traffic.0, flow: datagram.flow, direction: datagram.direction, sent: Vec::new() }
    }

    /// A packet has met its fate.
    pub fn add(&mut self, datagram: &Datagram) {
        let number = datagram.sequence as usize;
        if number >= MOST_PACKETS {
            return;
        }
        if number >= self.sent.len() {
            self.sent.resize(number + 1, Packet::default());
        }
        let sent_ns = datagram.sent_at.as_ns();
        self.sent[number] = Packet {
            sent_ns,
            became: match datagram.fate {
                Fate::Arrived(at) => Became::Arrived(at.as_ns() - sent_ns),
                Fate::LostInQueue | Fate::LostBehindQueue | Fate::LostOnLine => Became::Lost,
            },
        };
    }

    /// Those that were sent within `window` before `now_ns` and have arrived by then, or are lost: their delays.
    fn recent(&self, now_ns: u64, window: Span) -> impl Iterator<Item = Option<u64>> {
        let from = now_ns.saturating_sub(window.as_ns());
        // Numbers whose fate is unknown have no time; they are few and at the end.
        let known = |packet: &&Packet| packet.became != Became::Unknown;
        self.sent
            .iter()
            .rev()
            .filter(known)
            .skip_while(move |packet| packet.sent_ns > now_ns)
            .take_while(move |packet| packet.sent_ns >= from)
            .filter_map(move |packet| match packet.became {
                Became::Arrived(delay) => (packet.sent_ns + delay <= now_ns).then_some(Some(delay)),
                Became::Lost => Some(None),
                Became::Unknown => None,
            })
    }

    /// Mean opinion score of the last `window`, if it was a call.
    pub fn score(&self, now_ns: u64, window: Span) -> Option<f64> {
        let delays: Vec<Option<u64>> = self.recent(now_ns, window).collect();
        Call::new(&delays).score(DelayTerm::Counted)
    }

    /// Mean and largest delay of the last `window` in ms.
    pub fn lag(&self, now_ns: u64, window: Span) -> Option<(f64, f64)> {
        let (mut packets, mut sum, mut most) = (0_u32, 0_u64, 0_u64);
        for delay in self.recent(now_ns, window).flatten() {
            (packets, sum, most) = (packets + 1, sum + delay, most.max(delay));
        }
        (packets > 0).then(|| (sum as f64 / f64::from(packets) / 1e6, most as f64 / 1e6))
    }
}
