//! Checks of Wi-Fi channels.
//!
//! Source: IEEE 802.11-2020 for modes; docs/models/wifi.md. Deviations: none known.

use sojourn_base::{BitRate, Direction};
use sojourn_keys::nearest;
use sojourn_keys::value::{Mismatch, quoted};
use sojourn_link::wifi::channel::{VIDEO, VOICE, category_of};

use super::{note, unique};
use crate::keys::scenario::Draft;
use crate::model::{ACCESS_POINT, WifiChannel, WifiDevice};
use crate::reader::{Notes, join};

/// Notes what is wrong with the channels, and with the stations that traffic names.
pub(super) fn check_wifi(draft: &Draft, notes: &mut Notes) {
    let channels: Vec<(&str, &String)> = draft.wifi.iter().map(|channel| ("wifi", &channel.name)).collect();
    unique("", &channels, "channel", notes);
    for channel in &draft.wifi {
        check_channel(channel, notes);
    }
    let known: Vec<String> =
        draft.wifi.iter().flat_map(|channel| channel.stations.iter().map(|station| channel.path_of(station))).collect();
    for entry in draft.entries() {
        let Some(via) = &entry.traffic.via else { continue };
        if !known.contains(via) {
            let hint = match nearest(via, known.iter().map(String::as_str)) {
                Some(near) => format!("did you mean {near}?"),
                None if known.is_empty() => {
                    "a heading [wifi.home.station.laptop], and via = \"wifi.home.laptop\"".to_owned()
                }
                None => format!("stations are {}", known.join(", ")),
            };
            note(
                notes,
                &join(&entry.place(), "via"),
                Mismatch::new(format!("there is no station {}", quoted(via)), hint),
            );
        }
    }
}

/// Returns stations that no traffic passes, and channels with more stations in voice or video than those have slots.
pub(super) fn cautions(draft: &Draft) -> Vec<(String, Mismatch)> {
    let mut told: Vec<_> = crowds(draft).collect();
    for channel in &draft.wifi {
        for station in &channel.stations {
            let name = channel.path_of(station);
            if !draft.entries().any(|entry| entry.traffic.via.as_ref() == Some(&name)) {
                let place = join(&join(&join("wifi", &channel.name), "station"), &station.name);
                let hint = format!("via = {} in a traffic entry", quoted(&name));
                told.push((place, Mismatch::new("no traffic passes this station", hint)));
            }
        }
    }
    told
}

/// Channels on which more stations send voice or video than its contention window has slots.
fn crowds(draft: &Draft) -> impl Iterator<Item = (String, Mismatch)> {
    /// Categories, and slots of their longest contention windows. Source: IEEE 802.11-2020, table 9-155: CWmax 7 and 15.
    const WINDOWS: [(usize, &str, usize); 2] = [(VOICE, "voice", 8), (VIDEO, "video", 16)];
    let channels = draft.wifi.iter().flat_map(|channel| WINDOWS.map(|window| (channel, window)));
    channels.filter_map(|(channel, (category, what, slots))| {
        let sends = |name: &String| {
            let mut entries = draft.entries();
            entries.any(|it| it.traffic.via.as_ref() == Some(name) && category_of(it.traffic.dscp) == category)
        };
        let count = channel.stations.iter().filter(|station| sends(&channel.path_of(station))).count();
        (channel.radio.qos && count > slots).then(|| {
            let message = format!("{count} stations send {what}, whose longest contention window has {slots} slots");
            let hint = "most of their frames collide; dscp = 0 has up to 1024 slots";
            (join("wifi", &channel.name), Mismatch::new(message, hint))
        })
    })
}

fn check_channel(channel: &WifiChannel, notes: &mut Notes) {
    let place = join("wifi", &channel.name);
    let of_station = |name: &String| join(&join(&place, "station"), name);
    let stations = channel.stations.iter().map(|station| (of_station(&station.name), &station.name));
    for (place, name) in std::iter::once((place.clone(), &channel.name)).chain(stations) {
        if name.contains(['.', ' ', '/']) || name == ACCESS_POINT {
            let message = format!("{} cannot be a name here", quoted(name));
            note(notes, &join(&place, "name"), Mismatch::new(message, "no dot, slash or space, and not ap"));
        }
    }
    let stations: Vec<(&str, &String)> = channel.stations.iter().map(|station| ("station", &station.name)).collect();
    unique(&place, &stations, "station", notes);
    let neighbours: Vec<(&str, &String)> = channel.neighbours.iter().map(|it| ("neighbour", &it.name)).collect();
    unique(&place, &neighbours, "neighbour", notes);
    if let Some(problem) = channel.radio.problem() {
        note(notes, &join(&place, problem.field), Mismatch::new(problem.message, problem.hint));
        return;
    }
    check_device(&channel.access_point, &join(&place, ACCESS_POINT), notes);
    for station in &channel.stations {
        let place = join(&join(&place, "station"), &station.name);
        check_device(&station.device, &place, notes);
        if let Some(message) = channel.radio.refuses(station.standard) {
            note(notes, &join(&place, "standard"), Mismatch::new(message, "one that its channel has, or an older one"));
            continue;
        }
        let radio = channel.radio.of(station.standard);
        for (key, rate) in [("rate", Some(station.rate)), ("upstream_rate", station.upstream_rate)] {
            if let Some(message) = rate.and_then(|rate| rate.problem(&radio)) {
                note(notes, &join(&place, key), Mismatch::new(message, "an MCS that it has: \"mcs7\""));
            }
        }
        let has_noise = station.snr.is_some() || station.snr_walk.is_some() || !station.conditions.is_empty();
        if station.snr_walk.is_some_and(|range| range.0 <= 0) {
            let message = "a walk needs room";
            note(notes, &join(&place, "snr_walk"), Mismatch::new(message, "more than 0 dB, or \"none\""));
        }
        if has_noise && Direction::BOTH.iter().all(|it| station.rate_of(*it).is_fixed()) {
            let message = "a station with a fixed mode loses no frame to noise";
            note(notes, &join(&place, "snr"), Mismatch::new(message, "rate = \"minstrel\" or \"ideal\" beside it"));
        }
    }
    let mut loads = 0.0;
    for neighbour in &channel.neighbours {
        let place = join(&join(&place, "neighbour"), &neighbour.name);
        if let Some(message) = neighbour.rate.problem(&channel.radio) {
            note(notes, &join(&place, "rate"), Mismatch::new(message, "an MCS that it has: \"mcs7\""));
            continue;
        }
        let capacity = channel.radio.capacity(neighbour.rate);
        loads += neighbour.load.as_bps() as f64 / capacity.as_bps().max(1) as f64;
        if loads > 1.0 && capacity > BitRate::ZERO {
            let message = format!("neighbours want {:.0} % of the air, and leave none", 100.0 * loads);
            let hint = format!("less than \"{capacity}\" at this mode");
            note(notes, &join(&place, "load"), Mismatch::new(message, hint));
        }
    }
    for (index, pair) in channel.hidden_pairs().iter().enumerate() {
        if pair.is_none() {
            let message = format!("{} are not two devices of the channel", quoted(&channel.hidden[index]));
            let hint = "two stations, or a station and ap, with a space between: \"laptop attic\"";
            note(notes, &join(&place, "hidden"), Mismatch::new(message, hint));
        }
    }
}

fn check_device(device: &WifiDevice, place: &str, notes: &mut Notes) {
    for problem in device.config.problems() {
        note(notes, &join(place, problem.field), Mismatch::new(problem.message, problem.hint));
    }
    for (key, mismatch) in device.queue.problems_on(None) {
        note(notes, &format!("{}.{key}", join(place, "queue")), mismatch);
    }
}
