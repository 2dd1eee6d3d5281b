//! A token bucket whose level is exact at every picosecond, without a level.
//!
//! The state is the instant at which the bucket will be full again (virtual scheduling, as in ITU-T
//! I.371's generic cell rate algorithm): the level at `t` is the depth less what accrues from `t`
//! until then. That instant is rational, so it is kept as whole picoseconds rounded up plus what the
//! rounding gave too much, in units of 1/rate picoseconds. A packet costs one 64-bit division, for
//! its [`Price`]; asking and paying are additions and comparisons.
//!
//! Source: White 2012 §2.2.1 and §3.1.1; the exact integer level of the model notes,
//! `docs/models/docsis30-cascade.md`.
//! Units and ranges: rates from 1 bit/s to 10^18 bit/s; depths whose filling time exceeds 2^63 ps
//! (106 days) count as that time.
//! Deviations: a packet larger than the depth passes when the bucket is full and leaves a debt, as if
//! the bucket were as deep as the packet; the literal rule would hold it for ever.

use sojourn_base::{BitRate, Bytes, Instant};

/// Units of cost per byte: one picosecond accrues `rate` of them.
const BYTE_COST: u64 = 8_000_000_000_000;

/// chosen: a filling time of half the range of time leaves room for sums without overflow.
const LONGEST: u64 = u64::MAX / 2;

/// Price of a number of bytes in one bucket, as the time in which its tokens accrue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Price {
    /// Whole picoseconds.
    whole: u64,
    /// The rest in units of 1/rate picoseconds, less than the rate.
    part: u64,
}

/// A bucket that fills at a constant rate up to its depth, full at first.
#[derive(Clone, Copy, Debug)]
pub struct TokenBucket {
    rate: u64,
    /// Picoseconds in which a byte accrues if that is a whole number, which it is at all usual rates;
    /// zero otherwise. It saves the divisions.
    byte_time: u64,
    depth: Bytes,
    depth_price: Price,
    /// Time at which the bucket is full again, in picoseconds rounded up; any past instant if it is full.
    full_at: u64,
    /// Excess of the rounding of `full_at`, in units of 1/rate picoseconds.
    excess: u64,
}

impl TokenBucket {
    /// A full bucket.
    ///
    /// # Panics
    /// If the rate is zero or above 10^18 bit/s.
    pub fn new(rate: BitRate, depth: Bytes) -> Self {
        let rate = rate.as_bps();
        assert!(rate > 0, "a rate of zero never accrues a token");
        assert!(rate <= 1_000_000_000_000_000_000, "rates end at 10^18 bit/s");
        Self {
            rate,
            byte_time: if BYTE_COST.is_multiple_of(rate) { BYTE_COST / rate } else { 0 },
            depth,
            depth_price: price(rate, depth),
            full_at: 0,
            excess: 0,
        }
    }

    /// Holds what `before` does at `now`, as far as it fits; a debt stays.
    pub(crate) fn take_over(&mut self, now: Instant, before: &Self) {
        let room = |bucket: &Self| u128::from(bucket.depth.0) * u128::from(BYTE_COST);
        // In units of cost, of which each picosecond brings as many as the rate has: exact.
        let ahead = u128::from(before.full_at.saturating_sub(now.as_ps()));
        let missing = (ahead * u128::from(before.rate)).saturating_sub(before.excess.into());
        let missing = (room(self) + missing).saturating_sub(room(before));
        let rate = u128::from(self.rate);
        let whole = u64::try_from(missing.div_ceil(rate)).unwrap_or(LONGEST);
        self.full_at = now.as_ps().saturating_add(whole.min(LONGEST));
        self.excess = u64::try_from((u128::from(whole) * rate).saturating_sub(missing)).unwrap_or(0);
    }

    /// How much it holds at most.
    #[must_use]
    pub const fn depth(&self) -> Bytes {
        self.depth
    }

    /// Returns the price of `bytes`.
    #[must_use]
    pub fn price(&self, bytes: Bytes) -> Price {
        match bytes.0.checked_mul(self.byte_time) {
            Some(whole @ 1..LONGEST) => Price { whole, part: 0 },
            _ => price(self.rate, bytes),
        }
    }

    /// The first picosecond at which the bucket holds `price`; may lie in the past.
    #[must_use]
    pub fn earliest(&self, price: Price) -> Instant {
        if price >= self.depth_price {
            return Instant::from_ps(self.full_at);
        }
        // full_at - excess/rate - depth + price, rounded up.
        let have = self.excess + self.depth_price.part;
        let (up, down) = if price.part > have { (1, 0) } else { (0, u64::from(have - price.part >= self.rate)) };
        let due = (self.full_at + price.whole + up).saturating_sub(self.depth_price.whole + down);
        Instant::from_ps(due)
    }

    /// Take `price` out of the bucket. A caller that has not waited for [`TokenBucket::earliest`] leaves a debt.
    pub fn debit(&mut self, now: Instant, price: Price) {
        let now = now.as_ps();
        if self.full_at <= now {
            self.full_at = now;
            self.excess = 0;
        }
        self.full_at = self.full_at.saturating_add(price.whole);
        if price.part > self.excess {
            self.full_at = self.full_at.saturating_add(1);
            self.excess += self.rate - price.part;
        } else {
            self.excess -= price.part;
        }
    }

    /// Put `price` back; what does not fit is lost.
    pub fn credit(&mut self, now: Instant, price: Price) {
        if self.full_at <= now.as_ps() {
            return;
        }
        self.excess += price.part;
        let carry = u64::from(self.excess >= self.rate);
        if carry == 1 {
            self.excess -= self.rate;
        }
        self.full_at = self.full_at.saturating_sub(price.whole + carry);
    }

    /// Whole bytes in the bucket at `now`, which is not before the last debit.
    #[must_use]
    pub fn tokens(&self, now: Instant) -> Bytes {
        let Some(level) = self.level(now) else {
            return self.depth;
        };
        // The part is less than a picosecond's worth.
        if let Some(bytes) = level.whole.checked_div(self.byte_time) {
            return Bytes(bytes.min(self.depth.0));
        }
        // The level as bytes: (whole · rate + part) / BYTE_COST.
        let bytes = level.whole.checked_mul(self.rate).and_then(|units| units.checked_add(level.part)).map_or_else(
            || {
                let units = u128::from(level.whole) * u128::from(self.rate) + u128::from(level.part);
                u64::try_from(units / u128::from(BYTE_COST)).unwrap_or(u64::MAX)
            },
            |units| units / BYTE_COST,
        );
        Bytes(bytes.min(self.depth.0))
    }

    /// As much of `need` as the bucket holds at `now`, in whole bytes.
    #[must_use]
    pub fn affordable(&self, now: Instant, need: Bytes) -> Bytes {
        match self.level(now) {
            None => need.min(self.depth),
            Some(level) if level >= self.price(need) => need,
            Some(_) => self.tokens(now).min(need),
        }
    }

    /// The level as the time in which it accrues; `None` if the bucket is full. A debt is zero.
    fn level(&self, now: Instant) -> Option<Price> {
        let now = now.as_ps();
        if self.full_at <= now {
            return None;
        }
        let part = self.depth_price.part + self.excess;
        let carry = u64::from(part >= self.rate);
        let part = if carry == 1 { part - self.rate } else { part };
        let level = (self.depth_price.whole + carry).checked_sub(self.full_at - now).map(|whole| Price { whole, part });
        Some(level.unwrap_or_default())
    }
}

fn price(rate: u64, bytes: Bytes) -> Price {
    if let Some(cost) = bytes.0.checked_mul(BYTE_COST) {
        return Price { whole: cost / rate, part: cost % rate };
    }
    // More than 2.3 MB: a depth, or the request of a long queue.
    let cost = u128::from(bytes.0) * u128::from(BYTE_COST);
    match u64::try_from(cost / u128::from(rate)) {
        Ok(whole) if whole < LONGEST => {
            Price { whole, part: u64::try_from(cost % u128::from(rate)).expect("a remainder is below the rate") }
        }
        _ => Price { whole: LONGEST, part: 0 },
    }
}

#[cfg(test)]
mod tests;
