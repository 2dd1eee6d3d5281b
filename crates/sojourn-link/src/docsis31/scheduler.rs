//! The CMTS's upstream scheduler: a MAP from requests, token buckets, weights and what others leave of the channel.
//!
//! Once for each MAP: proactive grants first, which nothing limits; then as many minislots as tokens and the congestion
//! of the channel allow, shared between the two service flows by weight as far as both want them; then their places.
//! Rates count Ethernet frames. Everything granted is debited, as a debt if it is more than the bucket holds; when the
//! burst has arrived, the MAC headers in it come back, and what was not used comes back to the bucket of the sustained
//! rate. So what both flows send in any time is at most what the rate gives in it, the burst, and what rounding up to
//! minislots or a guarantee went beyond them, which later grants pay back.
//!
//! Source: docsis-ns3 1.2 `model/cmts-upstream-scheduler.cc`; White 2019 §2.1 (the CMTS enforces the rate of the
//! aggregate), §3; RFC 4323 `docsIetfQosParamSetMaxTrafficRate` (a rate counts frames from behind the MAC header to the end
//! of the CRC).
//! Deviations: docsis-ns3 raises both rates by the header of a mean packet of 200 B, which longer packets use up, and
//! forgives what is granted beyond the tokens; a weight whose share is less than a minislot still gives the low-latency
//! flow one; a sustained rate of zero is no limit; proactive grants are never clipped; the peak rate never takes of the sustained
//! one.

use super::aggregate::Aggregate;
use super::config::{Service, UpstreamConfig};
use super::proactive::{Proactive, ProactiveConfig};
use super::timeline::Timeline;
use crate::docsis::congestion::GrantLimit;
use crate::docsis::map::MapDraws;
use crate::token_bucket::TokenBucket;
use crate::{Draw, LinkContext};
use alloc::collections::VecDeque;
use alloc::vec::Vec;
use sojourn_base::{BitRate, Bytes, Instant, WholeBytes, math};

/// Number of the classic service flow, or of the only one.
pub(crate) const CLASSIC: usize = 0;
/// Number of the low-latency service flow.
pub(crate) const LOW_LATENCY: usize = 1;

/// Minislots of a MAP for one service flow, one after the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Grant {
    /// [`CLASSIC`] or [`LOW_LATENCY`].
    pub(super) flow: usize,
    /// First minislot, from the start of the interval.
    pub(super) start: u64,
    /// How many.
    pub(super) length: u64,
}

/// `rate` with what the headers of packets of `mean` bytes need.
pub(super) fn with_headers(rate: BitRate, mean: Bytes, header: u64) -> BitRate {
    let bps = u128::from(rate.as_bps()) * u128::from(mean.0 + header) / u128::from(mean.0.max(1));
    BitRate::from_bps(u64::try_from(bps).unwrap_or(u64::MAX))
}

/// Result of a granted burst, as the CMTS learns it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Outcome {
    /// Bytes granted and not used.
    pub(super) unused: u64,
    /// Bytes of MAC headers in it.
    pub(super) headers: u64,
}

/// See the module.
#[derive(Clone, Debug)]
pub(super) struct Scheduler {
    timeline: Timeline,
    /// 1 if the only service flow of its modem has proactive grants: it counts as [`LOW_LATENCY`] here. Else 0.
    only: usize,
    weight: u64,
    sustained: Option<TokenBucket>,
    peak: Option<TokenBucket>,
    /// The sustained rate; zero where several service flows share its bucket.
    rate: BitRate,
    /// Part of a byte of the sustained rate that earlier MAPs left.
    rest: WholeBytes,
    /// Bytes that the sustained rate brings from one MAP to the next, and those that came back since. The peak rate takes none of
    /// them, though its bucket overflows between MAPs that are further apart than `peak_interval`, and gets no bytes back of grants
    /// that were not used.
    sustained_in_map: u64,
    /// Buckets of the flows of an aggregate that have a rate of their own.
    own: [Option<TokenBucket>; 2],
    /// Requested and not granted, of each flow.
    backlog: [u64; 2],
    pub(super) proactive: Option<Proactive>,
    limit: GrantLimit,
    /// Bytes that others left in earlier MAPs, less than a minislot of them.
    left: u64,
    offsets: MapDraws,
    /// Requests under way: `(when they arrive, flow, bytes)`.
    requests: VecDeque<(Instant, usize, u64)>,
    /// Results of grants: `(time of knowledge, flow, outcome)`.
    outcomes: VecDeque<(Instant, usize, Outcome)>,
    /// Times when it knows that a burst of the low-latency flow arrived, and the starts of their frames.
    uses: VecDeque<(Instant, Instant)>,
    /// Room for the proactive grants of a MAP, and for its polls.
    proactive_grants: VecDeque<(u64, u64)>,
    pub(super) polls: VecDeque<Instant>,
}

impl Scheduler {
    pub(super) fn new(config: &UpstreamConfig, timeline: Timeline) -> Self {
        let header = |rate| with_headers(rate, config.mean_packet, u64::from(config.mac_header));
        let bucket = |rate: BitRate, depth: Bytes| (rate > BitRate::ZERO).then(|| TokenBucket::new(rate, depth));
        let peak_depth = config.peak.bytes_in(config.peak_interval);
        let mut peak = bucket(config.peak, peak_depth);
        if let Some(peak) = &mut peak {
            // It starts empty, an interval before the first MAP.
            let first = timeline.starts_at(timeline.first_map() - 1);
            peak.debit(first, peak.price(peak_depth));
        }
        let is_only = config.service == Service::Single && config.proactive != ProactiveConfig::None;
        Self {
            only: usize::from(is_only),
            weight: u64::from(config.weight),
            sustained: bucket(config.rate, config.burst),
            peak,
            rate: config.rate,
            rest: WholeBytes::default(),
            sustained_in_map: 0,
            own: config.own_rates().map(|rate| bucket(rate, config.burst)),
            backlog: [0; 2],
            proactive: Proactive::new(config.proactive, &timeline, header),
            limit: GrantLimit::new(config.congestion.clone(), timeline.interval, config.channel.capacity()),
            left: 0,
            offsets: MapDraws::new(Draw::GrantOffset),
            requests: VecDeque::new(),
            outcomes: VecDeque::new(),
            uses: VecDeque::new(),
            proactive_grants: VecDeque::new(),
            polls: VecDeque::new(),
            timeline,
        }
    }

    /// A request of `bytes` for `flow` arrives at `at`; times never decrease.
    pub(super) fn request(&mut self, at: Instant, flow: usize, bytes: u64) {
        self.requests.push_back((at, flow | self.only, bytes));
    }

    /// Takes the result of a grant for `flow`, known at `at`.
    pub(super) fn learn(&mut self, at: Instant, flow: usize, outcome: Outcome) {
        let flow = flow | self.only;
        match self.outcomes.back_mut() {
            Some((last, of, sum)) if (*last, *of) == (at, flow) => {
                sum.unused += outcome.unused;
                sum.headers += outcome.headers;
            }
            _ => self.outcomes.push_back((at, flow, outcome)),
        }
    }

    /// A burst of the low-latency flow is sent in the frame that starts at `frame_at`.
    pub(super) fn on_use(&mut self, frame_at: Instant) {
        if self.proactive.is_some() {
            let known = frame_at + self.timeline.completion();
            self.uses.push_back((known, frame_at));
        }
    }

    /// Nothing is requested or to be granted.
    pub(super) fn is_idle(&self) -> bool {
        self.proactive.is_none() && self.requests.is_empty() && self.backlog == [0; 2]
    }

    /// The bucket of the sustained rate, if there is one, and the time there at `now`.
    pub(super) fn bucket(&self, now: Instant) -> (Option<&TokenBucket>, Instant) {
        // Buckets live on the time of intervals, which is that of their MAPs and the lead.
        (self.sustained.as_ref(), now + self.timeline.lead)
    }

    /// Makes the MAP of interval `map`, into `grants`. Numbers increase.
    pub(super) fn make(&mut self, map: u64, grants: &mut Vec<Grant>, context: &mut (impl LinkContext + ?Sized)) {
        grants.clear();
        let (now, made_at) = (self.timeline.starts_at(map), self.timeline.made_at(map));
        self.hear(made_at, now);
        self.proactive_grants.clear();
        let wanted = self.backlog[LOW_LATENCY] > 0;
        if let Some(proactive) = &mut self.proactive {
            proactive.grants(map, wanted, &self.timeline, &mut self.proactive_grants, &mut self.polls);
        }
        let unasked = self.proactive_grants.iter().map(|(_, length)| length).sum();
        let bytes = self.timeline.minislot_bytes;
        let available = self.tokens_for_map(now).map_or(u64::MAX, |t| t.div_ceil(bytes));
        let mut wanted = self.backlog.map(|backlog| backlog.div_ceil(bytes));
        for (wanted, own) in wanted.iter_mut().zip(&self.own) {
            if let Some(own) = own {
                *wanted = (*wanted).min(own.tokens(now).0.div_ceil(bytes));
            }
        }
        if available == 0 {
            wanted = [0; 2];
        }
        let available = if wanted == [0; 2] { 0 } else { available.min(self.free(map, now, context)) };
        let [classic, low_latency] = allocate(self.weight, available, wanted, unasked);
        if unasked == 0 {
            self.place(map, classic, low_latency, grants, context);
        } else {
            self.place_around(classic, low_latency - unasked, grants);
        }
        self.debit(now, grants);
        if self.only > 0 {
            for grant in grants {
                grant.flow = CLASSIC;
            }
        }
    }

    /// Takes the reports that have arrived by `made_at`.
    fn hear(&mut self, made_at: Instant, now: Instant) {
        while let Some(&(at, flow, bytes)) = self.requests.front()
            && at <= made_at
        {
            self.requests.pop_front();
            self.backlog[flow] += bytes;
        }
        // Outcomes of two flows may be known out of order.
        let mut back = [Outcome::default(); 2];
        self.outcomes.retain(|&(at, flow, outcome)| {
            let is_known = at <= made_at;
            if is_known {
                back[flow].unused += outcome.unused;
                back[flow].headers += outcome.headers;
            }
            !is_known
        });
        let headers = back.map(|outcome| outcome.headers);
        let [classic, low_latency] = back.map(|outcome| outcome.unused + outcome.headers);
        self.sustained_in_map = if self.rate > BitRate::ZERO {
            self.rest.pass(self.rate, self.timeline.interval).0 + classic + low_latency
        } else {
            0
        };
        let [of_classic, of_low_latency] = &mut self.own;
        for (bucket, bytes) in [
            (&mut self.sustained, classic + low_latency),
            (&mut self.peak, headers.iter().sum()),
            (of_classic, classic),
            (of_low_latency, low_latency),
        ] {
            if let Some(bucket) = bucket
                && bytes > 0
            {
                bucket.credit(now, bucket.price(Bytes(bytes)));
            }
        }
        while let Some(&(at, frame_at)) = self.uses.front()
            && at <= made_at
        {
            self.uses.pop_front();
            if let Some(proactive) = &mut self.proactive {
                proactive.on_use(frame_at, self.timeline.frame);
            }
        }
    }

    /// Tokens of the emptier bucket, of the peak rate at least what the sustained one brings; `None` without buckets.
    fn tokens_for_map(&self, now: Instant) -> Option<u64> {
        let tokens = |bucket: &Option<TokenBucket>| bucket.as_ref().map(|b| b.tokens(now).0);
        match (tokens(&self.sustained), tokens(&self.peak)) {
            (Some(sustained), Some(peak)) => Some(sustained.min(peak.max(self.sustained_in_map))),
            (one, other) => one.or(other),
        }
    }

    /// Hands it the buckets of an aggregate for the MAP whose interval starts at `now`, but for what is kept for others: with
    /// `rivals` who want something, itself among them, it gets an even share. Returns what is kept.
    pub(super) fn borrow(&mut self, aggregate: &Aggregate, rivals: u64, now: Instant) -> Bytes {
        self.see(aggregate);
        self.rate = BitRate::ZERO;
        let tokens = self.tokens_for_map(now).unwrap_or(0);
        Aggregate::keep([&mut self.sustained, &mut self.peak], tokens, rivals, now)
    }

    /// Its buckets, of the sustained and of the peak rate.
    pub(super) const fn buckets(&self) -> (Option<TokenBucket>, Option<TokenBucket>) {
        (self.sustained, self.peak)
    }

    /// Shows the buckets of an aggregate to queue managers behind the scheduler.
    pub(super) const fn see(&mut self, aggregate: &Aggregate) {
        self.sustained = aggregate.sustained;
        self.peak = aggregate.peak;
    }

    /// Bytes that its flows want in MAP `map`.
    pub(super) fn wanted(&self, map: u64) -> u64 {
        let made_at = self.timeline.made_at(map);
        let arrived = self.requests.iter().filter(|(at, ..)| *at <= made_at);
        let arrived: u64 = arrived.map(|(_, _, bytes)| bytes).sum();
        self.backlog.iter().sum::<u64>() + arrived
    }

    /// Its only flow has this bucket of its own.
    pub(super) const fn limit_classic(&mut self, own: TokenBucket) {
        self.own[self.only] = Some(own);
    }

    /// Minislots that others leave in MAP `map`.
    fn free(&mut self, map: u64, now: Instant, context: &mut (impl LinkContext + ?Sized)) -> u64 {
        let all = self.timeline.minislots();
        if self.limit.is_unlimited() {
            return all;
        }
        let bytes = self.limit.at(map, now, context).0 + self.left;
        let slot = self.timeline.minislot_bytes;
        self.left = bytes % slot;
        (bytes / slot).min(all)
    }

    /// One block at a random place, the low-latency flow first.
    fn place(
        &mut self,
        map: u64,
        classic: u64,
        low_latency: u64,
        grants: &mut Vec<Grant>,
        context: &mut (impl LinkContext + ?Sized),
    ) {
        let length = classic + low_latency;
        if length == 0 {
            return;
        }
        let room = self.timeline.minislots() - length;
        let start = pick(room, self.offsets.draw(map, context));
        for (flow, start, length) in [(LOW_LATENCY, start, low_latency), (CLASSIC, start + low_latency, classic)] {
            if length > 0 {
                grants.push(Grant { flow, start, length });
            }
        }
    }

    /// Around proactive grants: they grow first, the earliest before the others; the classic flow gets the gaps.
    fn place_around(&mut self, mut classic: u64, mut more: u64, grants: &mut Vec<Grant>) {
        let all = self.timeline.minislots();
        for index in 0..self.proactive_grants.len() {
            let (start, length) = self.proactive_grants[index];
            let next = self.proactive_grants.get(index + 1).map_or(all, |g| g.0);
            let grown = more.min(next - start - length);
            self.proactive_grants[index].1 += grown;
            more -= grown;
        }
        let mut at = 0;
        for index in 0..=self.proactive_grants.len() {
            let (start, length) = self.proactive_grants.get(index).copied().unwrap_or((all, 0));
            // Only before the first one can a gap be left that none of them could grow into.
            for (flow, left) in [(LOW_LATENCY, &mut more), (CLASSIC, &mut classic)] {
                let taken = (*left).min(start - at);
                if taken > 0 {
                    grants.push(Grant { flow, start: at, length: taken });
                    at += taken;
                    *left -= taken;
                }
            }
            if length > 0 {
                grants.push(Grant { flow: LOW_LATENCY, start, length });
            }
            at = start + length;
        }
        debug_assert_eq!((classic, more), (0, 0), "a MAP has room for its grants");
    }

    fn debit(&mut self, now: Instant, grants: &[Grant]) {
        let mut granted = [0; 2];
        for grant in grants {
            granted[grant.flow] += grant.length * self.timeline.minislot_bytes;
        }
        let [classic, low_latency] = granted;
        let [of_classic, of_low_latency] = &mut self.own;
        for (bucket, bytes) in [
            (&mut self.sustained, classic + low_latency),
            (&mut self.peak, classic + low_latency),
            (of_classic, classic),
            (of_low_latency, low_latency),
        ] {
            if let Some(bucket) = bucket {
                bucket.debit(now, bucket.price(Bytes(bytes)));
            }
        }
        for (backlog, bytes) in self.backlog.iter_mut().zip(granted) {
            *backlog = backlog.saturating_sub(bytes);
        }
    }
}

/// Minislots of the classic and of the low-latency flow, proactive ones included, from what is `available` and what
/// both want.
pub(crate) fn allocate(weight: u64, available: u64, wanted: [u64; 2], proactive: u64) -> [u64; 2] {
    let classic = wanted[CLASSIC];
    let low_latency = wanted[LOW_LATENCY].max(proactive);
    if proactive >= low_latency {
        return [classic.min(available.saturating_sub(proactive)), proactive];
    }
    let total = available.min(classic.saturating_add(low_latency)).max(proactive);
    let least = u64::from(total > 0);
    let share = (total * weight / 256).max(proactive).max(least);
    let rest = total - share;
    match (classic > rest, low_latency > share) {
        (false, false) => [classic, low_latency],
        (true, true) => [rest, share],
        (true, false) => [classic.min(total - low_latency), low_latency],
        (false, true) => [classic, low_latency.min(total - classic)],
    }
}

/// A whole number from 0 to `most`.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "not negative, and at most some thousand")]
pub(crate) fn pick(most: u64, unit: f64) -> u64 {
    math::floor((most + 1) as f64 * unit) as u64
}

#[cfg(test)]
mod tests;
