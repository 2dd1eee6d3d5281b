//! The packets of a captured flow as a text, for scenario files and for sharing: each with its time, length, DSCP and ECN.
//!
//! Packets are separated by `;` or by line ends. Each is `[<] [+]NS [LENGTH [DSCP [ECN]]]`: time in whole nanoseconds,
//! since the first or with `+` since the one before; IP bytes; DSCP; ECN field as a number. Omitted fields are those of
//! the packet before. `<` marks the other direction.
//!
//! Source: none. Deviations: none known.

use core::cmp::Ordering;
use core::fmt::Write as _;
use sojourn_base::{Ecn, Span, TimedPacket};
use sojourn_keys::value::quoted;
use sojourn_keys::{Content, Key, Mismatch, Shape, Value};
use std::sync::Arc;

/// Packets at most (specification of captures, 6.2).
pub const MOST_PACKETS: usize = 10_000_000;

/// Latest packet. chosen: a month, as of a capture.
const LATEST: Span = Span::from_s(31 * 86_400);

/// Shortest and longest packet: an IPv4 header, and what an IP packet can be.
const LENGTHS: core::ops::RangeInclusive<u32> = 20..=65_575;

const EXAMPLE: &str = "times in ns with lengths, for instance \"0 200 45; +20000000; +20000000\"";

/// A packet of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ListedPacket {
    /// Send time and packet.
    pub packet: TimedPacket,
    /// It goes the other way.
    pub back: bool,
}

/// Packets in the order in which they are sent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PacketList(Option<Arc<[ListedPacket]>>);

impl PacketList {
    /// None, which no application can be built of.
    pub(crate) const NONE: Self = Self(None);

    /// These packets, the first at its own time.
    ///
    /// # Errors An invalid packet, and the remedy.
    pub fn new(packets: Vec<ListedPacket>) -> Result<Self, Mismatch> {
        if packets.is_empty() {
            return Err(Mismatch::new("there is no packet", EXAMPLE));
        }
        if packets.len() > MOST_PACKETS {
            return Err(Mismatch::new(format!("there are more than {MOST_PACKETS} packets"), "a part of the capture"));
        }
        let mut before = Span::ZERO;
        for ListedPacket { packet, .. } in &packets {
            if packet.at < before || packet.at > LATEST {
                return Err(Mismatch::new(
                    format!("a packet at {} follows one at {before}", packet.at),
                    "times in rising order, within a month",
                ));
            }
            before = packet.at;
            if !LENGTHS.contains(&packet.length) || packet.dscp > 63 {
                return Err(Mismatch::new(
                    format!("a packet of {} B with DSCP {}", packet.length, packet.dscp),
                    "20 to 65575 B, DSCP 0 to 63",
                ));
            }
        }
        Ok(Self(Some(packets.into())))
    }

    /// The packets.
    pub fn packets(&self) -> &[ListedPacket] {
        self.0.as_deref().unwrap_or(&[])
    }

    /// Reads a text; `#` begins a comment, up to the end of its line.
    ///
    /// # Errors An invalid packet, and the remedy.
    pub fn parse(text: &str) -> Result<Self, Mismatch> {
        let mut found: Vec<ListedPacket> = Vec::new();
        for (line, content) in (1..).zip(text.lines()) {
            let content = content.split_once('#').map_or(content, |(data, _)| data);
            for part in content.split(';') {
                if part.trim().is_empty() {
                    continue;
                }
                let Some(packet) = Self::packet(part, found.last()) else {
                    let shown: String = part.trim().chars().take(40).collect();
                    return Err(Mismatch::new(format!("line {line}: {shown:?} is no packet"), EXAMPLE));
                };
                if found.len() >= MOST_PACKETS {
                    return Err(Mismatch::new(
                        format!("there are more than {MOST_PACKETS} packets"),
                        "a part of the capture",
                    ));
                }
                found.push(packet);
            }
        }
        Self::new(found)
    }

    fn packet(part: &str, before: Option<&ListedPacket>) -> Option<ListedPacket> {
        let mut words = part.split_ascii_whitespace().peekable();
        let back = words.next_if_eq(&"<").is_some();
        let time = words.next()?;
        let at = match time.strip_prefix('+') {
            Some(gap) => ns(gap)?.checked_add(before.map_or(0, |before| before.packet.at.as_ns()))?,
            None => ns(time)?,
        };
        let at = Some(at).filter(|at| *at <= LATEST.as_ns())?;
        let packet = before.map(|before| before.packet);
        let length = match words.next() {
            Some(word) => number(word)?,
            None => packet?.length,
        };
        let dscp = match words.next() {
            Some(word) => u8::try_from(number(word)?).ok()?,
            None => packet.map_or(0, |packet| packet.dscp),
        };
        let ecn = match words.next() {
            Some(word) => Ecn::from_bits(u8::try_from(number(word)?).ok().filter(|ecn| *ecn < 4)?),
            None => packet.map_or(Ecn::NotEct, |packet| packet.ecn),
        };
        words
            .next()
            .is_none()
            .then_some(ListedPacket { packet: TimedPacket { at: Span::from_ns(at), length, dscp, ecn }, back })
    }

    /// Returns the text, with packets separated by `separator`.
    pub fn text(&self, separator: &str) -> String {
        let (mut text, mut before) = (String::new(), None::<TimedPacket>);
        for ListedPacket { packet, back } in self.packets() {
            if before.is_some() {
                text.push_str(separator);
            }
            if *back {
                text.push_str("< ");
            }
            // Writing to a text cannot fail.
            let _ = match before {
                None => write!(text, "{}", packet.at.as_ns()),
                Some(before) => write!(text, "+{}", packet.at.as_ns() - before.at.as_ns()),
            };
            let (length, dscp, ecn) = (packet.length, packet.dscp, packet.ecn);
            let _ = match before {
                Some(before) if (before.dscp, before.ecn) != (dscp, ecn) => {
                    write!(text, " {length} {dscp} {}", ecn.bits())
                }
                Some(before) if before.length == length => Ok(()),
                Some(_) => write!(text, " {length}"),
                None => write!(text, " {length} {dscp} {}", ecn.bits()),
            };
            before = Some(*packet);
        }
        text
    }
}

fn digits(word: &str) -> bool {
    !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit())
}

fn ns(word: &str) -> Option<u64> {
    digits(word).then(|| word.parse().ok()).flatten()
}

fn number(word: &str) -> Option<u32> {
    digits(word).then(|| word.parse().ok()).flatten()
}

/// A text of packets; see [`PacketList`].
impl Value for PacketList {
    fn read(&mut self, content: &Content, _key: &Key) -> Result<(), Mismatch> {
        let Content::Text(text) = content else {
            return Err(Mismatch::new("packets are a text", EXAMPLE));
        };
        *self = Self::parse(text)?;
        Ok(())
    }

    fn print(&self) -> String {
        quoted(&self.text("; "))
    }

    fn shape(&self) -> Shape {
        Shape::Text
    }

    fn compare(&self, _bound: &str) -> Option<Ordering> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_is_left_out_is_as_with_the_packet_before() {
        let list = PacketList::parse("0 200 45; +20000000\n< +5 1200 0 1 # the answer\n\n40000005;").unwrap();
        let found: Vec<_> = list
            .packets()
            .iter()
            .map(|one| {
                let TimedPacket { at, length, dscp, ecn } = one.packet;
                (at.as_ns(), length, dscp, ecn.bits(), one.back)
            })
            .collect();
        let expected = [
            (0, 200, 45, 0, false),
            (20_000_000, 200, 45, 0, false),
            (20_000_005, 1200, 0, 1, true),
            (40_000_005, 1200, 0, 1, false),
        ];
        assert_eq!(found, expected);
        let text = "0 200 45 0; +20000000; < +5 1200 0 1; +20000000";
        assert_eq!(list.text("; "), text);
    }

    #[test]
    fn what_is_no_list_is_told_with_its_line() {
        for (text, told) in [
            ("", "there is no packet"),
            ("0", "line 1: \"0\" is no packet"),
            ("0 200\n+1 200 64x", "line 2: \"+1 200 64x\" is no packet"),
            ("5 200; 4 200", "a packet at 4 ns follows one at 5 ns"),
            ("0 19", "a packet of 19 B with DSCP 0"),
            ("0 200 64", "a packet of 200 B with DSCP 64"),
            ("99999999999999999999 200", "line 1: \"99999999999999999999 200\" is no packet"),
        ] {
            assert_eq!(PacketList::parse(text).unwrap_err().message, told, "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn a_list_reads_back_from_its_text(
            packets in prop::collection::vec((0_u64..10_000, 20_u32..2000, 0_u8..64, 0_u8..4, any::<bool>()), 1..40),
            lines: bool,
        ) {
            let mut at = Span::ZERO;
            let packets = packets.into_iter().map(|(gap, length, dscp, ecn, back)| {
                at += Span::from_ns(gap);
                let ecn = Ecn::from_bits(ecn);
                ListedPacket { packet: TimedPacket { at, length, dscp, ecn }, back }
            });
            let list = PacketList::new(packets.collect()).unwrap();
            let text = list.text(if lines { "\n" } else { "; " });
            prop_assert_eq!(PacketList::parse(&text), Ok(list));
        }

        #[test]
        fn no_text_makes_it_fail(text in "[0-9+<;# \n]{0,60}") {
            let _ = PacketList::parse(&text);
        }
    }
}
