//! Keys that several links have.
//!
//! Source: White 2012 §2.2, §2.3 and §3.1; White 2013 §3.1 to §3.4. Deviations: none known.

use sojourn_keys::{Key, key};

/// Highest rate of a link. chosen: above every access network, and low enough that products of rate
/// and time stay within 128 bits.
pub const HIGHEST_RATE: &str = "1 Tb/s";

/// Rate of a line.
pub const RATE: Key = key("rate", "rate of the line", "no default: it is the tier")
    .required("\"5 Mb/s\"")
    .least("1 b/s")
    .most(HIGHEST_RATE);

/// Fixed delay of a link.
pub const fn delay(origin: &'static str) -> Key {
    key("delay", "propagation and fixed processing after the last bit, one way", origin)
        // chosen: ten seconds, forty geostationary hops.
        .most("10 s")
}

/// Time between MAPs.
pub const MAP_INTERVAL: Key = key("map_interval", "time from one MAP to the next", "White 2012 §2.2.2")
    .least("1 us")
    // chosen: a thousand times the usual.
    .most("2 s");

/// Rate of the upstream channel.
pub const CHANNEL_RATE: Key = key(
    "channel_rate",
    "rate at which a grant is serialised",
    "0.8 of `modulation` times `channels` (White 2012 §2.2.2)",
)
.least("1 b/s")
.most(HIGHEST_RATE);

/// Raw bit rate of one of the bonded channels.
pub const MODULATION: Key = key(
    "modulation",
    "raw bit rate of one channel, symbols by bits: 5.12 Msym/s with 64-QAM are 30.72 Mb/s",
    "assumed: 6.4 MHz with 64-QAM (White 2012 §2.2.2 prints the formula only)",
)
.least("1 kb/s")
.most(HIGHEST_RATE);

/// Number of bonded channels.
pub const CHANNELS: Key =
    key("channels", "bonded channels", "assumed: four (White 2012 §2.2.2 prints the formula only)")
        .least("1")
        // chosen: ten times what DOCSIS 3.0 modems have.
        .most("80");

/// Length of the request-grant loop.
pub const fn grant_delay(origin: &'static str) -> Key {
    key("grant_delay_maps", "MAPs from a request to its grant", origin)
        .least("1")
        // chosen: half a second with MAPs of 2 ms, as over a geostationary satellite.
        .most("250")
}
