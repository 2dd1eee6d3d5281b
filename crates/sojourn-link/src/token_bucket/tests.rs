use super::*;
use proptest::prelude::*;
use sojourn_base::Span;
use std::vec::Vec;

/// The definition, literally: a level in units of bit × 10^-12, 128 bits wide.
struct Literal {
    rate: i128,
    depth: i128,
    level: i128,
    at: Instant,
}

const COST: i128 = 8_000_000_000_000;

impl Literal {
    fn new(rate: BitRate, depth: Bytes) -> Self {
        let depth = i128::from(depth.0) * COST;
        Self { rate: i128::from(rate.as_bps()), depth, level: depth, at: Instant::ZERO }
    }

    fn accrue(&mut self, now: Instant) {
        let elapsed = i128::from(now.since(self.at).unwrap().as_ps());
        self.level = self.depth.min(self.level + self.rate * elapsed);
        self.at = now;
    }

    fn earliest(&self, bytes: Bytes) -> Instant {
        let missing = (i128::from(bytes.0) * COST).min(self.depth) - self.level;
        if missing <= 0 {
            return self.at;
        }
        let wait = (missing + self.rate - 1) / self.rate;
        self.at + Span::from_ps(u64::try_from(wait).unwrap())
    }

    fn tokens(&self) -> Bytes {
        Bytes(u64::try_from(self.level.max(0) / COST).unwrap())
    }
}

#[derive(Clone, Copy, Debug)]
enum Step {
    Wait(u64),
    /// Wait until a packet fits, then take it.
    Send(u64),
    Refund(u64),
    /// Take the affordable part of this number of bytes.
    Request(u64),
    /// Take this number of bytes, even beyond the tokens.
    Overdraw(u64),
    /// Go on as a bucket of another rate and depth.
    Become(u64, u64),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    prop::collection::vec(
        prop_oneof![
            (0u64..5_000_000_000).prop_map(Step::Wait),
            (0u64..40_000_000_000_000).prop_map(Step::Wait),
            (1u64..1600).prop_map(Step::Send),
            (1u64..70_000).prop_map(Step::Send),
            (1u64..3000).prop_map(Step::Refund),
            (1u64..20_000_000).prop_map(Step::Request),
            (1u64..3000).prop_map(Step::Overdraw),
            (1000u64..1_000_000_000, 1u64..20_000_000).prop_map(|(rate, depth)| Step::Become(rate, depth)),
        ],
        1..200,
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn the_bucket_equals_the_literal_level(
        rate in prop_oneof![1000u64..100_000, 1_000_000u64..1_000_000_000, Just(5_000_000), Just(20_000_000)],
        depth in prop_oneof![1u64..3000, 10_000u64..20_000_000],
        steps in steps(),
    ) {
        let (rate, depth) = (BitRate::from_bps(rate), Bytes(depth));
        let mut bucket = TokenBucket::new(rate, depth);
        let mut literal = Literal::new(rate, depth);
        let mut now = Instant::ZERO;
        for step in steps {
            match step {
                Step::Wait(ps) => now += Span::from_ps(ps),
                Step::Send(bytes) => {
                    let price = bucket.price(Bytes(bytes));
                    let due = bucket.earliest(price).max(now);
                    prop_assert_eq!(due, literal.earliest(Bytes(bytes)));
                    now = due;
                    literal.accrue(now);
                    bucket.debit(now, price);
                    literal.level -= i128::from(bytes) * COST;
                }
                Step::Refund(bytes) => {
                    bucket.credit(now, bucket.price(Bytes(bytes)));
                    literal.level =
                        literal.depth.min(literal.level + i128::from(bytes) * COST);
                }
                Step::Request(bytes) => {
                    let granted = bucket.affordable(now, Bytes(bytes));
                    prop_assert_eq!(granted, literal.tokens().min(Bytes(bytes)));
                    bucket.debit(now, bucket.price(granted));
                    literal.level -= i128::from(granted.0) * COST;
                }
                Step::Overdraw(bytes) => {
                    bucket.debit(now, bucket.price(Bytes(bytes)));
                    literal.level -= i128::from(bytes) * COST;
                }
                Step::Become(rate, depth) => {
                    let mut other = TokenBucket::new(BitRate::from_bps(rate), Bytes(depth));
                    other.take_over(now, &bucket);
                    bucket = other;
                    let level = literal.level;
                    literal = Literal::new(BitRate::from_bps(rate), Bytes(depth));
                    (literal.level, literal.at) = (literal.depth.min(level), now);
                }
            }
            literal.accrue(now);
            prop_assert_eq!(bucket.tokens(now), literal.tokens());
        }
    }

    #[test]
    fn no_interval_carries_more_than_rate_and_depth_allow(
        rate in 10_000u64..1_000_000_000,
        depth in 1600u64..100_000,
        packets in prop::collection::vec((1u64..1600, 0u64..2_000_000_000), 2..60),
    ) {
        let mut bucket = TokenBucket::new(BitRate::from_bps(rate), Bytes(depth));
        let mut now = Instant::ZERO;
        let mut sent = Vec::new();
        for (bytes, gap) in packets {
            now += Span::from_ps(gap);
            let price = bucket.price(Bytes(bytes));
            now = now.max(bucket.earliest(price));
            bucket.debit(now, price);
            sent.push((now, bytes));
        }
        for (i, (from, _)) in sent.iter().enumerate() {
            let mut total = 0;
            for (until, bytes) in &sent[i..] {
                total += u128::from(*bytes);
                let span = u128::from(until.since(*from).unwrap().as_ps());
                let allowed = u128::from(rate) * span + u128::from(depth) * COST.unsigned_abs();
                prop_assert!(total * COST.unsigned_abs() <= allowed);
            }
        }
    }
}

#[test]
fn back_to_back_packets_leave_at_the_rate_once_the_depth_is_spent() {
    // W12-94: 1522 B at 20 Mb/s. The first 1500 B packet leaves at once and 22 B remain; 1478 B more
    // take 591.2 µs, and each packet after that 600 µs.
    let mut bucket = TokenBucket::new(BitRate::from_mbps(20), Bytes(1522));
    let price = bucket.price(Bytes(1500));
    let mut now = Instant::ZERO;
    let mut leave = || {
        now = now.max(bucket.earliest(price));
        bucket.debit(now, price);
        now.as_ns()
    };
    let times: Vec<u64> = (0..4).map(|_| leave()).collect();
    assert_eq!(times, [0, 591_200, 1_191_200, 1_791_200]);
}

#[test]
fn sixteen_idle_seconds_refill_ten_megabytes() {
    // White 2012 §3.2.1 (W12-26): 16 s × 5 Mb/s = 10 MB, and W13-103: never more than the depth.
    let rate = BitRate::from_mbps(5);
    let mut bucket = TokenBucket::new(rate, Bytes(10_000_000));
    bucket.debit(Instant::ZERO, bucket.price(Bytes(10_000_000)));
    for (seconds, bytes) in [(0, 0), (1, 625_000), (15, 9_375_000), (16, 10_000_000), (17, 10_000_000)] {
        assert_eq!(bucket.tokens(Instant::from_s(seconds)), Bytes(bytes));
    }
}

#[test]
fn thirds_of_a_byte_do_not_accumulate_an_error() {
    // At 3 bit/s a byte takes 8/3 s. Two of 3002 one-byte packets leave at once, the other 3000 take
    // exactly 8000 s. (With a depth of one byte the bucket would be full for a fraction of a
    // picosecond each time, and lose it.)
    let mut bucket = TokenBucket::new(BitRate::from_bps(3), Bytes(2));
    let price = bucket.price(Bytes(1));
    let mut now = Instant::ZERO;
    for _ in 0..3002 {
        now = now.max(bucket.earliest(price));
        bucket.debit(now, price);
    }
    assert_eq!(now, Instant::from_s(8000));
}

#[test]
fn a_packet_larger_than_the_depth_passes_when_the_bucket_is_full() {
    let mut bucket = TokenBucket::new(BitRate::from_mbps(8), Bytes(1000));
    let jumbo = bucket.price(Bytes(9000));
    bucket.debit(Instant::ZERO, bucket.price(Bytes(1000)));
    assert_eq!(bucket.earliest(jumbo), Instant::from_ms(1));
    bucket.debit(Instant::from_ms(1), jumbo);
    // The debt of 8000 B is paid after 8 ms, and one byte more is there after another microsecond.
    assert_eq!(bucket.tokens(Instant::from_ms(9)), Bytes::ZERO);
    assert_eq!(bucket.earliest(bucket.price(Bytes(1))), Instant::from_us(9001));
}
