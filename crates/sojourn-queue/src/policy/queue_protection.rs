//! Queue Protection: which flow fills a low-latency queue, and whether a packet of it must go to another one.
//!
//! Each packet is charged its length times the native likelihood of a mark. A flow's charges age at a constant rate, so
//! a bucket holds nothing but the time at which they will have aged away: its distance from now is the flow's queuing
//! score. If the delay is above a threshold and the score is high for it, the packet is sanctioned; nothing is
//! remembered against the flow beyond its score.
//!
//! Source: RFC 9957 §4 and §5; DOCSIS 3.1 MULPI annex P; docsis-ns3 `queue-protection.cc`.
//! Units and ranges: scores are times in 0..=5 s, in steps of 1 ns (`T_RES`).
//! Deviations: a flow is known by its 32-bit hash, not by its addresses and ports; two flows with one hash share a
//! bucket.

use alloc::vec::Vec;
use sojourn_base::{Instant, Span, math};
use sojourn_keys::{origin, parameters};

/// RFC 9957 §4.1: no score is above it (`MAX_QLSCORE`).
const LARGEST_SCORE: Span = Span::from_s(5);

parameters! {
    /// Parameters of Queue Protection (RFC 9957 §4.1, DOCSIS 3.1 MULPI annex P).
    #[derive(Copy, Eq)]
    pub struct QueueProtectionLaw {
        /// no sanction up to this delay; "auto" is the delay from which everything is marked
        ///
        /// `CRITICALqL`.
        critical_delay: Option<Span> = None, origin("RFC 9957 §4.1").or("auto").least("1 us").most("65535 us");
        /// queuing score that is too much at the critical delay; less is at a longer one
        ///
        /// `CRITICALqLSCORE`.
        critical_score: Span = Span::from_us(4000), origin("RFC 9957 §4.1").least("1 us").most("65535 us");
        /// scores age at 2 to this power congested bytes per second
        ///
        /// Nearly (`LG_AGING`).
        aging_exponent: u8 = 19, origin("RFC 9957 §4.1").most("30");
        /// there are 2 to this power buckets for flows, and one for all others
        ///
        /// `BI_SIZE`.
        bucket_exponent: u8 = 5, origin("RFC 9957 §4.1").most("14");
        /// buckets that a flow may own, at most one at a time
        ///
        /// `ATTEMPTS`.
        attempts: u8 = 2, origin("RFC 9957 §4.1").least("1").most("4");
    }
    profiles {
        /// RFC 9957 §4.1, DOCSIS 3.1 MULPI annex P.
        RFC9957 {}
    }
}

/// A flow's score, or that of all flows without a bucket of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Bucket {
    /// Hash of the flow that it belongs to.
    flow: u32,
    /// Time at which its charges will have aged away.
    expires: Instant,
}

/// Score of a packet by Queue Protection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Score {
    /// Bucket of the flow's score; the last number is that of flows without one of their own.
    pub bucket: u32,
    /// The flow's queuing score, this packet included.
    pub score: Span,
    /// The delay is above that up to which nothing is sanctioned.
    pub late: bool,
    /// The packet must leave the low-latency queue.
    pub sanctioned: bool,
}

/// The scores of all flows.
#[derive(Clone, Debug)]
pub struct QueueProtection {
    law: QueueProtectionLaw,
    /// The last one is for flows that find no other.
    buckets: Vec<Bucket>,
}

impl QueueProtectionLaw {
    /// Bytes of the buckets.
    pub(crate) const fn bytes(&self) -> u64 {
        ((1 << self.bucket_exponent) + 1) * size_of::<Bucket>() as u64
    }
}

impl QueueProtection {
    /// No scores.
    pub fn new(law: QueueProtectionLaw) -> Self {
        let empty = Bucket { flow: 0, expires: Instant::ZERO };
        Self { law, buckets: alloc::vec![empty; (1 << law.bucket_exponent) + 1] }
    }

    /// A packet of `length` bytes arrives whose delay will be `delay`, with this native likelihood of a mark. The
    /// delay from which the ramp marks everything is `ceiling`.
    pub fn judge(
        &mut self,
        now: Instant,
        flow: u32,
        length: u32,
        likelihood: f64,
        delay: Span,
        ceiling: Span,
    ) -> Score {
        let bucket = self.pick(now, flow);
        let score = self.fill(bucket, now, length, likelihood);
        let critical = self.law.critical_delay.unwrap_or(ceiling);
        let product = |delay: Span, score: Span| u128::from(delay.as_ps()) * u128::from(score.as_ps());
        let late = delay > critical;
        Score {
            bucket: number(bucket),
            score,
            late,
            sanctioned: late && product(delay, score) > product(critical, self.law.critical_score),
        }
    }

    /// The bucket that holds what its flow could not find one for.
    pub fn overflow(&self) -> u32 {
        number(self.overflow_place())
    }

    /// The score in a bucket.
    pub fn score_in(&self, bucket: u32, now: Instant) -> Span {
        self.buckets[bucket as usize].expires.saturating_since(now)
    }

    fn overflow_place(&self) -> usize {
        self.buckets.len() - 1
    }

    /// The flow's bucket: its own, else the first of its candidates whose charges have aged away, else the common one.
    fn pick(&mut self, now: Instant, flow: u32) -> usize {
        let overflow = self.overflow_place();
        let mut kept = overflow;
        for attempt in 0..u32::from(self.law.attempts) {
            let shifted = flow.checked_shr(attempt * u32::from(self.law.bucket_exponent)).unwrap_or(0);
            let place = shifted as usize & (overflow - 1);
            let bucket = &mut self.buckets[place];
            if bucket.flow == flow {
                bucket.expires = bucket.expires.max(now);
                return place;
            }
            if kept == overflow && bucket.expires <= now {
                kept = place;
            }
        }
        let bucket = &mut self.buckets[kept];
        bucket.expires = bucket.expires.max(now);
        bucket.flow = flow;
        kept
    }

    /// Charges a bucket; what is then in it.
    fn fill(&mut self, place: usize, now: Instant, length: u32, likelihood: f64) -> Span {
        let charge = likelihood * f64::from(length) * f64::from(1_u32 << (30 - self.law.aging_exponent));
        let bucket = &mut self.buckets[place];
        let expires = bucket.expires.saturating_add(whole_nanoseconds(charge));
        bucket.expires = expires.min(now.saturating_add(LARGEST_SCORE));
        bucket.expires.saturating_since(now)
    }
}

/// RFC 9957 §4.1: a charge is kept in whole units of 1 ns (`T_RES`), rounded down.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at most 65,535 bytes times 2^30")]
fn whole_nanoseconds(charge: f64) -> Span {
    Span::from_ns(math::floor(charge) as u64)
}

#[expect(clippy::cast_possible_truncation, reason = "at most 2^14 buckets")]
const fn number(place: usize) -> u32 {
    place as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const LAW: QueueProtectionLaw = QueueProtectionLaw::RFC9957;
    const MS: Span = Span::from_ms(1);

    #[test]
    fn score_and_delay_together_sanction_a_packet() {
        let mut protection = QueueProtection::new(LAW);
        for (at_ms, likelihood, delay_us, score_ns, sanctioned) in [
            (0, 1.0, 1200, 3_072_000, false),
            (0, 1.0, 1200, 6_144_000, true),
            (5, 0.5, 1100, 2_680_000, false),
            (20, 0.0, 900, 0, false),
        ] {
            let delay = Span::from_us(delay_us);
            let now = Instant::from_ms(at_ms);
            let found = protection.judge(now, 7, 1500, likelihood, delay, MS);
            assert_eq!(found.score, Span::from_ns(score_ns));
            assert_eq!(found.late, delay_us > 1000, "{found:?}");
            assert_eq!(found.sanctioned, sanctioned, "{found:?}");
        }
    }

    /// RFC 9957 section 4.2: sanctioned is a product above the critical one. 2000 B are charged 4.096 ms, which are as much at 2 ms
    /// as 8.192 ms at 1 ms.
    #[test]
    fn a_packet_at_the_critical_product_stays() {
        let law = QueueProtectionLaw { critical_score: Span::from_us(8192), ..LAW };
        for (length, sanctioned) in [(1999, false), (2000, false), (2001, true)] {
            let found = QueueProtection::new(law).judge(Instant::ZERO, 7, length, 1.0, MS * 2, MS);
            assert_eq!((found.late, found.sanctioned), (true, sanctioned), "{length}");
        }
        // Up to the critical delay nothing is sanctioned, whatever the score.
        for (delay, late) in [(MS, false), (MS + Span::from_ns(1), true)] {
            let found = QueueProtection::new(law).judge(Instant::ZERO, 7, 9000, 1.0, delay, MS);
            assert_eq!((found.late, found.sanctioned), (late, late), "{delay}");
        }
    }

    #[test]
    fn no_score_is_above_five_seconds() {
        let mut protection = QueueProtection::new(LAW);
        let packets = (1..10_000)
            .find(|_| {
                let found = protection.judge(Instant::ZERO, 7, 1500, 1.0, MS, MS);
                found.score == Span::from_s(5)
            })
            .expect("a number of packets");
        assert_eq!(packets, 1628);
        let found = protection.judge(Instant::ZERO, 7, 1500, 1.0, MS, MS);
        assert_eq!(found.score, Span::from_s(5));
    }

    #[test]
    fn a_flow_keeps_its_bucket_and_takes_only_expired_ones() {
        // The hash of 10.0.0.1:5000 to 10.0.0.2:5001: buckets 2 and 11 of 32.
        let flow = 0x5f99_b162;
        let charge = |protection: &mut QueueProtection, ms, flow, length| {
            let now = Instant::from_ms(ms);
            protection.judge(now, flow, length, 1.0, MS, MS).bucket
        };
        // Bucket 2 is busy with another flow (for 1500 × 2048 ns = 3 ms), 11 is not: 11 is taken.
        let mut protection = QueueProtection::new(LAW);
        assert_eq!(charge(&mut protection, 0, 2, 1500), 2);
        assert_eq!(charge(&mut protection, 0, flow, 3000), 11);
        // Later bucket 2 has expired, but 11 still belongs to the flow.
        assert_eq!(charge(&mut protection, 5, flow, 1500), 11);
        // Both busy with others: the common bucket.
        let mut protection = QueueProtection::new(LAW);
        assert_eq!(charge(&mut protection, 0, 2, 1500), 2);
        assert_eq!(charge(&mut protection, 0, 11, 1500), 11);
        assert_eq!(charge(&mut protection, 0, flow, 1500), 32);
        assert_eq!(protection.overflow(), 32);
        assert_eq!(protection.score_in(32, Instant::ZERO), Span::from_ns(3_072_000));
    }

    #[test]
    fn a_flow_below_the_aging_rate_has_no_score_left_at_its_next_packet() {
        // 1000 B with likelihood 0.5 are charged 1.024 ms.
        for (gap_us, grows) in [(1_030, false), (1_000, true)] {
            let mut protection = QueueProtection::new(LAW);
            let mut score = Span::ZERO;
            for n in 0..100 {
                let now = Instant::from_us(n * gap_us);
                score = protection.judge(now, 3, 1000, 0.5, MS, MS).score;
            }
            assert_eq!(score > Span::from_us(1024), grows, "{score}");
        }
    }

    /// A hash of four bytes and a time of eight take sixteen.
    #[test]
    fn there_are_two_to_the_exponent_buckets_and_the_common_one() {
        for (bucket_exponent, buckets) in [(0, 2), (5, 33), (14, 16_385)] {
            let law = QueueProtectionLaw { bucket_exponent, ..LAW };
            assert_eq!(law.bytes(), 16 * buckets);
            assert_eq!(u64::from(QueueProtection::new(law).overflow()) + 1, buckets);
        }
    }

    #[test]
    fn without_bits_for_buckets_there_is_one_and_the_common_one() {
        let mut protection = QueueProtection::new(QueueProtectionLaw { bucket_exponent: 0, ..LAW });
        let mut bucket = |flow| {
            let found = protection.judge(Instant::ZERO, flow, 1500, 1.0, MS, MS);
            found.bucket
        };
        assert_eq!([bucket(5), bucket(6), bucket(5)], [0, 1, 0]);
    }

    proptest! {
        #[test]
        fn a_sanction_means_a_late_packet_of_a_flow_with_a_score(
            packets in prop::collection::vec((0..3_000_u64, 0..8_u32, 1..9000_u32, 0.0..=1.0, 0..5_000_u64), 1..300),
        ) {
            let mut protection = QueueProtection::new(LAW);
            let mut now = Instant::ZERO;
            for (gap_us, flow, length, likelihood, delay_us) in packets {
                now += Span::from_us(gap_us);
                let delay = Span::from_us(delay_us);
                let found = protection.judge(now, flow, length, likelihood, delay, MS);
                prop_assert!(found.score <= LARGEST_SCORE);
                prop_assert!(!found.sanctioned || (delay > MS && found.score > Span::ZERO));
            }
        }

        #[test]
        fn at_equal_delay_the_larger_score_is_sanctioned_first(
            lengths in prop::collection::vec((1..9000_u32, 1..9000_u32), 1..40),
            delay_us in 0..5_000_u64,
        ) {
            let mut protection = QueueProtection::new(LAW);
            let delay = Span::from_us(delay_us);
            for (one, other) in lengths {
                let one = protection.judge(Instant::ZERO, 1, one, 1.0, delay, MS);
                let other = protection.judge(Instant::ZERO, 2, other, 1.0, delay, MS);
                let (less, more) = if one.score < other.score { (one, other) } else { (other, one) };
                prop_assert!(!less.sanctioned || more.sanctioned || less.score == more.score);
            }
        }
    }
}
