//! Checks that channels and homes fit together: the channels' capacity against the homes' rates.
//!
//! Source: chosen: what cannot be kept is refused before anything runs. Deviations: none known.

use super::channels::{ChannelSet, Form, WORD};
use super::config::{Grants, GroupConfig, MAC_HEADER, MemberConfig};
use super::grid::{Channel, Grid, Unrepeatable};
use crate::docsis31::proactive::Guarantee;
use crate::problems::problem;
use alloc::format;
use alloc::vec::Vec;
use sojourn_base::{BitRate, Bytes, Span};
use sojourn_queue::ConfigProblem;

impl GroupConfig {
    /// Returns the rate of the channels without permanent opportunities, for a home with `modulation` on the OFDMA
    /// channel.
    pub fn capacity(&self, modulation: Option<f64>) -> BitRate {
        self.capacity_of(modulation, ChannelSet::ALL)
    }

    fn capacity_of(&self, modulation: Option<f64>, bonded: ChannelSet) -> BitRate {
        let grid = self.grid();
        let caps = self.minislot_bytes(modulation);
        let channels = grid.channels.iter().zip(caps).zip(0..);
        let bonded = channels.filter(|(_, number)| bonded.has(*number));
        let bytes: u64 = bonded.map(|((channel, cap), _)| channel.data(self.requests.minimum) * cap).sum();
        let bits = u128::from(8 * bytes) * 1_000_000_000_000;
        let rate = bits / u128::from(grid.interval.as_ps().max(1));
        BitRate::from_bps(u64::try_from(rate).unwrap_or(u64::MAX))
    }

    /// Everything that is wrong with the channels, apart from the bounds of single keys.
    pub fn problems(&self) -> Vec<ConfigProblem> {
        let mut problems = Vec::new();
        if self.form == Form::Docsis31 {
            crate::docsis31::config::check_channels(&self.channel, &self.downstream, self.plant_km, &mut problems);
        } else if self.form == Form::Docsis30 && self.scqam.count == 0 {
            problems.push(problem(
                "scqam.channels",
                "DOCSIS 3.0 upstream has SC-QAM channels only, and there is none".into(),
                "[group.scqam] with channels = 4, or form = \"docsis31\"",
            ));
        }
        let requests = &self.requests;
        if requests.start > requests.end {
            problems.push(problem(
                "requests.backoff_start",
                format!(
                    "the first window (2 to the power of {}) is longer than the longest (of {})",
                    requests.start, requests.end
                ),
                "at most backoff_end",
            ));
        }
        if self.form == Form::Pon && self.pon.words() <= self.pon.header() / WORD {
            problems.push(problem(
                "pon.overhead",
                format!(
                    "a burst costs {} before it carries a byte, and a frame of 125 us has {}",
                    Bytes(self.pon.header()),
                    Bytes(self.pon.words() * WORD)
                ),
                "less overhead, or a higher rate",
            ));
        }
        if self.scqam.count > 0 && self.scqam.minislot_bytes() == 0 {
            problems.push(problem(
                "scqam.bits",
                "a minislot has no byte".into(),
                "more bits per symbol, more symbols, or longer minislots",
            ));
        }
        if !problems.is_empty() {
            return problems;
        }
        match Grid::check(self) {
            Ok(()) => {}
            Err(Unrepeatable::TooShort { frame }) => problems.push(problem(
                "map_interval",
                format!("a MAP interval of {} is shorter than a frame of this channel ({frame})", self.map_interval),
                "DOCSIS 3.1 MULPI: whole frames; \"1 ms\" or \"2 ms\" are usual",
            )),
            Err(Unrepeatable::NoCommonFrame { step }) => problems.push(problem(
                "map_interval",
                format!("frames of both kinds of channel fit together only each {step}"),
                "frames of 135 us beside minislots of 12.5 us fit each 675 us; see cyclic_prefix and symbols_per_frame",
            )),
        }
        if !problems.is_empty() {
            return problems;
        }
        let grid = self.grid();
        let full = |channel: &Channel| channel.data(requests.minimum) == 0;
        if let Some(channel) = grid.channels.iter().find(|channel| full(channel)) {
            problems.push(problem(
                "requests.minimum",
                format!("{} opportunities take all {} minislots of an interval", requests.minimum, channel.minislots()),
                "fewer opportunities, a longer MAP interval or a wider channel",
            ));
        }
        problems
    }

    /// A home that is bonded over channels that there are not.
    pub fn bonding_problem(&self, member: &MemberConfig) -> Option<ConfigProblem> {
        let count = self.minislot_bytes(None).len();
        let missing = member.channels.beyond(count)?;
        Some(problem(
            "channels",
            format!("there is no channel {missing}: the group has {count}"),
            "numbers from 1 on, SC-QAM channels first and the OFDMA channel behind them; or \"all\"",
        ))
    }

    /// Checks homes that share the channels, for instance reserved rates beyond their capacity. `homes` are the service
    /// of each kind of home and their number.
    pub fn problems_with(&self, homes: &[(&MemberConfig, u64)]) -> Vec<ConfigProblem> {
        let quantum = self.scheduler.quantum.0;
        let mut problems = Vec::new();
        let caps = homes.iter();
        let caps = caps.flat_map(|(member, _)| self.minislot_bytes(member.modulation));
        let caps: Vec<u64> = caps.collect();
        let (Some(&largest), Some(&least)) = (caps.iter().max(), caps.iter().min()) else {
            return problems; // no home is on them
        };
        if least == 0 {
            problems.push(problem(
                "channel",
                "a minislot of some homes has no byte".into(),
                "a higher efficiency, or a higher modulation of these homes",
            ));
            return problems;
        }
        if quantum < largest {
            problems.push(problem(
                "scheduler.quantum",
                format!("a turn of {quantum} B is less than a minislot of {largest} B"),
                "at least a minislot; \"1536 B\" is a packet of full size",
            ));
        }
        let grid = self.grid();
        let promised: f64 = homes.iter().map(|(member, count)| self.promised(&grid, member) * *count as f64).sum();
        let all: f64 = homes.iter().map(|(_, count)| *count as f64).sum();
        let limit = self.scheduler.limit;
        if promised > limit && promised > 0.0 {
            problems.push(problem(
                "scheduler.proactive_limit",
                format!(
                    "{} take {:.0} % of the channels, which is more than {:.0} %; {:.0} such homes would fit",
                    if self.form == Form::Pon {
                        "reserved rates and polls"
                    } else {
                        "reserved rates and grants without request"
                    },
                    100.0 * promised,
                    100.0 * limit,
                    sojourn_base::math::floor(all * limit / promised),
                ),
                "lower reserved rates, less proactive grants, fewer homes, wider channels, or a higher proactive_limit",
            ));
        }
        if problems.is_empty()
            && let Some((number, share)) = self.overfull(&grid, homes)
        {
            problems.push(problem(
                "scheduler.proactive_limit",
                format!("grants without request take {:.0} % of channel {}", 100.0 * share, number + 1),
                "less proactive grants, or homes whose `channels` begin with another one",
            ));
        }
        problems
    }

    /// A channel of which grants without request would take more than there is, and what share of it they take.
    fn overfull(&self, grid: &Grid, homes: &[(&MemberConfig, u64)]) -> Option<(usize, f64)> {
        let mut unasked = alloc::vec![0.0; grid.channels.len()];
        for (member, count) in homes {
            let (first, minislots) = self.unasked(grid, member);
            unasked[first] += minislots * *count as f64;
        }
        let shares = grid.channels.iter().zip(unasked);
        let shares = shares.map(|(it, unasked)| unasked / it.data(self.requests.minimum) as f64);
        shares.enumerate().find(|(_, share)| *share > 1.0)
    }

    /// Share of the minislots that a home takes whatever the others do.
    fn promised(&self, grid: &Grid, member: &MemberConfig) -> f64 {
        let capacity = self.capacity_of(member.modulation, member.channels);
        let reserved = member.reserved.as_bps() as f64 / capacity.as_bps().max(1) as f64;
        let all: u64 = grid.channels.iter().map(Channel::minislots).sum();
        reserved + self.unasked(grid, member).1 / all as f64
    }

    /// The first channel of a home, and how many minislots of an interval it is granted there without request.
    fn unasked(&self, grid: &Grid, member: &MemberConfig) -> (usize, f64) {
        let first = grid.first_channel(member.channels);
        let channel = &grid.channels[first];
        let cap = self.minislot_bytes(member.modulation)[first];
        let grants = [member.grants(channel, cap), self.polls()];
        let in_interval = |it: Grants| it.minislots as f64 * channel.frames as f64 / it.period as f64;
        let minislots = grants.into_iter().flatten().map(in_interval).sum();
        (first, minislots)
    }
}

/// Packet without header that a guaranteed rate is reckoned with. Source: docsis-ns3 1.2, `MeanPacketSize`.
const MEAN_PACKET: u64 = 200;

impl MemberConfig {
    /// Its grants without request, on a channel whose minislots carry `cap` bytes to it.
    pub(super) fn grants(&self, channel: &Channel, cap: u64) -> Option<Grants> {
        let guarantee: &Guarantee = self.proactive.guarantee()?;
        let frames = |span: Span| span.as_ps() / channel.frame.as_ps().max(1);
        let period = guarantee.interval.map_or(channel.frames, frames).max(1);
        // Headers on top, as docsis-ns3 1.2 has it: 5 Mb/s of packets of 200 B are 5.25 Mb/s.
        let rate = u128::from(guarantee.rate.as_bps()) * u128::from(MEAN_PACKET + u64::from(MAC_HEADER))
            / u128::from(MEAN_PACKET);
        let span = u128::from(channel.frame.as_ps()) * u128::from(period);
        let bytes = (rate / 8 * span).div_ceil(1_000_000_000_000);
        let bytes = u64::try_from(bytes).unwrap_or(u64::MAX);
        Some(Grants { period, minislots: bytes.div_ceil(cap.max(1)) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::docsis31::config::Service;
    use crate::docsis31::proactive::ProactiveConfig;

    #[test]
    fn grants_without_request_are_limited_to_half_of_the_channel() {
        // Vector 19: 5 Mb/s in each frame are two minislots of 235: 58 homes within half of them.
        let member = MemberConfig {
            service: Service::LowLatency,
            proactive: ProactiveConfig::Basic(Guarantee {
                rate: BitRate::from_mbps(5),
                interval: Some(Span::from_us(135)),
            }),
            ..MemberConfig::BASE
        };
        let config = GroupConfig::BASE;
        assert_eq!(config.problems_with(&[(&member, 58)]), []);
        let problems = config.problems_with(&[(&member, 117)]);
        assert_eq!(problems.len(), 1);
        // 234 of 235 minislots.
        assert!(problems[0].message.contains("take 100 %"), "{problems:?}");
        assert!(problems[0].message.contains("58 such homes"), "{problems:?}");
    }
}
