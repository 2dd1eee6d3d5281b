//! Quantities as people write them: "20 ms", "5 Mb/s", "96 KB", "417 packets".
//!
//! A quantity is a decimal number, a space (which may be missing) and a unit. It is read exactly: a value that the type
//! cannot hold to the last digit is refused, never rounded. A printed quantity reads back as the same value. Units of
//! other tools (`20mbit` of tc, `1Gbps`, `5 sec`) and the short `300M` of a rate are read too; they are never printed.
//!
//! Source: units of the four source studies. `kB`, `MB` and `GB` are decimal, as the byte budget of White 2012
//! confirms; `KB` is read as `kB` (chosen: the printed "96 KB" of Klatsky 2016 has two readings, and one letter's case
//! must not change a size by 2.4 %). `KiB` is 1024 bytes. Deviations: none known.

use core::fmt;
use core::str::FromStr;

use crate::{BitRate, Bytes, Limit, Packets, Span};

/// A unit: its spelling, and how many of the type's own steps it is.
pub type Unit = (&'static str, u64);

/// A kind of quantity that can be read from text.
pub trait Quantity: Sized {
    /// Name of the quantity, for messages: "a length of time".
    const NAME: &'static str;
    /// A well-formed example.
    const EXAMPLE: &'static str;
    /// The units it may be written in. The first spelling of a scale is the preferred one.
    const UNITS: &'static [Unit];

    /// The quantity of `count` steps; `None` if the type cannot hold it. `unit` is the index of the
    /// unit in [`Quantity::UNITS`], for quantities of several dimensions.
    fn from_count(count: u64, unit: usize) -> Option<Self>;
}

/// Why a text is not a quantity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QuantityError {
    /// Nothing but space.
    Empty,
    /// It does not begin with a decimal number.
    NoNumber,
    /// A number without a unit.
    NoUnit,
    /// A unit that this quantity is not measured in.
    UnknownUnit,
    /// Less than zero.
    Negative,
    /// More than the type can hold.
    TooLarge,
    /// More digits than the type can hold: picoseconds, bits and bytes are whole.
    TooFine,
}

impl fmt::Display for QuantityError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Empty => "the text is empty",
            Self::NoNumber => "it does not begin with a decimal number",
            Self::NoUnit => "the unit is missing",
            Self::UnknownUnit => "the unit does not fit",
            Self::Negative => "it is negative",
            Self::TooLarge => "it is too large",
            Self::TooFine => "it has more digits than can be held exactly",
        })
    }
}

impl core::error::Error for QuantityError {}

/// The number and the unit of `text`, as written; either may be empty.
pub fn split(text: &str) -> (&str, &str) {
    let text = text.trim();
    let end = text.find(|c: char| !(c.is_ascii_digit() || matches!(c, '.' | '_' | '+' | '-'))).unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    (number, unit.trim())
}

/// Reads a quantity.
pub fn parse<Q: Quantity>(text: &str) -> Result<Q, QuantityError> {
    let (number, unit) = split(text);
    if number.is_empty() {
        return Err(if unit.is_empty() { QuantityError::Empty } else { QuantityError::NoNumber });
    }
    let number = Decimal::parse(number)?;
    if unit.is_empty() {
        return Err(QuantityError::NoUnit);
    }
    let index = index_of(unit, Q::UNITS).ok_or(QuantityError::UnknownUnit)?;
    Q::from_count(number.times(Q::UNITS[index].1)?, index).ok_or(QuantityError::TooLarge)
}

/// The place of a unit, as it is spelt here or elsewhere.
fn index_of(unit: &str, units: &[Unit]) -> Option<usize> {
    let place = |unit: &str| units.iter().position(|(spelling, _)| *spelling == unit);
    place(unit).or_else(|| {
        let is_word = |word: &str| word.eq_ignore_ascii_case(unit);
        // "MB/s" and "MBps" are bytes, whatever the case of the rest.
        let counts_bytes = unit.contains('B') && !unit.to_ascii_lowercase().contains("bit");
        let mut meant = SPELLINGS.iter().filter(|(word, _)| is_word(word) && !counts_bytes);
        meant.find_map(|(_, unit)| place(unit))
    })
}

/// Units as other tools spell them, in any letter case, and what they are here. Source: tc(8) of iproute2 for `kbit`,
/// `mbit` and times, iperf3 for `Mbits/sec`; `mbps` is a rate of bits, as networks use it, and not tc's of bytes.
pub const SPELLINGS: [Spelling; 41] = [
    ("sec", "s"),
    ("secs", "s"),
    ("second", "s"),
    ("seconds", "s"),
    ("msec", "ms"),
    ("msecs", "ms"),
    ("millisecond", "ms"),
    ("milliseconds", "ms"),
    ("usec", "us"),
    ("usecs", "us"),
    ("microsecond", "us"),
    ("microseconds", "us"),
    ("nsec", "ns"),
    ("nanoseconds", "ns"),
    ("mins", "min"),
    ("minute", "min"),
    ("minutes", "min"),
    ("hour", "h"),
    ("hours", "h"),
    ("bps", "b/s"),
    ("bit/s", "b/s"),
    ("bit", "b/s"),
    ("kbps", "kb/s"),
    ("kb/s", "kb/s"),
    ("kbit/s", "kb/s"),
    ("kbit", "kb/s"),
    ("k", "kb/s"),
    ("mbps", "Mb/s"),
    ("mb/s", "Mb/s"),
    ("mbit/s", "Mb/s"),
    ("mbits/sec", "Mb/s"),
    ("mbit", "Mb/s"),
    ("m", "Mb/s"),
    ("gbps", "Gb/s"),
    ("gb/s", "Gb/s"),
    ("gbit/s", "Gb/s"),
    ("gbits/sec", "Gb/s"),
    ("gbit", "Gb/s"),
    ("g", "Gb/s"),
    ("byte", "B"),
    ("bytes", "B"),
];

/// A word, and the unit that it stands for.
pub type Spelling = (&'static str, &'static str);

/// Most digits after the point: 2^-20 MiB has twenty.
const FRACTION_DIGITS: usize = 20;

/// A non-negative decimal number, exactly.
struct Decimal {
    whole: u64,
    /// Digits after the point as a number, without trailing zeros.
    fraction: u128,
    /// Ten to the number of those digits.
    divisor: u128,
}

impl Decimal {
    fn parse(text: &str) -> Result<Self, QuantityError> {
        let (negative, digits) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text.strip_prefix('+').unwrap_or(text)),
        };
        let (whole, fraction) = match digits.split_once('.') {
            Some((_, "")) => return Err(QuantityError::NoNumber),
            Some((whole, fraction)) => (whole, fraction.trim_end_matches('0')),
            None => (digits, ""),
        };
        if whole.is_empty() || !is_grouped(whole) || !(fraction.is_empty() || is_grouped(fraction)) {
            return Err(QuantityError::NoNumber);
        }
        if negative && digits.contains(|c: char| ('1'..='9').contains(&c)) {
            return Err(QuantityError::Negative);
        }
        let places = digits_of(fraction).count();
        if places > FRACTION_DIGITS {
            return Err(QuantityError::TooFine);
        }
        let whole = digits_of(whole)
            .try_fold(0_u64, |sum, digit| sum.checked_mul(10)?.checked_add(u64::from(digit)))
            .ok_or(QuantityError::TooLarge)?;
        let (fraction, divisor) =
            digits_of(fraction).fold((0, 1), |(sum, divisor), digit| (sum * 10 + u128::from(digit), divisor * 10));
        Ok(Self { whole, fraction, divisor })
    }

    fn times(&self, scale: u64) -> Result<u64, QuantityError> {
        let scale = u128::from(scale);
        let part = self.fraction * scale;
        if !part.is_multiple_of(self.divisor) {
            return Err(QuantityError::TooFine);
        }
        u64::try_from(u128::from(self.whole) * scale + part / self.divisor).map_err(|_| QuantityError::TooLarge)
    }
}

/// Digits, in groups that single underscores separate.
fn is_grouped(text: &str) -> bool {
    text.split('_').all(|group| !group.is_empty() && group.bytes().all(|b| b.is_ascii_digit()))
}

fn digits_of(text: &str) -> impl Iterator<Item = u8> {
    text.bytes().filter(u8::is_ascii_digit).map(|byte| byte - b'0')
}

const TIME_UNITS: [Unit; 9] = [
    ("s", 1_000_000_000_000),
    ("ms", 1_000_000_000),
    ("us", 1_000_000),
    ("ns", 1_000),
    ("ps", 1),
    ("min", 60_000_000_000_000),
    ("h", 3_600_000_000_000_000),
    ("\u{b5}s", 1_000_000),
    ("\u{3bc}s", 1_000_000),
];

const SIZE_UNITS: [Unit; 8] = [
    ("B", 1),
    ("kB", 1_000),
    ("MB", 1_000_000),
    ("GB", 1_000_000_000),
    ("KiB", 1 << 10),
    ("MiB", 1 << 20),
    ("GiB", 1 << 30),
    ("KB", 1_000),
];

const COUNT_UNITS: [Unit; 2] = [("packets", 1), ("packet", 1)];

/// Sizes, counts and times in one list; the order fixes the dimension of an index.
const LIMIT_UNITS: [Unit; 19] = {
    let mut units = [("", 0); 19];
    let mut i = 0;
    while i < units.len() {
        units[i] = if i < 8 {
            SIZE_UNITS[i]
        } else if i < 10 {
            COUNT_UNITS[i - 8]
        } else {
            TIME_UNITS[i - 10]
        };
        i += 1;
    }
    units
};

impl Quantity for Span {
    const NAME: &'static str = "a length of time";
    const EXAMPLE: &'static str = "20 ms";
    const UNITS: &'static [Unit] = &TIME_UNITS;

    fn from_count(count: u64, _unit: usize) -> Option<Self> {
        Some(Self::from_ps(count))
    }
}

impl Quantity for BitRate {
    const NAME: &'static str = "a bit rate";
    const EXAMPLE: &'static str = "5 Mb/s";
    const UNITS: &'static [Unit] =
        &[("b/s", 1), ("kb/s", 1_000), ("Mb/s", 1_000_000), ("Gb/s", 1_000_000_000), ("Tb/s", 1_000_000_000_000)];

    fn from_count(count: u64, _unit: usize) -> Option<Self> {
        Some(Self::from_bps(count))
    }
}

impl Quantity for Bytes {
    const NAME: &'static str = "a size";
    const EXAMPLE: &'static str = "1500 B";
    const UNITS: &'static [Unit] = &SIZE_UNITS;

    fn from_count(count: u64, _unit: usize) -> Option<Self> {
        Some(Self(count))
    }
}

impl Quantity for Packets {
    const NAME: &'static str = "a number of packets";
    const EXAMPLE: &'static str = "32 packets";
    const UNITS: &'static [Unit] = &COUNT_UNITS;

    fn from_count(count: u64, _unit: usize) -> Option<Self> {
        u32::try_from(count).ok().map(Self)
    }
}

impl Quantity for Limit {
    const NAME: &'static str = "a buffer limit (a size, a number of packets, or a length of time)";
    const EXAMPLE: &'static str = "417 packets";
    const UNITS: &'static [Unit] = &LIMIT_UNITS;

    fn from_count(count: u64, unit: usize) -> Option<Self> {
        if unit < SIZE_UNITS.len() {
            Bytes::from_count(count, unit).map(Self::Bytes)
        } else if unit < SIZE_UNITS.len() + COUNT_UNITS.len() {
            Packets::from_count(count, unit).map(Self::Packets)
        } else {
            Span::from_count(count, unit).map(Self::Time)
        }
    }
}

macro_rules! from_str {
    ($($name:ty),*) => {$(
        impl FromStr for $name {
            type Err = QuantityError;
            fn from_str(text: &str) -> Result<Self, QuantityError> {
                parse(text)
            }
        }
    )*};
}

from_str!(Span, BitRate, Bytes, Packets, Limit);

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::string::ToString;

    #[test]
    fn quantities_of_the_studies_read_as_their_values() {
        assert_eq!("20 ms".parse(), Ok(Span::from_ms(20)));
        assert_eq!("20ms".parse(), Ok(Span::from_ms(20)));
        assert_eq!("20.9375 us".parse(), Ok(Span::from_ps(20_937_500)));
        assert_eq!("2 h".parse(), Ok(Span::from_s(7200)));
        assert_eq!("0.5 min".parse(), Ok(Span::from_s(30)));
        assert_eq!("98.304 Mb/s".parse(), Ok(BitRate::from_bps(98_304_000)));
        assert_eq!("18.75 MB".parse(), Ok(Bytes(18_750_000)));
        assert_eq!("625_000 B".parse(), Ok(Bytes(625_000)));
        assert_eq!("32 packets".parse(), Ok(Packets(32)));
    }

    #[test]
    fn units_of_other_tools_are_read_in_any_letter_case_and_bytes_are_no_rate() {
        for text in
            ["300M", "300 m", "300mbit", "300Mbit/s", "300 Mbps", "300 Mbits/sec", "300 mb/s", "0.3Gbps", "0.3 G"]
        {
            assert_eq!(text.parse(), Ok(BitRate::from_mbps(300)), "{text}");
        }
        assert_eq!("500k".parse(), Ok(BitRate::from_bps(500_000)));
        assert_eq!("512kbit".parse(), Ok(BitRate::from_bps(512_000)));
        assert_eq!("2 minutes".parse(), Ok(Span::from_s(120)));
        assert_eq!("5 msec".parse(), Ok(Span::from_ms(5)));
        assert_eq!("1514 bytes".parse(), Ok(Limit::Bytes(Bytes(1514))));
        for text in ["20 MB/s", "20 MBps", "20 kB/s", "20 GBps", "20 MB"] {
            assert_eq!(text.parse::<BitRate>(), Err(QuantityError::UnknownUnit), "{text}");
        }
        for (word, unit) in SPELLINGS {
            assert!(!word.contains(|c: char| c.is_uppercase()), "{word}");
            let known = LIMIT_UNITS.iter().chain(BitRate::UNITS).any(|(spelling, _)| *spelling == unit);
            assert!(known, "{word}");
        }
    }

    #[test]
    fn kb_has_a_thousand_bytes_in_either_case_and_kib_has_1024() {
        assert_eq!("96 KB".parse(), Ok(Bytes(96_000)));
        assert_eq!("96 kB".parse(), Ok(Bytes(96_000)));
        assert_eq!("96 KiB".parse(), Ok(Bytes(98_304)));
        assert_eq!("0.5 MiB".parse(), Ok(Bytes(524_288)));
    }

    #[test]
    fn a_limit_takes_its_dimension_from_the_unit() {
        assert_eq!("417 packets".parse(), Ok(Limit::Packets(Packets(417))));
        assert_eq!("1 packet".parse(), Ok(Limit::Packets(Packets(1))));
        assert_eq!("1 s".parse(), Ok(Limit::Time(Span::from_s(1))));
        assert_eq!("625 KB".parse(), Ok(Limit::Bytes(Bytes(625_000))));
        for (index, (spelling, _)) in LIMIT_UNITS.iter().enumerate() {
            let limit = Limit::from_count(1, index);
            let expected = if SIZE_UNITS.iter().any(|(s, _)| s == spelling) {
                matches!(limit, Some(Limit::Bytes(_)))
            } else if COUNT_UNITS.iter().any(|(s, _)| s == spelling) {
                matches!(limit, Some(Limit::Packets(_)))
            } else {
                matches!(limit, Some(Limit::Time(_)))
            };
            assert!(expected, "{spelling}");
        }
    }

    #[test]
    fn what_is_not_a_quantity_says_why() {
        use QuantityError::{Empty, Negative, NoNumber, NoUnit, TooFine, TooLarge, UnknownUnit};
        for (text, error) in [
            ("", Empty),
            ("  ", Empty),
            ("soon", NoNumber),
            (".5 s", NoNumber),
            ("5. s", NoNumber),
            ("1.2.3 s", NoNumber),
            ("1__0 s", NoNumber),
            ("+-1 s", NoNumber),
            ("- s", NoNumber),
            ("20", NoUnit),
            ("20 MS", UnknownUnit),
            ("20 m", UnknownUnit),
            ("20 Mb/s", UnknownUnit),
            ("1,000 s", UnknownUnit),
            ("-1 s", Negative),
            ("-0.5 s", Negative),
            ("18446745 s", TooLarge),
            ("99999999999999999999 ps", TooLarge),
            ("0.1 ps", TooFine),
            ("0.000000000000000000001 s", TooFine),
        ] {
            assert_eq!(text.parse::<Span>(), Err(error), "{text:?}");
        }
        assert_eq!("-0 s".parse(), Ok(Span::ZERO));
        assert_eq!("1.000 ps".parse(), Ok(Span::from_ps(1)));
        assert_eq!("5000000000 packets".parse::<Packets>(), Err(TooLarge));
    }

    proptest! {
        #[test]
        fn what_prints_reads_back_as_the_same_value(value: u64, count: u32) {
            let span = Span::from_ps(value);
            prop_assert_eq!(span.to_string().parse(), Ok(span));
            let rate = BitRate::from_bps(value);
            prop_assert_eq!(rate.to_string().parse(), Ok(rate));
            let size = Bytes(value);
            prop_assert_eq!(size.to_string().parse(), Ok(size));
            for limit in [
                Limit::Bytes(Bytes(value)),
                Limit::Packets(Packets(count)),
                Limit::Time(Span::from_ps(value)),
            ] {
                prop_assert_eq!(limit.to_string().parse(), Ok(limit));
            }
        }

        #[test]
        fn no_text_makes_the_reader_panic(text in "[-+0-9._ a-zA-Zµ/]{0,40}") {
            let _ = text.parse::<Limit>();
            let _ = text.parse::<BitRate>();
        }
    }
}
