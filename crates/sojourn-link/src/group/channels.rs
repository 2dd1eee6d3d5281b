//! Which channels a group has upstream, and which of them a modem is bonded over.
//!
//! A passive optical network is one channel, whose minislots are words of 4 B.
//!
//! Source: DOCSIS 3.0 PHY for SC-QAM channels; G.984, G.987 and G.9807, as recalled, and xgpon4ns3 for passive optical networks.
//! Deviations: all SC-QAM channels of a group are alike.

use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::cmp::Ordering;
use sojourn_base::{BitRate, Bytes, Span};
use sojourn_keys::content::Content;
use sojourn_keys::value::{Mismatch, Shape, Value};
use sojourn_keys::{Key, origin, parameters, words};

words! {
    /// Kind of the plant.
    pub enum Form {
        /// an OFDMA channel, and SC-QAM channels beside it if there are some
        Docsis31 = "docsis31",
        /// SC-QAM channels only, with the times of the DOCSIS 3.0 modem of White 2013
        Docsis30 = "docsis30",
        /// a passive optical network: reports in bursts and polls instead of contention
        Pon = "pon",
    }
}

/// Bytes of a word, the minislot of a passive optical network, and of the report in each burst.
pub(super) const WORD: u64 = 4;

/// Frame of a passive optical network. Source: G.984.3 and G.987.3.
pub(super) const PON_FRAME: Span = Span::from_us(125);

parameters! {
    /// The upstream of a passive optical network.
    #[derive(Copy)]
    pub struct PonConfig {
        /// rate of the line
        rate: BitRate = BitRate::from_kbps(9_953_280), origin("G.9807.1, XGS-PON: 9.95328 Gb/s").least("1 Mb/s").most("100 Gb/s");
        /// part of the line that is not for correction
        code_rate: f64 = 0.9355, origin("xgpon4ns3: RS(248, 232)").least("0.1").most("1");
        /// guard, preamble and delimiter of each burst
        overhead: Bytes = Bytes(128), origin("chosen: 128 B at 9.95 Gb/s; G.984 has 12 B at 1.24 Gb/s").most("4 KiB");
        /// how often a unit is asked for its report
        poll: Span = Span::from_ms(1), origin("chosen: 1 ms").least("125 us").most("100 ms");
    }
}

impl PonConfig {
    /// Words of a frame.
    pub fn words(&self) -> u64 {
        let bits = u128::from(self.rate.as_bps()) * u128::from(PON_FRAME.as_ps()) / 1_000_000_000_000;
        whole(u64::try_from(bits).unwrap_or(u64::MAX) as f64 * self.code_rate / (8 * WORD) as f64)
    }

    /// Bytes that each burst carries beside data.
    pub(super) const fn header(&self) -> u64 {
        self.overhead.0 + WORD
    }
}

parameters! {
    /// SC-QAM channels upstream, all alike.
    #[derive(Copy)]
    pub struct ScqamConfig {
        /// how many
        count as "channels": u32 = 0, origin("chosen: none").most("16");
        /// symbols a millisecond
        symbols as "symbol_rate": u32 = 5_120, origin("DOCSIS 3.0 PHY: 5.12 Msym/s in 6.4 MHz").least("160").most("5120");
        /// bits of a symbol
        bits: f64 = 6.0, origin("DOCSIS 3.0 PHY: 64-QAM").least("1").most("8");
        /// part of the bits that is not for correction
        code_rate: f64 = 0.8, origin("chosen: that of the OFDMA channel").least("0.1").most("1");
        /// length of a minislot
        minislot: Span = Span::from_ns(12_500), origin("chosen: two ticks of 6.25 us").least("6250 ns").most("1 ms");
    }
}

impl ScqamConfig {
    /// Bytes in a minislot.
    pub fn minislot_bytes(&self) -> u64 {
        let symbols = u128::from(self.symbols) * u128::from(self.minislot.as_ps()) / 1_000_000_000;
        let bits = u64::try_from(symbols).unwrap_or(u64::MAX) as f64 * self.bits * self.code_rate;
        whole(bits / 8.0 + 1e-9)
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "not negative, and some thousand at most")]
fn whole(number: f64) -> u64 {
    sojourn_base::math::floor(number) as u64
}

/// Channels of a group, by number from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChannelSet(u32);

impl ChannelSet {
    /// All channels that the group has.
    pub const ALL: Self = Self(u32::MAX);

    /// Returns true if channel `number` is one of them.
    pub const fn has(self, number: usize) -> bool {
        number < 32 && self.0 >> number & 1 == 1
    }

    /// The number, as files have it, of the first one that a group of `count` channels has not.
    pub fn beyond(self, count: usize) -> Option<usize> {
        let is_said = self != Self::ALL;
        (count..32).find(|number| is_said && self.has(*number)).map(|number| number + 1)
    }
}

/// Highest number of a channel in files: 16 SC-QAM channels and an OFDMA channel.
const HIGHEST: i128 = 17;

impl Value for ChannelSet {
    fn read(&mut self, content: &Content, _key: &Key) -> Result<(), Mismatch> {
        let hint = "channel numbers from 1 on, for instance [1, 2, 3, 4], or \"all\"";
        let items: Vec<&Content> = match content {
            Content::Text(word) if word == "all" => {
                *self = Self::ALL;
                return Ok(());
            }
            Content::List(items) if !items.is_empty() => items.iter().map(|item| &item.content).collect(),
            Content::List(_) => return Err(Mismatch::new("a modem without channels", hint)),
            one => alloc::vec![one],
        };
        let mut set = 0;
        for item in items {
            match item {
                Content::Integer(_, Some(number)) if (1..=HIGHEST).contains(number) => {
                    set |= 1_u32 << (number - 1);
                }
                Content::Integer(digits, _) => {
                    return Err(Mismatch::new(format!("there is no channel {digits}"), hint));
                }
                other => {
                    let message = format!("{} where channel numbers belong", other.kind());
                    return Err(Mismatch::new(message, hint));
                }
            }
        }
        *self = Self(set);
        Ok(())
    }

    fn print(&self) -> String {
        if *self == Self::ALL {
            return "\"all\"".into();
        }
        let numbers = (0..32).filter(|number| self.has(*number));
        let numbers: Vec<String> = numbers.map(|number| format!("{}", number + 1)).collect();
        format!("[{}]", numbers.join(", "))
    }

    fn shape(&self) -> Shape {
        Shape::WordOr("all", Box::new(Shape::OneOrMany(Box::new(Shape::Whole))))
    }

    fn compare(&self, _bound: &str) -> Option<Ordering> {
        None
    }
}
