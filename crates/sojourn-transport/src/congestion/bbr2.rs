//! BBR, version 2: model and states of version 3, with its own gains and its own end of a probe.
//!
//! Source: Linux `tcp_bbr2.c` of Google's alpha of 2019, as the L4S team's kernel of 2020 had it.
//! Units: as [`super::bbr3`]. Deviations: those of version 3; a probe that reaches an old bound goes on.

use super::bbr3::{Bbr3, Bbr3Config, MARKS_UP_TO, Version};
use super::{AnyController, Connection, ControllerKind};
use sojourn_base::Span;
use sojourn_keys::{origin, parameters};

parameters! {
    /// Parameters of BBRv2.
    #[derive(Copy)]
    pub struct Bbr2Config: "bbr2", "BBR, version 2 (Linux tcp_bbr2.c)" {
        /// marks that the peer counts are answered once the shortest round trip is no longer than this; zero: at any
        marks_up_to: Span = MARKS_UP_TO, origin("Linux tcp_bbr2.c, ecn_max_rtt_us").most("1 s");
    }
}

/// Gains `bbr_high_gain`, `bbr_drain_gain`, `bbr_pacing_gain` and `bbr_cwnd_gain`, `full_loss_cnt`; `ecn_reprobe_gain` is zero.
pub(super) const TWO: Version = Version {
    startup_pacing_gain: 2.885,
    startup_cwnd_gain: 2.885,
    drain_pacing_gain: 1.0 / 2.885,
    probe_bw_down_pacing_gain: 0.75,
    probe_bw_up_cwnd_gain: 2.0,
    startup_full_loss_cnt: 8,
    probes_to_a_queue: true,
    reprobes_after_marks: false,
};

impl ControllerKind for Bbr2Config {
    fn build(&self, connection: &Connection) -> AnyController {
        let config = Bbr3Config {
            marks_up_to: self.marks_up_to,
            ..Bbr3Config::BASE
        };
        AnyController::other(Bbr3::new(config, TWO, connection))
    }
}
