//! Counters of a channel that several modems share.

use crate::time::Span;
use core::ops::{Add, Sub};

macro_rules! counters {
    ($(#[doc = $about:literal] pub struct $name:ident { $(#[doc = $meaning:literal] $field:ident: $type:ty,)* })*) => {$(
        #[doc = $about]
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub struct $name {
            $(#[doc = $meaning] pub $field: $type,)*
        }

        /// Adds the counts of both.
        impl Add for $name {
            type Output = Self;

            fn add(self, other: Self) -> Self {
                Self { $($field: self.$field + other.$field,)* }
            }
        }

        /// Returns the counts after the other.
        impl Sub for $name {
            type Output = Self;

            fn sub(self, earlier: Self) -> Self {
                Self { $($field: self.$field - earlier.$field,)* }
            }
        }
    )*};
}

counters! {
    /// Counters of a CMTS since the start of the run.
    pub struct ChannelCounters {
        /// MAPs.
        maps: u64,
        /// MAPs without a minislot left.
        full_maps: u64,
        /// Minislots.
        minislots: u64,
        /// Minislots that were granted.
        granted: u64,
        /// Opportunities to request.
        opportunities: u64,
        /// Opportunities that modems used.
        used: u64,
        /// Opportunities that several used, who were not heard.
        collided: u64,
    }

    /// Counters of one modem since the start of the run.
    pub struct ModemCounters {
        /// Requests by contention.
        attempts: u64,
        /// Those that were not heard.
        collided: u64,
        /// Those that were.
        heard: u64,
        /// From the first moment at which each of these might have been made to its reception, summed.
        request_delay: Span,
        /// Packets that were dropped because no request was heard.
        given_up: u64,
        /// Packets that arrived, of whose delay the rest are sums.
        packets: u64,
        /// The home's own rate: its token buckets were empty.
        own_rate: Span,
        /// Requests that collided.
        contention: Span,
        /// Capacity that went to other homes.
        neighbours: Span,
        /// The loop of request and grant.
        request_loop: Span,
        /// Framing, serialisation, pipelines and the plant.
        line: Span,
        /// Seconds in which the home always held packets, or nearly.
        busy_seconds: u64,
        /// Those of them in which it got its tier.
        tier_seconds: u64,
    }

    /// Counters of one direction of a Wi-Fi station since the start of the run.
    pub struct WifiCounters {
        /// Exchanges that it began.
        exchanges: u64,
        /// Those that met another frame.
        collided: u64,
        /// Those of which noise left nothing.
        unanswered: u64,
        /// Frames in exchanges that were answered.
        frames: u64,
        /// Those of them that noise destroyed.
        failed: u64,
        /// Packets that were tried too often, or came too late.
        given_up: u64,
        /// Time on the air, with answers.
        airtime: Span,
        /// Packets that arrived, of whose delay the rest are sums.
        packets: u64,
        /// In the managed queue.
        queue: Span,
        /// In the firmware.
        firmware: Span,
        /// For the air: the aggregates before, others, and the own backoff.
        contention: Span,
        /// From the first try to the one that came through.
        retries: Span,
        /// For the end of its aggregate and the answer.
        aggregation: Span,
        /// For frames before it.
        reordering: Span,
        /// On the air.
        air: Span,
    }
}
