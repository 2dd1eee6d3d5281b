//! Packets as a capture has them: each leaves at its own time, with its own length and marks, independent of the fate
//! of earlier ones.
//!
//! An open loop: an application that would slow down, a TCP among them, does not do so here.
//!
//! Source: none. Deviations: chosen: repeated, the list begins again after its length and one mean gap.

mod list;

pub use list::{ListedPacket, MOST_PACKETS, PacketList};

use crate::keys::{DIRECTION, START, START_JITTER};
use crate::{Application, ApplicationContext, ApplicationKind, Event, Interest};
use sojourn_base::{Bytes, Direction, Ecn, Instant, Span};
use sojourn_keys::{Mismatch, origin, parameters, words};

words! {
    /// Source of the packets' marks.
    pub enum CaptureMarking {
        /// those of the capture, packet by packet
        Keep = "keep",
        /// DSCP 0, not ECN-capable
        None = "none",
        /// DSCP 45, not ECN-capable (RFC 9956)
        Nqb = "nqb",
    }
}

parameters! {
    /// Parameters of [`Capture`].
    pub struct CaptureConfig: "capture", "packets as a capture has them, whatever becomes of them" {
        /// time in ns, length, DSCP and ECN of each; omitted fields are as before, `+` counts from the packet before, `<` goes the other way. From a file: `--set traffic.NAME.app.packets=@FILE`, of `sojourn capture extract` or a capture
        packets: PacketList = PacketList::NONE, origin("no default: it is the capture").required("\"0 200 45; +20000000\"");
        direction: Direction = Direction::Upstream, DIRECTION;
        /// marks of the packets
        marking: CaptureMarking = CaptureMarking::Keep, origin("chosen: as it was captured");
        /// speed of the replay, relative to the capture
        speed: f64 = 1.0, origin("chosen: as it was captured").least("0.01").most("100");
        /// begins again at its end
        repeat: bool = false, origin("chosen: once, as it was captured");
        start: Span = Span::ZERO, START;
        start_jitter: Span = Span::ZERO, START_JITTER;
    }
}

impl CaptureConfig {
    /// Returns the send time of a packet, after the start of the first round.
    fn sent_at(&self, at: Span) -> Span {
        if self.speed.total_cmp(&1.0).is_eq() { at } else { Span::from_secs_f64(at.as_secs_f64() / self.speed) }
    }

    /// Length of a round: the list and one mean gap; at least 1 us, so that rounds end.
    fn round(&self) -> Span {
        let packets = self.packets.packets();
        let length = packets.last().map_or(Span::ZERO, |last| last.packet.at);
        let gaps = (packets.len() as u64).saturating_sub(1).max(1);
        let round = length + Span::from_ps(length.as_ps() / gaps);
        self.sent_at(round).max(Span::from_us(1))
    }
}

impl ApplicationKind for CaptureConfig {
    fn build(&self) -> Box<dyn Application> {
        Box::new(Capture::new(self))
    }

    fn datagrams(&self) -> Option<(&'static str, Bytes)> {
        let lengths = self.packets.packets().iter();
        let longest = lengths.map(|one| one.packet.length).max();
        Some(("packets", Bytes(longest.unwrap_or_default().into())))
    }

    fn flows(&self) -> u64 {
        2
    }

    fn direction(&self) -> Direction {
        self.direction
    }

    fn is_in_step(&self) -> bool {
        self.start_jitter.is_zero()
    }

    fn problems(&self, _duration: Span) -> Vec<(&'static str, Mismatch)> {
        if self.packets.packets().is_empty() {
            let what = "is missing";
            return vec![("packets", Mismatch::new(what, "for instance --set traffic.NAME.app.packets=@call.sjc"))];
        }
        Vec::new()
    }
}

/// A capture that is sent again.
#[derive(Clone, Debug)]
pub struct Capture {
    config: CaptureConfig,
    round: Span,
    /// Start of the round.
    began: Instant,
    /// The next packet.
    place: usize,
}

impl Capture {
    /// The packets of `config`, at rest until [`Application::start`].
    pub fn new(config: &CaptureConfig) -> Self {
        Self { round: config.round(), config: config.clone(), began: Instant::ZERO, place: 0 }
    }

    /// Returns the time of the next packet, if there is one.
    fn next(&mut self) -> Option<Instant> {
        let count = self.config.packets.packets().len();
        if self.place >= count && self.config.repeat && count > 0 {
            self.place = 0;
            self.began = self.began.saturating_add(self.round);
        }
        let one = self.config.packets.packets().get(self.place)?;
        Some(self.began.saturating_add(self.config.sent_at(one.packet.at)))
    }
}

impl Application for Capture {
    fn interest(&self) -> Interest {
        Interest { delivered: false, acknowledged: false }
    }

    fn start(&mut self, now: Instant, context: &mut dyn ApplicationContext) {
        let delay = crate::jittered(self.config.start, self.config.start_jitter, context);
        self.began = now.saturating_add(delay);
        if let Some(first) = self.next() {
            context.arm(first, 0);
        }
    }

    fn on_event(&mut self, now: Instant, event: Event, context: &mut dyn ApplicationContext) {
        let Event::Timer(_) = event else { return };
        while let Some(due) = self.next() {
            if due > now || !context.work(1) {
                context.arm(due.max(now), 0);
                return;
            }
            let ListedPacket { packet, back } = self.config.packets.packets()[self.place];
            self.place += 1;
            let direction = if back { self.config.direction.reversed() } else { self.config.direction };
            let (dscp, ecn) = match self.config.marking {
                CaptureMarking::Keep => (packet.dscp, packet.ecn),
                CaptureMarking::None => (0, Ecn::NotEct),
                CaptureMarking::Nqb => (45, Ecn::NotEct),
            };
            context.send_marked_datagram(0, direction, packet.length, (dscp, ecn));
        }
    }

    fn bytes(&self) -> usize {
        0 // the list is known before the run
    }

    fn finish(&mut self, _now: Instant, _context: &mut dyn ApplicationContext) {}
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::desk::Desk;

    fn sent(config: &CaptureConfig, until: Instant) -> Vec<(u64, Direction, u32)> {
        let mut desk = Desk::new(1);
        desk.run(&mut Capture::new(config), until);
        let sent = desk.datagrams.iter();
        sent.map(|(at, _, direction, length)| (at.as_ns(), *direction, *length)).collect()
    }

    fn two() -> CaptureConfig {
        CaptureConfig { packets: PacketList::parse("0 200 45; < +4000 1200; +4000 60").unwrap(), ..CaptureConfig::BASE }
    }

    #[test]
    fn every_packet_leaves_at_its_own_time_and_both_ways() {
        use Direction::{Downstream, Upstream};
        let late = CaptureConfig { start: Span::from_us(1), ..two() };
        let expected = [(1_000, Upstream, 200), (5_000, Downstream, 1200), (9_000, Upstream, 60)];
        assert_eq!(sent(&late, Instant::from_ms(1)), expected);
    }

    /// Twice as fast, times are halved; a round is the list and one mean gap: 8 us and 4 us, halved 6 us.
    #[test]
    fn speed_and_repetition_move_times_alone() {
        let fast = CaptureConfig { speed: 2.0, repeat: true, direction: Direction::Downstream, ..two() };
        let times: Vec<u64> = sent(&fast, Instant::from_ns(11_000)).into_iter().map(|(at, ..)| at).collect();
        assert_eq!(times, [0, 2_000, 4_000, 6_000, 8_000, 10_000]);
    }
}
