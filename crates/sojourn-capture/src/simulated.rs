//! Captures of a simulated run: packets as they reach each link and as they leave it.
//!
//! A packet that a link loses stands only where it entered, with the reason. So a packet is written when its fate is known, and
//! later ones wait until then. Meanwhile the packets of the queues are in memory.
//!
//! Source: none. Deviations: none known.

use crate::synthetic::{ByteMap, Ip, Wire, datagram, segment};
use crate::writer::{LinkType, PcapWriter, PcapngWriter, word};
use sojourn_base::{Direction, FlowKey, Instant, PerDirection};
use sojourn_record::{ConnectionOpened, Moment, PacketBody, PacketSeen, Recorder, SegmentSeen};
use std::collections::BTreeMap;
use std::fmt;
use std::io::{self, Write};

/// Destination of a file.
pub type Sink = Box<dyn Write + Send>;

/// Addresses and ports of what a traffic entry sends to one of its servers, seen from the client: over a connection with the
/// client's port of this number, or as datagrams.
pub type Keys = Box<dyn Fn(u16, u32, Option<u32>) -> FlowKey + Send>;

/// A file of either format.
enum File {
    Pcapng(PcapngWriter<Sink>),
    Classic(PcapWriter<Sink>),
}

/// Division of packets into files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Form {
    /// Two pcapng files for the two directions of a link: what is seen at its subscriber's end, and at the other. Each direction is
    /// an interface. So a file has a connection as one end sees it, and no packet twice.
    #[default]
    Ends,
    /// A pcap file for each place, as the emulator writes them.
    Places,
}

/// A packet that is to be written.
struct Pending {
    place: u32,
    length: u32,
    wire: Wire,
    comment: String,
    /// Its fate is not known yet.
    is_open: bool,
}

/// Time of a packet, and a number for packets of the same time.
type Key = (Instant, u64);

/// Both directions of a connection.
#[derive(Debug, Default)]
struct Connection {
    maps: PerDirection<ByteMap>,
    port: u32,
}

/// Writes captures while a run goes on.
pub struct SimulatedCapture {
    files: Vec<File>,
    /// File and interface of each place: two for each link.
    places: Vec<(usize, u32)>,
    keys: Keys,
    connections: BTreeMap<(u32, u8), Connection>,
    pending: BTreeMap<Key, Pending>,
    /// By the place of a packet in flight: key of its entry, for later comments.
    entered: Vec<Option<Key>>,
    serial: u64,
    packets: u64,
    failed: Option<io::Error>,
}

impl fmt::Debug for SimulatedCapture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SimulatedCapture").finish_non_exhaustive()
    }
}

/// Returns the common name of both directions of a link: its name without that of the direction, "access" if nothing is
/// left.
fn base(link: &str, direction: Direction) -> String {
    let base = link.replace(direction.as_str(), "");
    let base = base.trim_matches(|sign: char| !sign.is_ascii_alphanumeric());
    word(if base.is_empty() { "access" } else { base })
}

impl SimulatedCapture {
    /// Files for links of these names and directions, in their order.
    ///
    /// # Errors
    /// If one cannot be opened or written.
    pub fn new(
        links: &[(String, Direction)],
        form: Form,
        keys: Keys,
        open: &mut dyn FnMut(&str) -> io::Result<Sink>,
    ) -> io::Result<Self> {
        let (mut files, mut places) = (Vec::new(), Vec::new());
        let mut names: Vec<String> = Vec::new();
        for (link, direction) in links {
            for side in ["entered", "left"] {
                let place = format!("{link}-{side}");
                if form == Form::Places {
                    let sink = open(&format!("{}.pcap", word(&place)))?;
                    places.push((files.len(), 0));
                    files.push(File::Classic(PcapWriter::new(sink, LinkType::Raw)?));
                    continue;
                }
                let is_near = (*direction == Direction::Upstream) == (side == "entered");
                let end = if is_near { "subscriber" } else { "network" };
                let name = format!("{}-{end}.pcapng", base(link, *direction));
                let known = names.iter().position(|known| *known == name);
                let file = if let Some(file) = known {
                    file
                } else {
                    files.push(File::Pcapng(PcapngWriter::new(open(&name)?)?));
                    names.push(name);
                    files.len() - 1
                };
                if let File::Pcapng(writer) = &mut files[file] {
                    places.push((file, writer.interface(&place, LinkType::Raw)?));
                }
            }
        }
        Ok(Self {
            files,
            places,
            keys,
            connections: BTreeMap::new(),
            pending: BTreeMap::new(),
            entered: Vec::new(),
            serial: 0,
            packets: 0,
            failed: None,
        })
    }

    /// Returns true if a write has failed.
    pub const fn has_failed(&self) -> bool {
        self.failed.is_some()
    }

    /// The run has ended: how many packets were written.
    ///
    /// # Errors
    /// If one could not be.
    pub fn finish(mut self) -> io::Result<u64> {
        self.write_until(Instant::NEVER, true);
        if let Some(error) = self.failed {
            return Err(error);
        }
        for file in self.files {
            match file {
                File::Pcapng(writer) => writer.finish()?,
                File::Classic(writer) => writer.finish()?,
            }
        }
        Ok(self.packets)
    }

    /// Writes what was seen before `now` and has met its fate, up to the first that has not.
    fn write_until(&mut self, now: Instant, with_open: bool) {
        while let Some(first) = self.pending.first_entry() {
            let at = first.key().0;
            if at > now || (first.get().is_open && !with_open) || self.failed.is_some() {
                return;
            }
            let pending = first.remove();
            let bytes = &pending.wire.bytes[..pending.wire.kept];
            let at_ns = at.as_ns();
            let (file, interface) = self.places[pending.place as usize];
            let written = match &mut self.files[file] {
                File::Pcapng(writer) => {
                    let packet = (pending.length, bytes);
                    writer.packet(interface, at_ns, packet, &pending.comment)
                }
                File::Classic(writer) => writer.packet(at_ns, pending.length, bytes),
            };
            self.failed = written.err();
            self.packets += 1;
        }
    }

    fn wire(&mut self, packet: &PacketSeen) -> Wire {
        let ip = |key: FlowKey| Ip {
            key: match packet.direction {
                Direction::Upstream => key,
                Direction::Downstream => key.reversed(),
            },
            length: packet.length,
            dscp: packet.dscp,
            ecn: packet.ecn,
        };
        let (traffic, server) = (packet.traffic.0, packet.server);
        match &packet.body {
            PacketBody::Datagram => datagram(ip((self.keys)(traffic, server, None))),
            PacketBody::Segment(seen) => {
                let connection = self.connections.entry(seen.connection).or_default();
                let key = (self.keys)(traffic, server, Some(connection.port));
                let own = &connection.maps[packet.direction];
                segment(ip(key), seen, own, &connection.maps[packet.direction.reversed()])
            }
        }
    }

    fn push(&mut self, at: Instant, place: u32, packet: &PacketSeen, is_open: bool) -> Key {
        let key = (at, self.serial);
        self.serial += 1;
        let wire = self.wire(packet);
        self.pending.insert(key, Pending { place, length: packet.length, wire, comment: String::new(), is_open });
        key
    }

    /// The packet's record where it entered, which has met its fate.
    fn close(&mut self, place: u32) -> Option<(Key, &mut Pending)> {
        let key = self.entered.get_mut(place as usize)?.take()?;
        let pending = self.pending.get_mut(&key)?;
        pending.is_open = false;
        Some((key, pending))
    }
}

impl Recorder for SimulatedCapture {
    const WANTS_PACKETS: bool = true;

    fn bytes(&self) -> usize {
        // By observation of runs: a node has some entries, each with its packet.
        self.pending.len() * 2 * size_of::<Pending>()
    }

    fn on_connection_opened(&mut self, opened: &ConnectionOpened) {
        let connection = Connection { port: opened.port, ..Connection::default() };
        self.connections.insert(opened.connection, connection);
    }

    fn on_packet(&mut self, packet: &PacketSeen) {
        match packet.moment {
            Moment::Sent => {
                if let PacketBody::Segment(seen) = &packet.body
                    && (seen.payload > 0 || seen.has(SegmentSeen::FIN))
                {
                    let connection = self.connections.entry(seen.connection).or_default();
                    let is_fin = seen.has(SegmentSeen::FIN);
                    connection.maps[packet.direction].note(seen.sequence, seen.payload, is_fin);
                }
            }
            Moment::Entered(link) => {
                let key = self.push(packet.now, 2 * u32::from(link.0), packet, true);
                let place = packet.place as usize;
                if self.entered.len() <= place {
                    self.entered.resize(place + 1, None);
                }
                self.entered[place] = Some(key);
            }
            Moment::Left(link, at) => {
                self.close(packet.place);
                self.push(at, 2 * u32::from(link.0) + 1, packet, false);
            }
            Moment::Dropped(_, reason, queue) => {
                if let Some((key, pending)) = self.close(packet.place) {
                    let sojourn = packet.now.saturating_since(key.0);
                    pending.comment =
                        format!("dropped: {}, after {sojourn} in the {} queue", reason.as_str(), queue.as_str());
                }
            }
            Moment::Marked(..) | Moment::Arrived => {}
        }
        self.write_until(packet.now, false);
    }
}
