//! Topology: the homes of a scenario one by one, their links, and the path of each traffic entry.
//!
//! A scenario says how many homes are alike; here each has its place. Subjects of records and names of random
//! streams are made here too: `family/17/call` is the call of the seventeenth family, `family/17/upstream` its
//! access link, `aggregation/upstream` a shared link. A lone subscriber has no name: `call`, `upstream`.

use sojourn_base::native::IN_TAB;
use sojourn_base::{Direction, PerDirection, Span};
use sojourn_queue::FlowFields;

use crate::model::{DirectedLink, Scenario, Traffic};

/// The name of a subscriber's own access link in a path.
pub const ACCESS: &str = "access";

/// The path of traffic without an explicit one.
pub(crate) const USUAL_PATH: [&str; 1] = [ACCESS];

/// Everything that a run is made of, with numbers instead of names.
#[derive(Clone, Debug)]
pub struct Topology<'a> {
    /// All links that traffic uses; access links first, upstream before downstream.
    pub links: Vec<PlacedLink<'a>>,
    /// All traffic entries, home by home.
    pub traffic: Vec<PlacedTraffic<'a>>,
}

/// One direction of a link.
#[derive(Clone, Debug)]
pub struct PlacedLink<'a> {
    /// The subject of its records, and the name of its random streams.
    pub subject: String,
    /// Which way its packets travel.
    pub direction: Direction,
    /// Its configuration.
    pub config: &'a DirectedLink,
    /// It is the access link of one subscriber.
    pub is_access: bool,
    /// It is a modem of the service group.
    pub is_modem: bool,
    /// Channel and station, of a direction of a Wi-Fi station.
    pub station: Option<(usize, usize)>,
}

/// A traffic entry of one subscriber.
#[derive(Clone, Debug)]
pub struct PlacedTraffic<'a> {
    /// The subject of its records, and the name of its random streams.
    pub subject: String,
    /// Its traffic entry.
    pub entry: &'a Traffic,
    /// Number of its home, from 0; `None` for a lone subscriber.
    pub home: Option<usize>,
    /// Numbers of the links that its packets pass, in their order.
    pub path: PerDirection<Vec<usize>>,
}

impl PlacedTraffic<'_> {
    /// Returns true if its packets pass a Wi-Fi station, whose delay is part of the access.
    pub fn passes_station(&self, topology: &Topology<'_>) -> bool {
        self.path.upstream.first().is_some_and(|link| topology.links[*link].station.is_some())
    }
}

/// A subscriber, before it has a place.
struct Subscriber<'a> {
    prefix: String,
    home: Option<usize>,
    access: &'a PerDirection<DirectedLink>,
    path: Option<&'a Vec<String>>,
    traffic: &'a [Traffic],
}

impl Subscriber<'_> {
    /// Names of the links of an entry, from the subscriber to the network.
    fn path_of<'t>(&'t self, entry: &'t Traffic) -> Vec<&'t str> {
        match entry.path.as_ref().or(self.path) {
            Some(path) => path.iter().map(String::as_str).collect(),
            None => USUAL_PATH.to_vec(),
        }
    }

    fn uses(&self, link: &str) -> bool {
        self.traffic.iter().any(|entry| self.path_of(entry).contains(&link))
    }
}

/// Numbers of a link's two directions.
type Place = PerDirection<Option<usize>>;

impl<'a> Topology<'a> {
    /// Adds the directions that a link has.
    fn place(&mut self, prefix: &str, link: PerDirection<Option<&'a DirectedLink>>, is_access: bool) -> Place {
        let mut place = Place::default();
        for direction in Direction::BOTH {
            if let Some(config) = link[direction] {
                place[direction] = Some(self.links.len());
                self.links.push(PlacedLink {
                    subject: format!("{prefix}{}", direction.as_str()),
                    direction,
                    config,
                    is_access,
                    is_modem: is_access && config.is_modem(direction),
                    station: None,
                });
            }
        }
        place
    }

    /// Fields of a header that make a flow for all queues of a direction.
    pub fn flow_fields(&self, direction: Direction) -> FlowFields {
        let mut queues = self.links.iter();
        let three = queues.any(|link| {
            let fields = link.config.link.queue.flow_fields();
            link.direction == direction && fields == Some(FlowFields::Three)
        });
        if three && !IN_TAB { FlowFields::Three } else { FlowFields::Five }
    }

    /// Fixed delay of all links on the way of an entry, both ways.
    pub fn propagation(&self, traffic: &PlacedTraffic<'_>) -> Span {
        let path = &traffic.path;
        path.upstream
            .iter()
            .chain(&path.downstream)
            .fold(Span::ZERO, |sum, link| sum.saturating_add(self.links[*link].config.propagation()))
    }
}

/// The station that packets of an entry pass first.
fn via(entry: &Traffic, stations: &[(String, Place)]) -> Option<Place> {
    let via = entry.via.as_ref()?;
    let known = stations.iter().find(|(known, _)| known == via);
    Some(known.expect("an entry names a station of the scenario").1)
}

impl Scenario {
    /// Returns the homes, the links and the path of each traffic entry.
    ///
    /// # Panics
    /// If a path names a link that there is not, which validation rules out.
    pub fn topology(&self) -> Topology<'_> {
        let subscribers = self.subscribers();
        let mut topology = Topology { links: Vec::new(), traffic: Vec::new() };
        let access: Vec<Place> = subscribers
            .iter()
            .map(|subscriber| {
                if subscriber.uses(ACCESS) {
                    let both = PerDirection {
                        upstream: Some(&subscriber.access.upstream),
                        downstream: Some(&subscriber.access.downstream),
                    };
                    topology.place(&subscriber.prefix, both, true)
                } else {
                    Place::default()
                }
            })
            .collect();
        let mut shared: Vec<(&str, Place)> = Vec::new();
        for link in &self.links {
            if subscribers.iter().any(|someone| someone.uses(&link.name)) {
                let both = PerDirection {
                    upstream: link.directions.upstream.as_ref(),
                    downstream: link.directions.downstream.as_ref(),
                };
                let place = topology.place(&format!("{}/", link.name), both, false);
                shared.push((&link.name, place));
            }
        }
        let stations = self.place_stations(&subscribers, &mut topology);
        for (subscriber, access) in subscribers.iter().zip(access) {
            for entry in subscriber.traffic {
                let path = subscriber.path_of(entry).into_iter().map(|name| {
                    if name == ACCESS {
                        return access;
                    }
                    let known = shared.iter().find(|(known, _)| *known == name);
                    known.expect("a path names links of the scenario").1
                });
                let places: Vec<Place> = via(entry, &stations).into_iter().chain(path).collect();
                topology.traffic.push(PlacedTraffic {
                    subject: format!("{}{}", subscriber.prefix, entry.name),
                    entry,
                    home: subscriber.home,
                    path: PerDirection {
                        upstream: places.iter().filter_map(|place| place.upstream).collect(),
                        downstream: places.iter().rev().filter_map(|place| place.downstream).collect(),
                    },
                });
            }
        }
        topology
    }

    /// Adds the stations that traffic passes, by their names in paths.
    fn place_stations<'a>(
        &'a self,
        subscribers: &[Subscriber<'a>],
        topology: &mut Topology<'a>,
    ) -> Vec<(String, Place)> {
        let mut stations = Vec::new();
        for (channel, wifi) in self.wifi.iter().enumerate() {
            for (number, station) in wifi.stations.iter().enumerate() {
                let name = wifi.path_of(station);
                let is_it = |entry: &Traffic| entry.via.as_ref() == Some(&name);
                if subscribers.iter().any(|someone| someone.traffic.iter().any(is_it)) {
                    let first = topology.links.len();
                    let both = PerDirection {
                        upstream: Some(&station.links.upstream),
                        downstream: Some(&station.links.downstream),
                    };
                    let place = topology.place(&format!("{name}/"), both, false);
                    topology.links[first..].iter_mut().for_each(|link| link.station = Some((channel, number)));
                    stations.push((name, place));
                }
            }
        }
        stations
    }

    fn subscribers(&self) -> Vec<Subscriber<'_>> {
        if self.homes.is_empty() {
            return vec![Subscriber {
                prefix: String::new(),
                home: None,
                access: &self.access,
                path: self.path.as_ref(),
                traffic: &self.traffic,
            }];
        }
        self.homes
            .iter()
            .flat_map(|home| (1..=home.count).map(move |number| (home, number)))
            .enumerate()
            .map(|(index, (home, number))| Subscriber {
                prefix: format!("{}/{number}/", home.name),
                home: Some(index),
                access: home.access.as_ref().unwrap_or(&self.access),
                path: home.path.as_ref().or(self.path.as_ref()),
                traffic: &home.traffic,
            })
            .collect()
    }
}
