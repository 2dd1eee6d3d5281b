use super::*;
use crate::wifi::phy::{Illegal, STREAMS, Width, aifs, cts_to_self, difs, eifs, sifs, slot};
use proptest::prelude::*;
use std::vec::Vec;

const MTU: u64 = 1_538;

/// Mode, PSDU and duration in ns, worked out by hand: symbols × symbol + preamble (+ extension).
const VECTORS: [(Mode, u64, u64); 30] = [
    // 8 × 1528 + 22 = 12,246 bits; / 216 = 57 symbols; 57 × 4 + 20.
    (Mode::ofdm(Band::Ghz5, 7), 1_528, 248_000),
    // The same and 6 µs.
    (Mode::ofdm(Band::Ghz2_4, 7), 1_528, 254_000),
    // 134 bits: 6, 3 and 2 symbols.
    (Mode::ofdm(Band::Ghz5, 0), 14, 44_000),
    (Mode::ofdm(Band::Ghz5, 2), 14, 32_000),
    (Mode::ofdm(Band::Ghz5, 4), 14, 28_000),
    // 12,246 / 36 = 341 symbols.
    (Mode::ofdm(Band::Ghz5, 1), 1_528, 1_384_000),
    // 12,224 bits at 11, 5.5, 2 and 1 Mb/s: 1112, 2223, 6112 and 12,224 µs, and 192.
    (Mode::dsss(3), 1_528, 1_304_000),
    (Mode::dsss(2), 1_528, 2_415_000),
    (Mode::dsss(1), 1_528, 6_304_000),
    (Mode::dsss(0), 1_528, 12_416_000),
    // 12,326 bits; / 260 = 48 symbols; preamble 20 + 12 + 4.
    (Mode::ht(Band::Ghz5, Width::Mhz20, 7, false), MTU, 228_000),
    // 12,326 / 26 = 475 symbols; the preamble, and 6 µs.
    (Mode::ht(Band::Ghz2_4, Width::Mhz20, 0, false), MTU, 1_942_000),
    // 524,302 / 520 = 1009 symbols of 3.6 = 3632.4, on the grid 3636; preamble 40.
    (Mode::ht(Band::Ghz5, Width::Mhz20, 15, true), 65_535, 3_676_000),
    // 12,326 / 540 = 23 symbols of 3.6 = 82.8, on the grid 84; preamble 36.
    (Mode::ht(Band::Ghz5, Width::Mhz40, 7, true), MTU, 120_000),
    // Two encoders: 32,376 + 16 + 12 = 32,404; / 1620 = 21 symbols (20 with one); preamble 20 + 12 + 4 × 4.
    (Mode::ht(Band::Ghz5, Width::Mhz40, 23, false), 4_047, 132_000),
    // One encoder: 270 Mb/s at the short guard. 24,296 + 22 = 24,318; / 972 = 26 symbols; preamble 48.
    (Mode::ht(Band::Ghz5, Width::Mhz40, 20, false), 3_037, 152_000),
    // 80,022 / 1560 = 52 symbols of 3.6 = 187.2, on the grid 188; preamble 20 + 16 + 4.
    (Mode::vht(Width::Mhz80, 9, 1, true), 10_000, 228_000),
    // 12,304 + 16 + 12 = 12,332; / 3120 = 4 symbols; preamble 44.
    (Mode::vht(Width::Mhz80, 9, 2, false), MTU, 60_000),
    // 12,326 / 312 = 40 symbols; preamble 40.
    (Mode::vht(Width::Mhz20, 8, 1, false), MTU, 200_000),
    // Two encoders at 866.7 Mb/s: 12,332 / 3120 = 4 symbols; preamble 40.
    (Mode::vht(Width::Mhz160, 9, 1, false), MTU, 56_000),
    // Three encoders at 1300 Mb/s: 12,304 + 16 + 18 = 12,338; / 4680 = 3 symbols; preamble 20 + 16 + 16.
    (Mode::vht(Width::Mhz80, 9, 3, false), MTU, 64_000),
    // Six encoders at 2600 Mb/s: 37,392 + 16 + 36 = 37,444; / 9360 = 5 symbols (4 with five encoders); preamble 52.
    (Mode::vht(Width::Mhz160, 7, 4, false), 4_674, 72_000),
    // 12,326 / 117 = 106 symbols of 13.6 = 1441.6; preamble 20 + 16 + 7.2.
    (Mode::he(Band::Ghz5, Width::Mhz20, 0, 1), MTU, 1_484_800),
    // 12,326 / 1170 = 11 symbols = 149.6; preamble 43.2; 6 µs.
    (Mode::he(Band::Ghz2_4, Width::Mhz20, 7, 1), MTU, 198_800),
    // LDPC: 12,320 / 16,333 = 1 symbol; preamble 50.4.
    (Mode::he(Band::Ghz5, Width::Mhz80, 11, 2), MTU, 64_000),
    // 800,016 / 8166 = 98 symbols = 1332.8; preamble 43.2.
    (Mode::he(Band::Ghz5, Width::Mhz80, 11, 1), 100_000, 1_376_000),
    // LDPC at 20 MHz from MCS 10: 234 × 10 × 3 / 4 = 1755; 12,320 / 1755 = 8 symbols = 108.8; preamble 43.2.
    (Mode::he(Band::Ghz5, Width::Mhz20, 10, 1), MTU, 152_000),
    // Four training fields for three streams: 1960 × 2 × 3 / 2 = 5880; 12,320 / 5880 = 3 symbols = 40.8; preamble 64.8.
    (Mode::he(Band::Ghz5, Width::Mhz160, 1, 3), MTU, 105_600),
    // 468 × 6 × 2 / 3 = 1872; 12,320 / 1872 = 7 symbols = 95.2; preamble 43.2.
    (Mode::he(Band::Ghz5, Width::Mhz40, 5, 1), MTU, 138_400),
    // 980 / 2 = 490; 12,320 / 490 = 26 symbols = 353.6; preamble 43.2.
    (Mode::he(Band::Ghz5, Width::Mhz80, 0, 1), MTU, 396_800),
];

#[test]
fn data_lasts_as_worked_out_by_hand() {
    for (mode, psdu, ns) in VECTORS {
        assert_eq!(mode.illegal(), None, "{mode:?}");
        assert_eq!(mode.data_duration(Bytes(psdu)), Span::from_ns(ns), "{psdu} B by {mode:?}");
    }
}

#[test]
fn control_frames_last_as_worked_out_by_hand() {
    let (six, twelve, twenty_four) = (Mode::ofdm(Band::Ghz5, 0), Mode::ofdm(Band::Ghz5, 2), Mode::ofdm(Band::Ghz5, 4));
    let us = Span::from_us;
    assert_eq!(Control::ack_duration(six), us(44));
    assert_eq!(Control::cts_duration(twelve), us(32));
    // 182 bits: 8 symbols at 6 Mb/s, 2 at 24.
    assert_eq!((Control::rts_duration(six), Control::rts_duration(twenty_four)), (us(52), us(28)));
    // 278 bits: 12 symbols and 3; 470 bits with the bitmap of 256: 5.
    assert_eq!((Control::block_ack_duration(six, 64), Control::block_ack_duration(twenty_four, 64)), (us(68), us(32)));
    assert_eq!(Control::block_ack_duration(twenty_four, 256), us(40));
    // 214 bits: 9 symbols.
    assert_eq!(Control::block_ack_request_duration(six), us(56));
    // 2.4 GHz has 6 µs more; DSSS: 192 + 112, 192 + 56; a CTS-to-self at 11 Mb/s: 192 + 11 + 10.
    assert_eq!(Control::ack_duration(Mode::ofdm(Band::Ghz2_4, 0)), us(50));
    assert_eq!(Control::ack_duration(Mode::dsss(0)), us(304));
    assert_eq!(Control::ack_duration(Mode::dsss(1)), us(248));
    assert_eq!(cts_to_self(Mode::dsss(3)), us(213));
}

#[test]
fn spaces_between_frames_are_those_of_the_standard() {
    let us = Span::from_us;
    let rows = [(Band::Ghz5, false), (Band::Ghz2_4, false), (Band::Ghz2_4, true)].map(|(band, protection)| {
        (slot(band, protection), sifs(band), difs(band, protection), aifs(band, protection, 3), eifs(band, protection))
    });
    assert_eq!(rows[0], (us(9), us(16), us(34), us(43), us(16 + 44 + 34)));
    assert_eq!(rows[1], (us(9), us(10), us(28), us(37), us(10 + 50 + 28)));
    assert_eq!(rows[2], (us(20), us(10), us(50), us(70), us(10 + 304 + 50)));
}

/// Rates in 0.1 Mb/s of one stream, as printed: 802.11-2020, Tables 19-27 to 19-34 (HT, long and short guard interval) and 21-30,
/// 21-38, 21-46 and 21-54 (VHT); 802.11ax-2021, Tables 27-55 and following (HE at 0.8 µs). 0: not valid.
const HT_20: [[u64; 8]; 2] = [[65, 130, 195, 260, 390, 520, 585, 650], [72, 144, 217, 289, 433, 578, 650, 722]];
const HT_40: [[u64; 8]; 2] = [[135, 270, 405, 540, 810, 1080, 1215, 1350], [150, 300, 450, 600, 900, 1200, 1350, 1500]];
const VHT_20: [[u64; 10]; 2] =
    [[65, 130, 195, 260, 390, 520, 585, 650, 780, 0], [72, 144, 217, 289, 433, 578, 650, 722, 867, 0]];
const VHT_40: [[u64; 10]; 2] =
    [[135, 270, 405, 540, 810, 1080, 1215, 1350, 1620, 1800], [150, 300, 450, 600, 900, 1200, 1350, 1500, 1800, 2000]];
const VHT_80: [[u64; 10]; 2] = [
    [293, 585, 878, 1170, 1755, 2340, 2633, 2925, 3510, 3900],
    [325, 650, 975, 1300, 1950, 2600, 2925, 3250, 3900, 4333],
];
const VHT_160: [[u64; 10]; 2] = [
    [585, 1170, 1755, 2340, 3510, 4680, 5265, 5850, 7020, 7800],
    [650, 1300, 1950, 2600, 3900, 5200, 5850, 6500, 7800, 8667],
];
const HE: [[u64; 12]; 4] = [
    [86, 172, 258, 344, 516, 688, 774, 860, 1032, 1147, 1290, 1434],
    [172, 344, 516, 688, 1032, 1376, 1549, 1721, 2065, 2294, 2581, 2868],
    [360, 721, 1081, 1441, 2162, 2882, 3243, 3603, 4324, 4804, 5404, 6005],
    [721, 1441, 2162, 2882, 4324, 5765, 6485, 7206, 8647, 9608, 10809, 12010],
];
const WIDTHS: [Width; 4] = [Width::Mhz20, Width::Mhz40, Width::Mhz80, Width::Mhz160];

/// The rate in 0.1 Mb/s to the nearest; 0 of a mode that the standard does not have.
fn printed(mode: Mode) -> u64 {
    if mode.illegal().is_some() { 0 } else { (mode.rate().as_bps() + 50_000) / 100_000 }
}

#[test]
fn rates_are_those_of_the_tables() {
    let mcs = |rates: &[u64], mode: &dyn Fn(u8) -> Mode| {
        for (mcs, rate) in (0..).zip(rates) {
            assert_eq!(printed(mode(mcs)), *rate, "{:?}", mode(mcs));
        }
    };
    mcs(&[60, 90, 120, 180, 240, 360, 480, 540], &|mcs| Mode::ofdm(Band::Ghz5, mcs));
    mcs(&[10, 20, 55, 110], &Mode::dsss);
    for (short, index) in [(false, 0), (true, 1)] {
        for (width, rates) in WIDTHS.into_iter().zip([HT_20, HT_40]) {
            mcs(&rates[index], &|mcs| Mode::ht(Band::Ghz5, width, mcs, short));
        }
        for (width, rates) in WIDTHS.into_iter().zip([VHT_20, VHT_40, VHT_80, VHT_160]) {
            mcs(&rates[index], &|mcs| Mode::vht(width, mcs, 1, short));
        }
    }
    for (width, rates) in WIDTHS.into_iter().zip(HE) {
        mcs(&rates, &|mcs| Mode::he(Band::Ghz5, width, mcs, 1));
    }
    // Two, three and four streams: HT MCS 15, 23 and 31; VHT MCS 9 at 20 MHz is valid with three streams only.
    assert_eq!([15, 23, 31].map(|index| printed(Mode::ht(Band::Ghz5, Width::Mhz40, index, true))), [3000, 4500, 6000]);
    assert_eq!([1, 2, 3, 4].map(|streams| printed(Mode::vht(Width::Mhz20, 9, streams, false))), [0, 0, 2600, 0]);
    assert_eq!(printed(Mode::he(Band::Ghz5, Width::Mhz160, 11, 2)), 24_020);
}

#[test]
fn modes_that_the_standard_does_not_have_are_refused() {
    let vht = |width, mcs, streams| Mode::vht(width, mcs, streams, false);
    let combination = |mode: Mode| (mode, Illegal::Combination(mode));
    for (mode, why) in [
        combination(vht(Width::Mhz80, 6, 3)),
        combination(vht(Width::Mhz160, 9, 3)),
        combination(vht(Width::Mhz20, 9, 1)),
        (vht(Width::Mhz80, 10, 1), Illegal::Mcs(Format::Vht, 10)),
        (Mode::ofdm(Band::Ghz5, 8), Illegal::Mcs(Format::Ofdm, 8)),
        (vht(Width::Mhz80, 0, 0), Illegal::Streams(Format::Vht, 0)),
        (vht(Width::Mhz80, 0, STREAMS + 1), Illegal::Streams(Format::Vht, STREAMS + 1)),
        (Mode { streams: 2, ..Mode::ofdm(Band::Ghz5, 0) }, Illegal::Streams(Format::Ofdm, 2)),
        (Mode { band: Band::Ghz2_4, ..vht(Width::Mhz20, 0, 1) }, Illegal::Band(Format::Vht, Band::Ghz2_4)),
        (Mode { band: Band::Ghz5, ..Mode::dsss(0) }, Illegal::Band(Format::Dsss, Band::Ghz5)),
        (Mode::ht(Band::Ghz5, Width::Mhz80, 0, false), Illegal::Width(Format::Ht, Band::Ghz5, Width::Mhz80)),
        (Mode::he(Band::Ghz2_4, Width::Mhz80, 0, 1), Illegal::Width(Format::He, Band::Ghz2_4, Width::Mhz80)),
        (Mode { short_guard: true, ..Mode::he(Band::Ghz5, Width::Mhz80, 0, 1) }, Illegal::Guard(Format::He)),
    ] {
        assert_eq!(mode.illegal(), Some(why), "{mode:?}");
    }
    assert_eq!(
        std::format!("{}", Illegal::Combination(vht(Width::Mhz80, 6, 3))),
        "802.11ac leaves MCS 6 out for 3 streams at 80 MHz"
    );
}

#[test]
fn answers_come_at_the_mandatory_rate_below_the_reference_rate() {
    let answers = |modes: Vec<Mode>| -> Vec<u64> {
        modes.into_iter().map(|mode| mode.answer().rate().as_bps() / 1_000_000).collect()
    };
    assert_eq!(answers((0..8).map(|mcs| Mode::ofdm(Band::Ghz5, mcs)).collect()), [6, 6, 12, 12, 24, 24, 24, 24]);
    assert_eq!(answers((0..4).map(|mcs| Mode::vht(Width::Mhz80, mcs, 2, true)).collect()), [6, 12, 12, 24]);
    assert_eq!(answers((0..4).map(Mode::dsss).collect()), [1, 2, 2, 2]);
}

/// All modes of the standard up to [`STREAMS`] streams.
fn legal_modes() -> Vec<Mode> {
    let mut modes = Vec::new();
    for format in [Format::Dsss, Format::Ofdm, Format::Ht, Format::Vht, Format::He] {
        for band in [Band::Ghz2_4, Band::Ghz5] {
            for width in WIDTHS {
                for streams in 1..=STREAMS {
                    for mcs in 0..12 {
                        for short_guard in [false, true] {
                            modes.push(Mode { format, band, width, mcs, streams, short_guard });
                        }
                    }
                }
            }
        }
    }
    modes.retain(|mode| mode.illegal().is_none());
    modes
}

proptest! {
    #[test]
    fn the_largest_psdu_in_a_time_fits_and_the_next_does_not(mode in prop::sample::select(legal_modes()), us in 0_u64..10_000) {
        let limit = Span::from_us(us);
        let most = mode.most_bytes(limit);
        let longest = [PSDU_MOST_OFDM, PSDU_MOST_HT, PSDU_MOST_VHT, PSDU_MOST_HE].contains(&most);
        prop_assert!(most == Bytes::ZERO || mode.data_duration(most) <= limit);
        prop_assert!(longest || mode.data_duration(Bytes(most.0 + 1)) > limit);
    }

    #[test]
    fn more_bytes_never_last_shorter(mode in prop::sample::select(legal_modes()), bytes in 0_u64..70_000, more in 0_u64..3_000) {
        prop_assert!(mode.data_duration(Bytes(bytes)) <= mode.data_duration(Bytes(bytes + more)));
    }
}
