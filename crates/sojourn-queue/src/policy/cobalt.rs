//! COBALT: a `CoDel` that leaves its episodes by the same steps as it enters them, and a BLUE for what does not answer.
//!
//! Source: ns-3 `cobalt-queue-disc.cc`, Linux `sch_cake` (`cobalt_should_drop`, `cake_dequeue`, `cake_set_rate`);
//! Palmei and others, "Design and Evaluation of COBALT Queue Discipline" (2019).
//! Units and ranges: delays in picoseconds; the BLUE likelihood is in 0..=1.
//! Deviations: the clock of BLUE starts with the first packet; a packet that BLUE drops is not marked before. Waits are
//! exact, where Linux takes one step of Newton's method from the last one (`cobalt_newton_step`: up to 0.16 % shorter). CAKE
//! reckons with the rate of its shaper, [`CobaltLaw::allows_link_time`] with that of the link, and with its
//! request-grant loop, behind which CAKE is not meant to stand.

use crate::QueueContext;
use crate::policy::codel::spacing;
use sojourn_base::native::IN_TAB;
use sojourn_base::{BitRate, Bytes, Instant, Span};
use sojourn_keys::{Key, Parameter, Visitor, key, origin, parameters};

const LONGEST: &str = "600 s";

parameters! {
    /// Parameters of COBALT.
    #[derive(Copy)]
    pub struct CobaltLaw {
        /// acceptable standing delay
        target: Span = Span::from_ms(5), origin("Linux sch_cake").least("1 us").most(LONGEST);
        /// how long the delay may stay above target before the first signal
        interval: Span = Span::from_ms(100), origin("Linux sch_cake").least("1 us").most(LONGEST);
        /// mark ECN-capable packets instead of dropping them; BLUE drops them all the same
        ecn: bool = false, origin("ns-3: off");
        /// the last packet of a queue is marked at most, never dropped (CAKE); otherwise it is dropped as any other (ns-3)
        ///
        /// By BLUE neither.
        keeps_last: bool = true, origin("Linux sch_cake; ns-3: off");
        /// what the link itself takes is no delay: four packets at its rate (CAKE), and its request-grant loop; target is at least a packet and a half
        allows_link_time: bool = true,
            origin("Linux sch_cake, with the rate of the link for that of its shaper; chosen for the loop; ns-3: off");
        /// also mark each ECN-capable packet whose delay is above this
        ce_threshold: Option<Span> = None, origin("ns-3: off").or("off").least("1 us");
        /// what an overflow adds to the likelihood of a BLUE drop, once per target
        increment: f64 = 1.0 / 256.0, origin("Linux sch_cake: 1/256").least("0").most("1");
        /// what an empty queue takes off that likelihood, once per target
        decrement: f64 = 1.0 / 4096.0, origin("Linux sch_cake: 1/4096").least("0").most("1");
        /// delay above which a packet counts as an overflow
        blue_threshold: Span = Span::from_ms(400), origin("ns-3").least("1 us").most(LONGEST);
        // Source of the alternative: Linux `cobalt_vars_init` leaves the reciprocal of the root at 0, where its table has 1.
        first_wait: bool = true => first_wait;
    }
    profiles {
        /// Linux: 5 ms in 100 ms, BLUE by 1/256 and 1/4096; as in ns-3 from 400 ms on, too.
        LINUX {}
        /// ns-3, which drops the last packet of a queue as well and knows nothing of the link.
        NS3 { keeps_last = false; allows_link_time = false; }
    }
}

/// No lesson has it, and the engine of browsers is small.
fn first_wait(value: &mut bool, visitor: &mut dyn Visitor) {
    const KEY: Key = key(
        "first_wait",
        "the first episode of a fresh queue begins with a wait, as each later one; otherwise with a signal",
        "ns-3; Linux sch_cake: off",
    );
    let is_said = !*value || visitor.has(KEY.name) || visitor.is_exhaustive();
    if !IN_TAB && is_said {
        value.show(KEY, visitor);
    }
}

/// The law as it is for the link that it stands at.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CobaltAtLink {
    /// With target and interval as they are there.
    law: CobaltLaw,
    /// As it was asked for.
    said: CobaltLaw,
    /// The rate that it was made for; zero without any.
    rate: BitRate,
    /// Transmission time of four packets.
    four_packets: Span,
    /// Length of the link's request-grant loop.
    request_grant: Span,
}

/// A packet that CAKE reckons with. Source: Linux `psched_mtu` of an Ethernet.
const PACKET: Bytes = Bytes(1514);

impl CobaltAtLink {
    /// At a link of which nothing is known.
    pub const fn new(law: CobaltLaw) -> Self {
        Self { law, said: law, rate: BitRate::ZERO, four_packets: Span::ZERO, request_grant: Span::ZERO }
    }

    /// The law.
    pub const fn law(&self) -> &CobaltLaw {
        &self.law
    }

    /// Looks at the link that asks for a packet.
    #[inline]
    pub(crate) fn look(&mut self, context: &dyn QueueContext) {
        if self.said.allows_link_time {
            self.look_at(context.shaper().rate(), context.loop_delay());
        }
    }

    /// Looks at a rate, and at what a request-grant loop takes.
    #[inline]
    pub(crate) fn look_at(&mut self, rate: BitRate, request_grant: Span) {
        if !self.said.allows_link_time {
            return;
        }
        self.request_grant = request_grant;
        if rate != self.rate {
            self.fit(rate);
        }
    }

    /// Source: Linux `cake_set_rate`: the target is at least a packet and a half, the interval grows as much and is at
    /// least two targets.
    #[cold]
    fn fit(&mut self, rate: BitRate) {
        let packet = if rate > BitRate::ZERO { rate.time_for(PACKET) } else { Span::ZERO };
        let target = self.said.target.max(packet * 3 / 2);
        let interval = self.said.interval + target.saturating_sub(self.said.target);
        self.law = CobaltLaw { target, interval: interval.max(target * 2), ..self.said };
        (self.rate, self.four_packets) = (rate, packet * 4);
    }
}

/// The packet about to leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Leaving {
    /// How long it has waited.
    pub sojourn: Span,
    /// It can carry a mark.
    pub can_mark: bool,
    /// Nothing waits behind it in its queue.
    pub is_last: bool,
}

/// Judgement on the packet about to leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CobaltJudgement {
    /// Send it.
    Pass,
    /// Mark it and send it.
    Mark,
    /// Drop it: its delay stays above target.
    Drop,
    /// Drop it: BLUE does.
    Blue,
}

/// Decision state of one queue.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Cobalt {
    count: u32,
    dropping: bool,
    /// Time of the next signal, or of the next step back.
    drop_next: Instant,
    /// It has signalled or stepped back before.
    has_paced: bool,
    blue: f64,
    /// Time of the last change of the BLUE likelihood, or of the first packet.
    blue_at: Option<Instant>,
}

impl Cobalt {
    /// A packet arrives.
    pub fn on_arrival(&mut self, now: Instant) {
        self.blue_at.get_or_insert(now);
    }

    /// An arrival did not fit.
    pub fn on_overflow(&mut self, law: &CobaltLaw, now: Instant) {
        self.raise_blue(law, now);
        self.dropping = true;
        self.drop_next = now;
        self.count = self.count.max(1);
    }

    /// An opportunity found nothing.
    pub fn on_empty(&mut self, law: &CobaltLaw, now: Instant) {
        if self.blue > 0.0 && self.may_move_blue(law, now) {
            self.blue = (self.blue - law.decrement).max(0.0);
            self.blue_at = Some(now);
        }
        self.dropping = false;
        if self.count > 0 && now >= self.drop_next {
            self.step_back(law);
        }
    }

    /// Decides about a packet.
    pub fn judge(
        &mut self,
        at: &CobaltAtLink,
        now: Instant,
        packet: Leaving,
        draw: impl FnOnce() -> f64,
    ) -> CobaltJudgement {
        let law = &at.law;
        let Leaving { sojourn, can_mark, .. } = packet;
        let delay = sojourn.saturating_sub(at.request_grant);
        let mut due = self.count > 0 && now >= self.drop_next;
        let was_due = due;
        // Of the time before an episode that begins now: after an idle interval the second late packet is signalled at once.
        let mut is_behind = now > self.drop_next;
        self.dropping = if delay > law.target && delay > at.four_packets {
            if !self.dropping {
                let waits = self.has_paced || law.first_wait;
                self.drop_next = if waits { now + spacing(law.interval, self.count.max(1)) } else { now };
            }
            self.count = self.count.max(1);
            true
        } else {
            false
        };
        let signals = was_due && self.dropping;
        if signals {
            self.has_paced = true;
            self.count = self.count.saturating_add(1);
            self.drop_next += spacing(law.interval, self.count);
            is_behind = now > self.drop_next;
        } else {
            while due {
                self.step_back(law);
                is_behind = now > self.drop_next;
                due = self.count > 0 && now >= self.drop_next;
            }
        }
        if sojourn > law.blue_threshold {
            self.raise_blue(law, now);
        }
        let marks = signals && law.ecn && can_mark;
        let blue = self.blue > 0.0 && draw() < self.blue;
        let condemned = blue || signals && !marks;
        // The clock goes on as if a last packet that is kept had been dropped.
        if self.count == 0 {
            self.drop_next = now + law.interval;
        } else if is_behind && !condemned {
            self.drop_next = now;
        }
        let drops = condemned && !(packet.is_last && law.keeps_last);
        let judgement = match (drops, blue) {
            (true, true) => CobaltJudgement::Blue,
            (true, false) => CobaltJudgement::Drop,
            (false, _) if marks => CobaltJudgement::Mark,
            (false, _) => CobaltJudgement::Pass,
        };
        let late = law.ce_threshold.is_some_and(|threshold| sojourn > threshold);
        if judgement == CobaltJudgement::Pass && late && law.ecn && can_mark {
            CobaltJudgement::Mark
        } else {
            judgement
        }
    }

    /// The likelihood of a BLUE drop.
    pub const fn blue(&self) -> f64 {
        self.blue
    }

    /// Signals that set the pace.
    pub const fn count(&self) -> u32 {
        self.count
    }

    /// Returns true if COBALT is at rest: nothing of an episode is left.
    pub fn is_at_rest(&self, now: Instant) -> bool {
        self.count == 0 && self.blue <= 0.0 && now >= self.drop_next
    }

    fn step_back(&mut self, law: &CobaltLaw) {
        self.has_paced = true;
        self.count -= 1;
        self.drop_next += spacing(law.interval, self.count);
    }

    fn raise_blue(&mut self, law: &CobaltLaw, now: Instant) {
        if self.may_move_blue(law, now) {
            self.blue = (self.blue + law.increment).min(1.0);
            self.blue_at = Some(now);
        }
    }

    fn may_move_blue(&self, law: &CobaltLaw, now: Instant) -> bool {
        self.blue_at.is_some_and(|last| now.saturating_since(last) > law.target)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

    const LAW: CobaltLaw = CobaltLaw::LINUX;

    /// A packet that others wait behind.
    fn waited(sojourn: Span, can_mark: bool) -> Leaving {
        Leaving { sojourn, can_mark, is_last: false }
    }

    /// A queue whose last packet has just left in time.
    fn just_served(at: &CobaltAtLink) -> Cobalt {
        let mut cobalt = Cobalt::default();
        assert_eq!(cobalt.judge(at, Instant::ZERO, waited(Span::ZERO, false), || 1.0), CobaltJudgement::Pass);
        cobalt
    }

    fn close(ours: f64, theirs: f64) -> bool {
        (ours - theirs).abs() < 1e-15
    }

    #[test]
    fn blue_rises_with_overflows_and_falls_with_idle_time() {
        let mut cobalt = Cobalt::default();
        cobalt.on_arrival(Instant::ZERO);
        for (ms, blue) in [(0, 0.0), (6, 1.0), (8, 1.0), (12, 2.0)] {
            cobalt.on_overflow(&LAW, Instant::from_ms(ms));
            assert!(close(cobalt.blue(), blue / 256.0), "at {ms} ms");
        }
        cobalt.on_empty(&LAW, Instant::from_ms(20));
        assert!(close(cobalt.blue(), 2.0 / 256.0 - 1.0 / 4096.0));
    }

    #[test]
    fn a_standing_queue_is_signalled_one_interval_after_it_began_or_at_once_after_an_idle_interval() {
        // 1 + 100 after a packet that had not waited, else the packet after the first; then 100/√2, 100/√3 and so on.
        let waits = [101, 172, 230, 280, 325, 365];
        let at_once = [2, 72, 130, 180, 225, 265, 303, 339, 372];
        for (first_wait, was_idle, expected) in
            [(true, false, &waits[..]), (true, true, &at_once), (false, false, &at_once), (false, true, &at_once)]
        {
            let at = CobaltAtLink::new(CobaltLaw { first_wait, ..LAW });
            let mut cobalt = if was_idle { Cobalt::default() } else { just_served(&at) };
            let drops = (1..=400).filter(|ms| {
                let late = waited(Span::from_ms(20), false);
                cobalt.judge(&at, Instant::from_ms(*ms), late, || 1.0) == CobaltJudgement::Drop
            });
            assert_eq!(drops.collect::<Vec<u64>>(), expected, "{first_wait} {was_idle}");
        }
    }

    #[test]
    fn below_target_the_pace_falls_step_by_step() {
        let at = CobaltAtLink::new(LAW);
        let mut cobalt = just_served(&at);
        let judge = |cobalt: &mut Cobalt, ms, sojourn| {
            let packet = waited(Span::from_ms(sojourn), false);
            cobalt.judge(&at, Instant::from_ms(ms), packet, || 1.0)
        };
        for ms in 1..=400 {
            let _ = judge(&mut cobalt, ms, 20);
        }
        assert_eq!(cobalt.count(), 7);
        let mut last = cobalt.count();
        for ms in 401..=1200 {
            assert_eq!(judge(&mut cobalt, ms, 1), CobaltJudgement::Pass);
            assert!(cobalt.count() <= last && cobalt.count() + 1 >= last);
            last = cobalt.count();
        }
        assert_eq!(last, 0);
    }

    #[test]
    fn with_certainty_blue_drops_capable_packets_too() {
        let at = CobaltAtLink::new(CobaltLaw { ecn: true, ..LAW });
        let mut cobalt = Cobalt { blue: 1.0, ..Cobalt::default() };
        for _ in 0..10 {
            let packet = waited(Span::ZERO, true);
            let judgement = cobalt.judge(&at, Instant::from_ms(1), packet, || 0.999);
            assert_eq!(judgement, CobaltJudgement::Blue);
        }
    }

    #[test]
    fn marks_take_the_place_of_drops_and_a_threshold_adds_some() {
        let at = CobaltAtLink::new(CobaltLaw { ecn: true, ce_threshold: Some(Span::from_ms(1)), ..LAW });
        let mut cobalt = Cobalt::default();
        let mut judge = |us, can_mark| {
            let packet = waited(Span::from_us(us), can_mark);
            cobalt.judge(&at, Instant::from_ms(1), packet, || 1.0)
        };
        assert_eq!(judge(1000, true), CobaltJudgement::Pass);
        assert_eq!(judge(1001, true), CobaltJudgement::Mark);
        assert_eq!(judge(1001, false), CobaltJudgement::Pass);
    }

    /// Returns the judgements other than to pass on packets with an empty queue behind them, each `sojourn` old, one a
    /// millisecond from 1 ms on.
    fn alone(at: &CobaltAtLink, sojourn: Span, can_mark: bool) -> Vec<(u64, CobaltJudgement)> {
        let mut cobalt = just_served(at);
        let packet = Leaving { sojourn, can_mark, is_last: true };
        (1..=250)
            .map(|ms| (ms, cobalt.judge(at, Instant::from_ms(ms), packet, || 1.0)))
            .filter(|(_, judgement)| *judgement != CobaltJudgement::Pass)
            .collect()
    }

    #[test]
    fn the_last_packet_of_a_queue_is_marked_at_most_in_linux_and_dropped_in_ns3() {
        let marking = CobaltLaw { ecn: true, ..LAW };
        let wait = Span::from_ms(20);
        let of = |law, can_mark| alone(&CobaltAtLink::new(law), wait, can_mark);
        // Due as in a standing queue: what is kept counts as what is dropped.
        let at = |judgement| [101, 172, 230].map(|ms| (ms, judgement));
        assert_eq!(of(LAW, false), []);
        assert_eq!(of(marking, true), at(CobaltJudgement::Mark));
        assert_eq!(of(marking, false), []);
        assert_eq!(of(CobaltLaw::NS3, false), at(CobaltJudgement::Drop));
    }

    #[test]
    fn blue_spares_the_last_packet_and_leaves_it_its_mark() {
        let begun = Cobalt { blue: 1.0, count: 1, dropping: true, ..Cobalt::default() };
        for (keeps_last, is_last, can_mark, expected) in [
            (true, true, true, CobaltJudgement::Mark),
            (true, true, false, CobaltJudgement::Pass),
            (true, false, true, CobaltJudgement::Blue),
            (false, true, true, CobaltJudgement::Blue),
        ] {
            let at = CobaltAtLink::new(CobaltLaw { ecn: true, keeps_last, ..LAW });
            let packet = Leaving { is_last, ..waited(Span::from_ms(6), can_mark) };
            let mut cobalt = begun;
            let judgement = cobalt.judge(&at, Instant::from_ms(1), packet, || 0.0);
            assert_eq!(judgement, expected);
        }
    }

    #[test]
    fn four_packets_at_the_rate_of_the_link_are_no_delay_and_target_is_a_packet_and_a_half() {
        // 1514 B take 12.112 ms at 1 Mb/s: 5 ms become 18.168, 100 ms become 113.168; four packets take 48.448 ms.
        let mut at = CobaltAtLink::new(CobaltLaw { ecn: true, ..LAW });
        at.fit(BitRate::from_mbps(1));
        assert_eq!(at.law.target, Span::from_us(18_168));
        assert_eq!(at.law.interval, Span::from_us(113_168));
        assert_eq!(alone(&at, Span::from_us(48_448), true), []);
        // Late from 1 ms on, so the first signal comes with the packet after 114.168 ms.
        let marks = alone(&at, Span::from_us(48_449), true);
        assert_eq!(marks.first(), Some(&(115, CobaltJudgement::Mark)));
        // At 0.1 Mb/s a packet and a half take 181.68 ms, and the interval twice that.
        at.fit(BitRate::from_kbps(100));
        assert_eq!(at.law.interval, Span::from_us(363_360));
        // At 100 Mb/s nothing changes.
        at.fit(BitRate::from_mbps(100));
        assert_eq!((at.law.target, at.law.interval), (LAW.target, LAW.interval));
    }

    #[test]
    fn what_the_request_grant_loop_takes_is_no_delay() {
        let at = CobaltAtLink { request_grant: Span::from_ms(6), ..CobaltAtLink::new(CobaltLaw { ecn: true, ..LAW }) };
        assert_eq!(alone(&at, Span::from_ms(11), true), []);
        assert_eq!(alone(&at, Span::from_us(11_001), true).first(), Some(&(101, CobaltJudgement::Mark)));
    }

    /// Linux `cake_set_rate` without a rate: target and interval stay.
    #[test]
    fn without_a_rate_the_law_stays() {
        let mut at = CobaltAtLink::new(CobaltLaw { allows_link_time: true, ..LAW });
        at.look_at(BitRate::from_mbps(1), Span::ZERO);
        assert_eq!(at.law().target, Span::from_us(18_168), "1514 B and a half");
        at.look_at(BitRate::ZERO, Span::ZERO);
        assert_eq!((at.law().target, at.law().interval), (LAW.target, LAW.interval));
    }

    #[test]
    fn at_rest_nothing_of_an_episode_is_left() {
        let now = Instant::from_s(1);
        let rest = Cobalt::default();
        assert!(rest.is_at_rest(now));
        for busy in [
            Cobalt { count: 1, ..rest },
            Cobalt { blue: 0.1, ..rest },
            Cobalt { drop_next: now + Span::from_ms(1), ..rest },
        ] {
            assert!(!busy.is_at_rest(now), "{busy:?}");
        }
    }
}
