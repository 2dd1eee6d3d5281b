//! The traffic of the two studies by White: nine cases of 2012, seventeen scenarios of 2013.
//!
//! Source: White 2012 3.2.1, 3.2.2, 3.2.3, Tables 1 and 2, with the server distances of 2.3; White 2013
//! 3.6, 3.7 and Table 2.
//! Deviations: none known; what the sources leave open is said at the named parameter sets.

use crate::{ApplicationConfig, BulkConfig, ConstantRateConfig, WebConfig};
use sojourn_base::Span;

/// An application with what it needs from the transport and the network.
#[derive(Clone, Debug, PartialEq)]
pub struct Traffic {
    /// Name, unique within the scenario.
    pub name: String,
    /// What it does.
    pub application: ApplicationConfig,
    /// Name of the TCP stack at both ends; `None` for datagrams.
    pub stack: Option<&'static str>,
    /// Fixed round trip to each server, without queues and medium access.
    pub round_trips: Vec<Span>,
}

/// File uploads of a scenario.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Upload {
    /// One upload without end.
    Continuous,
    /// Five loops of 5 MB files.
    Repeating,
    /// 18.75 MB, 16 s pause.
    Bursty,
    /// Ten loops of 250 KB files.
    SmallFiles,
    /// 32 uploads of 256,000 B pieces.
    BitTorrent,
}

impl Upload {
    /// The parameters.
    pub const fn config(self) -> BulkConfig {
        match self {
            Self::Continuous => BulkConfig::CONTINUOUS,
            Self::Repeating => BulkConfig::REPEATING,
            Self::Bursty => BulkConfig::BURSTY,
            Self::SmallFiles => BulkConfig::SMALL_FILES,
            Self::BitTorrent => BulkConfig::BITTORRENT,
        }
    }

    /// The TCP stack (White 2012 Table 1; White 2013 Table 2).
    pub const fn stack(self) -> &'static str {
        match self {
            Self::Continuous | Self::Repeating | Self::SmallFiles => "ns2-linux-cubic",
            Self::Bursty => "ns2-reno",
            Self::BitTorrent => "ns2-ledbat",
        }
    }
}

/// How much traffic a scenario has (White 2013 3.7).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LoadGroup {
    /// At most one upload.
    Light,
    /// Five uploads beside one web user.
    Moderate,
    /// Everything else.
    Heavy,
}

impl LoadGroup {
    /// The word used in files and records.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Light => "light",
            Self::Moderate => "moderate",
            Self::Heavy => "heavy",
        }
    }
}

/// What runs at the same time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scenario {
    /// The study's label.
    pub id: &'static str,
    /// Number of voice calls (or game streams).
    pub calls: u32,
    /// Number of web users.
    pub web_users: u32,
    /// Whether 1 Mb/s without congestion control runs as well.
    pub constant_rate: bool,
    /// File uploads and the round trip to their server.
    pub upload: Option<(Upload, Span)>,
}

impl Scenario {
    /// Number of parallel uploads.
    pub fn uploads(&self) -> u32 {
        self.upload.map_or(0, |(upload, _)| upload.config().lanes)
    }

    /// The group by the rule of White 2013 3.7.
    pub fn load_group(&self) -> LoadGroup {
        match (self.uploads(), self.web_users) {
            (0 | 1, _) => LoadGroup::Light,
            (5, 1) => LoadGroup::Moderate,
            _ => LoadGroup::Heavy,
        }
    }

    /// Connections and streams at the same time: 24 to each web user.
    pub fn sessions(&self) -> u32 {
        let web = WebConfig::WHITE2013;
        let per_user = web.page.servers() * web.connections_per_server as usize;
        let per_user = u32::try_from(per_user).expect("24 connections");
        self.calls + self.web_users * per_user + u32::from(self.constant_rate) + self.uploads()
    }

    /// The applications, with `page` as what the web users load.
    pub fn traffic(&self, page: &WebConfig) -> Vec<Traffic> {
        let mut traffic = Vec::new();
        for call in 1..=self.calls {
            traffic.push(Traffic {
                name: format!("call-{call}"),
                application: ApplicationConfig::ConstantRate(ConstantRateConfig::VOICE),
                stack: None,
                round_trips: vec![Span::ZERO],
            });
        }
        traffic.push(Traffic {
            name: "web".to_owned(),
            application: ApplicationConfig::Web(WebConfig {
                users: self.web_users,
                ..*page
            }),
            stack: Some("ns2-bsd-sack"),
            round_trips: WEB_ROUND_TRIPS.to_vec(),
        });
        if self.constant_rate {
            traffic.push(Traffic {
                name: "cbr".to_owned(),
                application: ApplicationConfig::ConstantRate(ConstantRateConfig::ONE_MEGABIT),
                stack: None,
                round_trips: vec![Span::ZERO],
            });
        }
        if let Some((upload, round_trip)) = self.upload {
            traffic.push(Traffic {
                name: "upload".to_owned(),
                application: ApplicationConfig::Bulk(upload.config()),
                stack: Some(upload.stack()),
                round_trips: vec![round_trip],
            });
        }
        traffic
    }
}

/// Bulk traffic of the cases 01 to 09 of White 2012 Table 2, each with one call and one web user.
/// The bulk scenarios of its section 3.2.1 are: 1 none (01), 2 continuous (02, 03), 3 repeating (04,
/// 05), 4 repeating and 1 Mb/s (06, 07), 5 bursty (08, 09).
pub const WHITE2012: [Scenario; 9] = [
    row("01", (1, 1), false, None),
    row("02", (1, 1), false, Some((Upload::Continuous, NEAR))),
    row("03", (1, 1), false, Some((Upload::Continuous, FAR))),
    row("04", (1, 1), false, Some((Upload::Repeating, NEAR))),
    row("05", (1, 1), false, Some((Upload::Repeating, FAR))),
    row("06", (1, 1), true, Some((Upload::Repeating, NEAR))),
    row("07", (1, 1), true, Some((Upload::Repeating, FAR))),
    row("08", (1, 1), false, Some((Upload::Bursty, NEAR))),
    row("09", (1, 1), false, Some((Upload::Bursty, FAR))),
];

/// Scenarios of White 2013 Table 2.
pub const WHITE2013: [Scenario; 17] = [
    row("x01", (1, 1), false, None),
    row("x02", (1, 1), false, Some((Upload::Continuous, NEAR))),
    row("x03", (1, 1), false, Some((Upload::Continuous, FAR))),
    row("x04", (1, 1), false, Some((Upload::Repeating, NEAR))),
    row("x05", (1, 1), false, Some((Upload::Repeating, FAR))),
    row("x06", (1, 1), true, Some((Upload::Repeating, NEAR))),
    row("x07", (1, 1), true, Some((Upload::Repeating, FAR))),
    row("x08", (1, 1), false, Some((Upload::Bursty, NEAR))),
    row("x09", (1, 1), false, Some((Upload::Bursty, FAR))),
    row("x10", (4, 4), false, Some((Upload::Continuous, NEAR))),
    row("x11", (4, 4), false, Some((Upload::Continuous, FAR))),
    row("x12", (4, 4), false, Some((Upload::Repeating, NEAR))),
    row("x13", (4, 4), false, Some((Upload::Repeating, FAR))),
    row("x14", (4, 4), false, Some((Upload::SmallFiles, NEAR))),
    row("x15", (4, 4), false, Some((Upload::SmallFiles, FAR))),
    row("x16", (4, 1), false, Some((Upload::BitTorrent, NEAR))),
    row("x17", (4, 1), false, Some((Upload::BitTorrent, FAR))),
];

/// The applications of case `id` ("01" to "09") of White 2012, or `None` for an unknown one.
pub fn white2012(id: &str) -> Option<Vec<Traffic>> {
    let scenario = WHITE2012.iter().find(|scenario| scenario.id == id)?;
    Some(scenario.traffic(&WebConfig::WHITE2012))
}

/// The applications of scenario `id` ("x01" to "x17") of White 2013, or `None` for an unknown one.
pub fn white2013(id: &str) -> Option<Vec<Traffic>> {
    let scenario = WHITE2013.iter().find(|scenario| scenario.id == id)?;
    Some(scenario.traffic(&WebConfig::WHITE2013))
}

/// The nearer upload server (White 2012 2.3 and 3.2.1.2).
const NEAR: Span = Span::from_ms(20);
/// The farther upload server (White 2012 2.3 and 3.2.1.2).
const FAR: Span = Span::from_ms(100);
/// Web servers 1 to 4 (White 2012 3.2.3).
const WEB_ROUND_TRIPS: [Span; 4] = [
    Span::from_ms(20),
    Span::from_ms(30),
    Span::from_ms(50),
    Span::from_ms(100),
];

const fn row(
    id: &'static str,
    (calls, web_users): (u32, u32),
    constant_rate: bool,
    upload: Option<(Upload, Span)>,
) -> Scenario {
    Scenario {
        id,
        calls,
        web_users,
        constant_rate,
        upload,
    }
}

#[cfg(test)]
mod tests;
