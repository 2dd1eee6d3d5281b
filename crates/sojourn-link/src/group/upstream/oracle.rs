//! Contention against the same rules stepped frame by frame, without registers, queues of events or skipping.
//!
//! Source: docs/models/service-group.md, "To be heard".
//! Deviations: every request is granted in the MAP that acknowledges it, and packets are counted instead of bytes: the
//! channel is nearly idle in these comparisons.

use super::tests::{Homes, advance, arrive, config, us};
use super::{Group, tests};
use alloc::vec;
use alloc::vec::Vec;
use sojourn_base::{RandomStream, Seed};

const FRAME: u64 = 135_000;
const INTERVAL: u64 = 7 * FRAME;

/// Modem state (ns); an unacknowledged request covers `asked` packets.
#[derive(Clone, Default)]
struct Modem {
    queue: Vec<u64>,
    outstanding: usize,
    due: usize,
    /// Opportunities to let pass, while it defers.
    left: Option<u64>,
    /// The MAP that tells of its request, whether it was lost, and for how much it was.
    sent: Option<(u64, bool, usize)>,
    exponent: u32,
    tries: u32,
}

impl Modem {
    fn need(&self) -> usize {
        self.queue.len().saturating_sub(self.outstanding + self.due)
    }

    fn enter(&mut self, random: &mut RandomStream) {
        if self.left.is_none() && self.sent.is_none() && self.need() > 0 && self.due == 0 {
            (self.exponent, self.tries) = (2, 0);
            self.defer(random);
        }
    }

    fn defer(&mut self, random: &mut RandomStream) {
        self.left = Some(random.bits() >> (64 - self.exponent));
    }
}

/// Share of attempts that collide, and the 99th percentile of delay in ms, of packets that come at `arrivals` (in ns) at
/// their modems, with `opportunities` in each interval.
#[expect(clippy::too_many_lines, reason = "the rules in one piece, in the order of time")]
fn oracle(modems: usize, opportunities: u64, arrivals: &[(u64, usize)], end: u64) -> (f64, f64) {
    let mut random: RandomStream = Seed(9).stream("oracle");
    let mut all = vec![Modem::default(); modems];
    let mut arrivals = arrivals.iter().copied().peekable();
    // Requests on their way and grants that are known: the MAP that counts them, modem, packets.
    let (mut requests, mut grants) = (Vec::<(u64, usize, usize)>::new(), Vec::new());
    let (mut attempts, mut collided, mut delays) = (0_u64, 0_u64, Vec::new());
    let told = |at: u64| (at + 445_000 + 1_110_000).div_ceil(INTERVAL);
    for frame in 0..end / FRAME {
        let now = frame * FRAME;
        // Opportunities of this frame, one after the other.
        let number = frame % 7;
        let here = ((number + 1) * opportunities).div_ceil(7) - (number * opportunities).div_ceil(7);
        for _ in 0..here {
            let mut users = Vec::new();
            for (port, modem) in all.iter_mut().enumerate() {
                match modem.left {
                    Some(0) => {
                        modem.left = None;
                        if modem.need() > 0 {
                            users.push(port);
                        }
                    }
                    Some(left) => modem.left = Some(left - 1),
                    None => {}
                }
            }
            let is_lost = users.len() > 1;
            for port in users {
                let asked = all[port].need();
                all[port].outstanding += asked;
                all[port].sent = Some((told(now), is_lost, asked));
                attempts += 1;
                if is_lost {
                    collided += 1;
                } else {
                    requests.push((told(now), port, asked));
                }
            }
        }
        // Grants whose first frame is the next one.
        let filled = (now + FRAME) / INTERVAL;
        grants.retain(|(map, port, packets): &(u64, usize, usize)| {
            if *map != filled || !(now + FRAME).is_multiple_of(INTERVAL) {
                return true;
            }
            let modem = &mut all[*port];
            let more = modem.need();
            if more > 0 {
                modem.outstanding += more;
                requests.push((told(now), *port, more));
            }
            modem.due -= packets;
            for came in modem.queue.drain(..*packets) {
                delays.push((map * INTERVAL + 310_000 - came) as f64 / 1e6);
            }
            false
        });
        // Events inside the frame: packets come, and a MAP may be heard.
        let map = (now + 757_500) / INTERVAL + 1;
        let heard = map * INTERVAL - 757_500;
        let mut is_heard = false;
        loop {
            let next = arrivals.peek().filter(|it| it.0 < now + FRAME).copied();
            if !is_heard && heard < now + FRAME && next.is_none_or(|it| heard <= it.0) {
                is_heard = true;
                requests.retain(|(counts, port, packets)| {
                    if *counts == map {
                        let modem = &mut all[*port];
                        modem.outstanding -= packets;
                        modem.due += packets;
                        modem.left = None;
                        grants.push((map, *port, *packets));
                    }
                    *counts != map
                });
                for modem in &mut all {
                    let Some((tells, is_lost, asked)) = modem.sent.filter(|sent| sent.0 == map) else {
                        continue;
                    };
                    debug_assert!(tells == map);
                    modem.sent = None;
                    if !is_lost {
                        modem.enter(&mut random);
                        continue;
                    }
                    modem.outstanding -= asked;
                    if modem.need() == 0 || modem.due > 0 {
                        continue;
                    }
                    if modem.tries == 16 {
                        modem.queue.remove(0);
                        modem.enter(&mut random);
                    } else {
                        modem.exponent = (modem.exponent + 1).min(8);
                        modem.tries += 1;
                        modem.defer(&mut random);
                    }
                }
                continue;
            }
            let Some((at, port)) = next else {
                break;
            };
            let _ = arrivals.next();
            all[port].queue.push(at);
            all[port].enter(&mut random);
        }
    }
    delays.sort_by(f64::total_cmp);
    let p99 = delays[delays.len() * 99 / 100];
    (collided as f64 / attempts as f64, p99)
}

/// The same of a group.
fn engine(modems: usize, opportunities: u32, arrivals: &[(u64, usize)], end: u64) -> (f64, f64) {
    let mut group: Group = tests::group(&config(opportunities), modems);
    let mut homes = Homes::new(modems as u64);
    for (at, port) in arrivals {
        arrive(&mut group, us(*at as f64 / 1e3), *port, 146, &mut homes);
    }
    advance(&mut group, us(end as f64 / 1e3), &mut homes);
    let sum = |of: fn(&sojourn_base::ModemCounters) -> u64| -> u64 {
        (0..modems).map(|port| of(&group.member_counters(port))).sum()
    };
    let collided = sum(|it| it.collided) as f64 / sum(|it| it.attempts) as f64;
    let collectors = homes.collectors.iter();
    let passages = collectors.flat_map(|it| it.delivered.iter().map(|it| it.2));
    let delay = |it: crate::Passage| it.arrives_at.saturating_since(it.entered_at).as_ms_f64();
    let mut delays: Vec<f64> = passages.map(delay).collect();
    delays.sort_by(f64::total_cmp);
    (collided, delays[delays.len() * 99 / 100])
}

#[test]
fn two_hundred_homes_collide_as_often_as_in_the_oracle_however_their_packets_come() {
    // 6000 packets a second at 16 opportunities. The 49 % and 25 ms of the first Monte Carlo are those of packets that come
    // by chance: some of one home then come together and are asked for at once. Packets at regular times are asked for one by
    // one, which is more than 16 opportunities carry, and 60 % collide.
    let (homes, mean, end) = (200, 33_333_333.0, 10_000_000_000_u64);
    let mut random: RandomStream = Seed(3).stream("phases");
    let (mut regular, mut by_chance) = (Vec::new(), Vec::new());
    for port in 0..homes {
        let phase = mean * random.unit();
        for number in 0..299 {
            regular.push((nanoseconds(phase + mean * f64::from(number)), port));
        }
        let mut at = 0.0;
        while at < end as f64 {
            at -= mean * sojourn_base::math::ln(1.0 - random.unit());
            by_chance.push((nanoseconds(at), port));
        }
    }
    for (mut arrivals, collided, p99) in [(regular, 0.605, 50.0), (by_chance, 0.49, 27.0)] {
        arrivals.sort_unstable();
        let found = engine(homes, 16, &arrivals, end);
        let expected = oracle(homes, 16, &arrivals, end);
        assert!((found.0 - expected.0).abs() < 0.015, "{found:?} {expected:?}");
        assert!((found.1 / expected.1 - 1.0).abs() < 0.1, "{found:?} {expected:?}");
        assert!((found.0 - collided).abs() < 0.025, "{found:?}");
        assert!((found.1 / p99 - 1.0).abs() < 0.15, "{found:?}");
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "positive and below a minute")]
fn nanoseconds(ns: f64) -> u64 {
    ns as u64
}
