//! Exchanges: how long the frames of an aggregate, and what goes around them, take on a channel.
//!
//! Source: IEEE 802.11-2020, 10.3.2 (exchanges), 10.12 (A-MPDU), 9.4.2.28 (EDCA parameters); docs/models/wifi.md.
//! Deviations: with RTS, each exchange has one; the answer to a data frame is sent at the rate for its mode.

use super::config::{LONGEST_PPDU, RadioConfig, StationRate, USUAL_LENGTH};
use super::medium::{Category, Timing};
use super::phy::{Band, Control, Format, Mode, aifs, cts_to_self, difs, eifs, sifs, slot};
use sojourn_base::{BitRate, Bytes, Span};

/// Access categories, the most urgent one first.
pub(super) const CATEGORIES: usize = 4;

/// The category of traffic that asks for nothing.
pub(super) const BEST_EFFORT: usize = 2;

/// Bytes around an IP packet in a frame: MAC header 24, LLC/SNAP 8, FCS 4. 802.11-2020, 9.2.4.1.
const AROUND: u64 = 36;
/// The header's field for QoS, and header and MIC of CCMP. 802.11-2020, 9.2.4.5 and 12.5.3.
const QOS: u64 = 2;
const CCMP: u64 = 16;
/// Bytes around a packet in an A-MSDU (addresses and length 14, LLC/SNAP 8), and what the first of them adds. 802.11-2020, 9.3.2.2.
const AROUND_PART: u64 = 22;
const FIRST_PART: u64 = 16;
/// Delimiter of a frame in an A-MPDU, which is padded to whole words. 802.11-2020, 9.7.1.
const DELIMITER: u64 = 4;
const WORD: u64 = 4;

/// AIFSN, CWmin, CWmax and TXOP limit in µs of the categories, the most urgent first: of a station and of an access point.
/// Source: IEEE 802.11-2020, table 9-155; hostapd's defaults for its own (CWmax of best effort 63, TXOP limits as of a station).
const EDCA: [[(u8, u32, u32, u64); CATEGORIES]; 2] = [
    [(2, 3, 7, 1_504), (2, 7, 15, 3_008), (3, 15, 1023, 0), (7, 15, 1023, 0)],
    [(2, 3, 7, 1_504), (2, 7, 15, 3_008), (3, 15, 63, 0), (7, 15, 1023, 0)],
];

/// The same of DCF, which has one category: DIFS is SIFS and two slots. Source: IEEE 802.11-2020, 10.3.7; tables 17-21 (CWmin 15) and 16-4 (31 of
/// DSSS).
const DCF: (u8, u32, u32, u64) = (2, 15, 1023, 0);
const FIRST_WINDOW_OF_DSSS: u32 = 31;

/// Tries of a frame. Source: IEEE 802.11-2020, `dot11ShortRetryLimit`: 7.
const TRIES: u32 = 7;

/// See the module.
#[derive(Debug)]
pub(super) struct Exchanges {
    band: Band,
    protection: bool,
    /// Frames longer than this are preceded by RTS.
    rts: Option<Bytes>,
    /// Frames in flight to one receiver, where it is not what the standard has.
    window: Option<u64>,
    pub(super) most_tries: u32,
    /// The format of the channel's standard.
    format: Format,
    qos: bool,
    /// Bytes around a packet in a frame.
    around: u64,
}

impl Exchanges {
    pub(super) fn new(radio: &RadioConfig) -> Self {
        Self {
            band: radio.band.into(),
            protection: radio.protection,
            rts: radio.rts,
            window: radio.block_ack.map(u64::from),
            most_tries: TRIES,
            format: radio.mode(0).format,
            qos: radio.qos,
            around: AROUND + if radio.qos { QOS } else { 0 } + if radio.encryption { CCMP } else { 0 },
        }
    }

    /// Frames of the mode in flight to one receiver. 802.11-2020, 9.3.1.8; 802.11ax-2021.
    pub(super) fn window(&self, mode: Mode) -> u64 {
        self.window.unwrap_or(if mode.format == Format::He { 256 } else { 64 })
    }

    /// Returns the category of a packet with this code point.
    pub(super) const fn category(&self, dscp: u8) -> usize {
        if self.qos { category_of(dscp) } else { BEST_EFFORT }
    }

    fn contention(&self, is_access_point: bool) -> [(u8, u32, u32, u64); CATEGORIES] {
        match (self.qos, self.format) {
            (true, _) => EDCA[usize::from(is_access_point)],
            (false, Format::Dsss) => [(DCF.0, FIRST_WINDOW_OF_DSSS, DCF.2, DCF.3); CATEGORIES],
            (false, _) => [DCF; CATEGORIES],
        }
    }

    pub(super) fn timing(&self) -> Timing {
        let (band, protection) = (self.band, self.protection);
        Timing {
            slot: slot(band, protection),
            sifs: sifs(band),
            recovery: eifs(band, protection).saturating_sub(difs(band, protection)),
            tries: TRIES,
            counts_busy: self.format >= Format::Ht,
        }
    }

    /// Parameters of each category, of the access point or of a station.
    pub(super) fn categories(&self, is_access_point: bool) -> [Category; CATEGORIES] {
        self.contention(is_access_point).map(|(slots, first_window, longest_window, us)| Category {
            aifs: aifs(self.band, self.protection, slots),
            first_window,
            longest_window,
            opportunity: Span::from_us(us),
        })
    }

    /// Returns true if frames of the mode are sent together.
    fn aggregates(mode: Mode) -> bool {
        mode.format >= Format::Ht
    }

    /// Frames of the mode that may be sent together.
    pub(super) fn most_frames(&self, mode: Mode) -> usize {
        if Self::aggregates(mode) { usize::try_from(self.window(mode)).unwrap_or(usize::MAX) } else { 1 }
    }

    /// Bytes that a packet adds to an aggregate.
    pub(super) const fn charged(&self, length: u32) -> u64 {
        (length as u64 + self.around + DELIMITER).next_multiple_of(WORD)
    }

    /// Bytes of an aggregate at most; one frame may always be sent.
    pub(super) fn room(&self, mode: Mode, (category, is_access_point): (usize, bool), mut longest: Span) -> u64 {
        let (.., us) = self.contention(is_access_point)[category];
        if us > 0 {
            longest = longest.min(Span::from_us(us).saturating_sub(self.answer(mode, true)));
        }
        mode.most_bytes(longest).0
    }

    /// SIFS and the answer to an aggregate, or to a frame alone.
    fn answer(&self, mode: Mode, is_aggregate: bool) -> Span {
        let basic = mode.answer();
        let answer = if is_aggregate {
            Control::block_ack_duration(basic, u16::try_from(self.window(mode)).unwrap_or(u16::MAX))
        } else {
            Control::ack_duration(basic)
        };
        sifs(self.band) + answer
    }

    /// Bytes that a packet adds to a frame that has others: the `parts`-th of an A-MSDU.
    pub(super) const fn joined(length: u32, parts: usize) -> u64 {
        let first = if parts == 2 { FIRST_PART } else { 0 };
        first + (length as u64 + AROUND_PART).next_multiple_of(WORD)
    }

    /// Bytes of a frame of `packets` packets of this length.
    pub(super) const fn psdu(&self, packets: usize, length: u32) -> u64 {
        if packets == 1 { length as u64 + self.around } else { self.charged(length) * packets as u64 }
    }

    /// Frames that packets of the usual length make an aggregate of, at most `most`.
    pub(super) fn usual_frames(&self, mode: Mode, category: usize, most: usize) -> usize {
        let room = self.room(mode, (category, false), LONGEST_PPDU) / self.charged(USUAL_LENGTH);
        usize::try_from(room).unwrap_or(most).min(most).min(self.most_frames(mode)).max(1)
    }

    /// Returns true if RTS and CTS go before a frame of `bytes`.
    pub(super) fn asks_first(&self, bytes: u64) -> bool {
        self.rts.is_some_and(|most| Bytes(bytes) > most)
    }

    /// Duration of a BlockAckReq, and of the rest of its exchange.
    pub(super) fn request(&self, mode: Mode) -> (Span, Span) {
        (Control::block_ack_request_duration(mode.answer()), self.answer(mode, true))
    }

    /// Duration of the exchange of `packets` packets in a frame of `bytes`: until the first answer less SIFS, and the rest.
    pub(super) fn of(&self, mode: Mode, packets: usize, bytes: u64) -> (Span, Span) {
        let is_aggregate = packets > 1;
        let data = mode.data_duration(Bytes(bytes));
        let answer = self.answer(mode, is_aggregate);
        if self.asks_first(bytes) {
            let basic = mode.answer();
            let space = sifs(self.band);
            return (Control::rts_duration(basic), space + Control::cts_duration(basic) + space + data + answer);
        }
        let protected = self.protection && mode.format > Format::Dsss;
        let before = if protected { cts_to_self(Mode::dsss(3)) } else { Span::ZERO };
        (before + data, answer)
    }

    /// Duration of a packet's frame alone.
    pub(super) fn alone(&self, mode: Mode, length: u32) -> Span {
        mode.data_duration(Bytes(self.psdu(1, length)))
    }

    /// Airtime of a packet among others.
    pub(super) fn estimate(&self, mode: Mode, length: u32) -> Span {
        mode.rate().time_for(Bytes(self.charged(length)))
    }

    /// Throughput of one sender alone on the channel, with packets of the usual length.
    pub(super) fn capacity(&self, mode: Mode, most: usize) -> BitRate {
        let packets = self.usual_frames(mode, BEST_EFFORT, most);
        let (first, rest) = self.of(mode, packets, self.psdu(packets, USUAL_LENGTH));
        let [_, _, best_effort, _] = self.categories(false);
        let backoff = slot(self.band, self.protection) * u64::from(best_effort.first_window);
        let whole = first + rest + best_effort.aifs + backoff / 2;
        let bits = u128::from(USUAL_LENGTH) * 8 * packets as u128 * 1_000_000_000_000;
        BitRate::from_bps(u64::try_from(bits / u128::from(whole.as_ps())).unwrap_or(u64::MAX))
    }
}

/// Returns the access category of a code point: its first three bits are the user priority.
/// Source: `cfg80211_classify8021d` of Linux before 6.8; IEEE 802.11-2020, table 10-1.
pub const fn category_of(dscp: u8) -> usize {
    match dscp >> 3 {
        6 | 7 => 0,
        4 | 5 => 1,
        1 | 2 => 3,
        _ => BEST_EFFORT,
    }
}

impl RadioConfig {
    /// The rate of a station alone on the channel, with long and full aggregates; zero if the standard has no such mode.
    pub fn capacity(&self, rate: StationRate) -> BitRate {
        let mode = rate.usual(self);
        if mode.illegal().is_some() {
            return BitRate::ZERO;
        }
        Exchanges::new(self).capacity(mode, 256)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wifi::config::{BandWord, Standard, WidthWord};

    #[test]
    fn categories_contend_as_the_standard_says() {
        let us = Span::from_us;
        let exchanges = Exchanges::new(&RadioConfig::BASE);
        // Voice, video, best effort, background at 5 GHz: SIFS of 16 µs and 2, 2, 3 and 7 slots of 9 µs; TXOP limits as INET prints.
        for (is_access_point, longest) in [(false, 1023), (true, 63)] {
            let categories = exchanges.categories(is_access_point);
            assert_eq!(categories.map(|one| one.aifs), [us(34), us(34), us(43), us(79)]);
            assert_eq!(categories.map(|one| one.first_window), [3, 7, 15, 15]);
            assert_eq!(categories.map(|one| one.longest_window), [7, 15, longest, 1023]);
            assert_eq!(categories.map(|one| one.opportunity), [us(1_504), us(3_008), Span::ZERO, Span::ZERO]);
        }
    }

    /// INET's showcase `throughput`: datagrams of 1000 B in 802.11g, alone on the channel, without QoS and encryption. By hand at 54 Mb/s: DIFS 28,
    /// mean backoff 67.5, 1064 B in 40 symbols and 26 µs around them, SIFS 10, ACK 34: 325.5 µs for 8000 bits, 24.6 Mb/s; with QoS and CCMP
    /// a slot and a symbol more, 23.6 Mb/s.
    #[test]
    fn dcf_without_encryption_costs_a_slot_and_eighteen_bytes_less() {
        let plain = RadioConfig {
            band: BandWord::Ghz2_4,
            width: WidthWord::Mhz20,
            standard: Standard::G,
            qos: false,
            encryption: false,
            ..RadioConfig::BASE
        };
        for (radio, aifs, bytes, ns) in
            [(plain, 28, 1064, 325_500), (RadioConfig { qos: true, encryption: true, ..plain }, 37, 1082, 338_500)]
        {
            let exchanges = Exchanges::new(&radio);
            let [.., best_effort, _] = exchanges.categories(true);
            assert_eq!((best_effort.aifs, best_effort.first_window), (Span::from_us(aifs), 15));
            assert_eq!(best_effort.longest_window, if radio.qos { 63 } else { 1023 });
            assert_eq!(exchanges.psdu(1, 1028), bytes);
            let (first, rest) = exchanges.of(radio.mode(7), 1, bytes);
            assert_eq!(best_effort.aifs + Span::from_ns(67_500) + first + rest, Span::from_ns(ns));
            assert_eq!(exchanges.category(46), if radio.qos { 1 } else { BEST_EFFORT });
        }
        let dsss = Exchanges::new(&RadioConfig { standard: Standard::B, ..plain });
        assert_eq!(dsss.categories(false)[0].first_window, 31);
    }
}
