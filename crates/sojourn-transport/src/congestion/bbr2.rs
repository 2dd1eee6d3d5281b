//! BBR, version 2: model and states of version 3, with its own gains and rules.
//!
//! Source: Linux `tcp_bbr2.c` of Google's alpha of 2019 (google/bbr, 8d11b540). The L4S team's kernel (L4STeam/linux, 009adfe4) has
//! the same with marks answered at any round trip (`bbr_ecn_max_rtt_us` 0); its later file also goes down by 0.91 and probes with
//! a window of 2.25.
//! Units: as [`super::bbr3`]. Deviations: those of version 3; what is released at once is two segments at any rate.

use super::bbr3::{Bbr3, Bbr3Config, MARKS_UP_TO, Rules, Version};
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

pub(super) const TWO: Version = Version {
    // `bbr_high_gain`: 2885/1000, the least that doubles the rate in each round trip, 2/ln 2
    startup_pacing_gain: 2.885,
    // `bbr_startup_cwnd_gain`
    startup_cwnd_gain: 2.885,
    // `bbr_drain_gain`: 1000/2885
    drain_pacing_gain: 1.0 / 2.885,
    // `bbr_pacing_gain[BBR_BW_PROBE_DOWN]`: 3/4
    probe_bw_down_pacing_gain: 0.75,
    // `bbr_cwnd_gain`
    probe_bw_up_cwnd_gain: 2.0,
    // `bbr_full_loss_cnt`
    startup_full_loss_cnt: 8,
    rules: Rules::Two,
};

impl ControllerKind for Bbr2Config {
    fn build(&self, connection: &Connection) -> AnyController {
        let config = Bbr3Config { marks_up_to: self.marks_up_to, ..Bbr3Config::BASE };
        AnyController::other(Bbr3::new(config, TWO, connection))
    }
}
