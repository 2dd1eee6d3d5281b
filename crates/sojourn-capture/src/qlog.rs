//! qlog of a simulated run: one file for each end of each connection, in JSON text sequences.
//!
//! TCP has no schema there, so events are those of QUIC: a segment is a packet, its number counts transmissions, and
//! its bytes are stream 0. A packet is reported lost when its segment is sent again.
//!
//! Source: draft-ietf-quic-qlog-main-schema and draft-ietf-quic-qlog-quic-events of July 2026; RFC 7464.
//! Events `sojourn:` are our own (`docs/reference/qlog.md`): what links do with the packets of the end that sent them.
//! Deviations: `acked_ranges` has what the acknowledgement newly acknowledges; segments that only acknowledge have numbers, too.

use crate::synthetic::ByteMap;
use crate::writer::word;
use sojourn_base::{Ecn, Instant, LinkId, PerDirection, Span};
use sojourn_record::{ConnectionOpened, Moment, PacketBody, PacketSeen, Recorder, SegmentSeen, SenderSeen};
use std::collections::BTreeMap;
use std::fmt::{self, Write as _};
use std::io;

/// Events at most (specification of captures, 6.3).
pub const MOST_EVENTS: u64 = 5_000_000;

/// URI of the project's own events. chosen: a tag URI (RFC 4151), which promises no page.
const OUR_SCHEMA: &str = "tag:sojourn,2026:qlog:1";

/// Files at most. chosen: what a folder shows; a run with more connections is no picture.
pub const MOST_FILES: usize = 2_000;

/// Bytes of a file that are kept before they are written.
const TOGETHER: usize = 1 << 16;

/// Appends text to the file of a name.
pub type Append = Box<dyn FnMut(&str, &str) -> io::Result<()> + Send>;

/// One end of a connection.
#[derive(Debug, Default)]
struct End {
    file: String,
    text: String,
    /// Bytes of a full segment, for windows in bytes.
    segment: u32,
    /// Number of its next packet.
    next: u64,
    /// Places of its segments in its bytes.
    map: ByteMap,
    /// Packets whose segment is not acknowledged, by segment.
    out: BTreeMap<u32, Out>,
    /// Round trip of the newest packet that was acknowledged last (RFC 9002, `latest_rtt`).
    latest: Option<Span>,
    /// Last event of its sender, and the time of the last event.
    told: Option<SenderSeen>,
    at: Instant,
    state: &'static str,
    /// True once the file says that the path carries ECN.
    is_ecn_told: bool,
}

/// The last transmission of a segment.
#[derive(Clone, Copy, Debug)]
struct Out {
    number: u64,
    at: Instant,
}

/// A packet on its way.
#[derive(Clone, Copy, Debug)]
struct OnItsWay {
    number: u64,
    /// Arrival at its present link.
    entered: Instant,
}

/// Writes qlog while a run goes on.
pub struct Qlog {
    files: Files,
    /// Names of traffic entries, and bytes of a full segment of each.
    traffic: Vec<(String, u32)>,
    ends: BTreeMap<(u32, u8), PerDirection<End>>,
    /// Names of links.
    links: Vec<String>,
    /// Packets on their way, by their place.
    packets: Vec<Option<OnItsWay>>,
}

/// The files, and their bytes.
struct Files {
    append: Append,
    events: u64,
    count: usize,
    failed: Option<io::Error>,
}

impl Files {
    /// Appends the text of an end to its file, if it is long or shall be written at once.
    fn write(&mut self, end: &mut End, at_once: bool) {
        if self.failed.is_none() && (at_once || end.text.len() >= TOGETHER) && !end.text.is_empty() {
            self.failed = (self.append)(&end.file, &end.text).err();
            end.text.clear();
        }
    }

    /// Writes what is left of both ends of a connection.
    fn close(&mut self, mut ends: PerDirection<End>) {
        self.write(&mut ends.upstream, true);
        self.write(&mut ends.downstream, true);
    }

    fn event(&mut self, end: &mut End, now: Instant, name: &str, data: &str) {
        if self.failed.is_some() {
            return;
        }
        self.events += 1;
        if self.events > MOST_EVENTS {
            let what = format!("more than {MOST_EVENTS} events of qlog");
            self.failed = Some(io::Error::other(what));
            return;
        }
        end.at = end.at.max(now); // a link may report an event later
        let now = end.at;
        // Writing to a text cannot fail.
        let _ = writeln!(
            end.text,
            "\u{1e}{{\"time\":{},\"name\":\"{name}\",\"data\":{data}}}",
            ms(now.saturating_since(Instant::ZERO))
        );
        self.write(end, false);
    }
}

impl fmt::Debug for Qlog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Qlog").finish_non_exhaustive()
    }
}

/// A time in ms, with all its nanoseconds.
fn ms(span: Span) -> String {
    let ns = span.as_ns();
    format!("{}.{:06}", ns / 1_000_000, ns % 1_000_000)
}

impl Qlog {
    /// Before a run with links and traffic entries of these names, each entry with the bytes of a full segment of its stack.
    pub fn new<'a>(links: impl Iterator<Item = &'a str>, traffic: Vec<(String, u32)>, append: Append) -> Self {
        Self {
            files: Files { append, events: 0, count: 0, failed: None },
            traffic,
            ends: BTreeMap::new(),
            links: links.map(word).collect(),
            packets: Vec::new(),
        }
    }

    /// Returns true if a write has failed.
    pub const fn has_failed(&self) -> bool {
        self.files.failed.is_some()
    }

    /// The run has ended: how many events and files were written.
    ///
    /// # Errors
    /// If one could not be, or there were too many.
    pub fn finish(mut self) -> io::Result<(u64, usize)> {
        for (_, ends) in self.ends {
            self.files.close(ends);
        }
        let files = self.files;
        files.failed.map_or(Ok((files.events, files.count)), Err)
    }

    fn open(&mut self, opened: &ConnectionOpened) {
        if let Some(ends) = self.ends.remove(&opened.connection) {
            self.files.close(ends);
        }
        let Some((entry, segment)) = self.traffic.get(usize::from(opened.traffic.0)) else {
            return;
        };
        if self.files.count + 2 > MOST_FILES {
            let what = format!("more than {MOST_FILES} files of qlog");
            let failed = &mut self.files.failed;
            failed.get_or_insert_with(|| io::Error::other(what));
            return;
        }
        self.files.count += 2;
        let entry = word(entry);
        let end = |side: &str| {
            let file = format!("{entry}-{}-{side}.sqlog", opened.number);
            let text = format!(
                "\u{1e}{{\"file_schema\":\"urn:ietf:params:qlog:file:sequential\",\
                 \"serialization_format\":\"application/qlog+json-seq\",\
                 \"title\":\"{entry}, connection {}, {side}\",\
                 \"description\":\"A simulated TCP connection in the events of QUIC: a segment is a packet.\",\
                 \"trace\":{{\"common_fields\":{{\"reference_time\":{{\"clock_type\":\"monotonic\",\"epoch\":\"unknown\"}}}},\
                 \"vantage_point\":{{\"type\":\"{side}\"}},\
                 \"event_schemas\":[\"urn:ietf:params:qlog:events:quic-07\",\"{OUR_SCHEMA}\"]}}}}\n",
                opened.number
            );
            End { file, text, segment: *segment, ..End::default() }
        };
        let ends = PerDirection { upstream: end("client"), downstream: end("server") };
        self.ends.insert(opened.connection, ends);
    }

    fn sent(&mut self, packet: &PacketSeen, seen: &SegmentSeen) {
        let Some(ends) = self.ends.get_mut(&seen.connection) else {
            return;
        };
        let end = &mut ends[packet.direction];
        let number = end.next;
        end.next += 1;
        let place = packet.place as usize;
        if self.packets.len() <= place {
            self.packets.resize(place + 1, None);
        }
        self.packets[place] = Some(OnItsWay { number, entered: packet.now });
        if packet.ecn != Ecn::NotEct && !end.is_ecn_told {
            end.is_ecn_told = true;
            let data = "{\"old\":\"unknown\",\"new\":\"capable\"}";
            self.files.event(end, packet.now, "quic:ecn_state_updated", data);
        }
        let has_place = seen.payload > 0 || seen.has(SegmentSeen::FIN);
        if has_place {
            end.map.note(seen.sequence, seen.payload, seen.has(SegmentSeen::FIN));
        }
        let frame = stream_frame(end, seen);
        let at = packet.now;
        if has_place && let Some(lost) = end.out.insert(seen.sequence, Out { number, at }) {
            let lost = lost.number;
            let told = end.told.as_ref().map_or("open", |told| told.state);
            // Those of RFC 9002, which are the reasons of TCP as well.
            let trigger = if told == "loss" { "pto_expired" } else { "reordering_threshold" };
            let data = format!(
                "{{\"header\":{{\"packet_type\":\"1RTT\",\"packet_number\":{lost}}},\"frames\":[{frame}],\"trigger\":\"{trigger}\"}}"
            );
            self.files.event(end, packet.now, "quic:packet_lost", &data);
            let data = format!("{{\"frames\":[{frame}]}}");
            self.files.event(end, packet.now, "quic:marked_for_retransmit", &data);
        }
        let data = packet_data(packet, seen, number, &frame);
        self.files.event(end, packet.now, "quic:packet_sent", &data);
    }

    /// A packet on its way, unless the path has made it.
    fn way(&mut self, packet: &PacketSeen) -> Option<&mut OnItsWay> {
        self.packets.get_mut(packet.place as usize)?.as_mut()
    }

    /// Writes an event of a packet in a link, into the file of the end that sent it.
    fn on_link(&mut self, packet: &PacketSeen, seen: &SegmentSeen, event: &str, link: LinkId, more: &str) {
        let Some(number) = self.way(packet).map(|way| way.number) else {
            return;
        };
        let Some(ends) = self.ends.get_mut(&seen.connection) else {
            return;
        };
        let link = self.links.get(usize::from(link.0)).map_or("", String::as_str);
        let data = format!("{{\"packet_number\":{number},\"link\":\"{link}\",{more}}}");
        self.files.event(&mut ends[packet.direction], packet.now, event, &data);
    }

    fn arrived(&mut self, packet: &PacketSeen, seen: &SegmentSeen) {
        let way = self.packets.get_mut(packet.place as usize);
        let Some(OnItsWay { number, .. }) = way.and_then(Option::take) else {
            return; // a copy that the path has made
        };
        let Some(ends) = self.ends.get_mut(&seen.connection) else {
            return;
        };
        let mut frame = stream_frame(&ends[packet.direction], seen);
        let end = &mut ends[packet.direction.reversed()];
        if seen.has(SegmentSeen::ACK) {
            let (acknowledged, sent_at) = newly_acknowledged(end, seen);
            if let Some(sent_at) = sent_at {
                end.latest = Some(packet.now.saturating_since(sent_at));
            }
            if !acknowledged.is_empty() {
                let separator = if frame.is_empty() { "" } else { "," };
                let ranges: Vec<String> = acknowledged
                    .iter()
                    .map(|(first, last)| if first == last { format!("[{first}]") } else { format!("[{first},{last}]") })
                    .collect();
                let ranges = ranges.join(",");
                let _ = write!(frame, "{separator}{{\"frame_type\":\"ack\",\"acked_ranges\":[{ranges}]}}");
            }
        }
        let data = packet_data(packet, seen, number, &frame);
        self.files.event(end, packet.now, "quic:packet_received", &data);
    }

    fn sender(&mut self, seen: &SenderSeen) {
        let Some(ends) = self.ends.get_mut(&seen.connection) else {
            return;
        };
        let end = &mut ends[seen.direction];
        let before = end.told.replace(*seen);
        let same = |before: &SenderSeen| {
            before.window.total_cmp(&seen.window).is_eq()
                && before.threshold.total_cmp(&seen.threshold).is_eq()
                && before.flight == seen.flight
                && before.round_trip == seen.round_trip
        };
        if end.next > 0 && !before.as_ref().is_some_and(same) {
            let data = metrics(seen, end);
            self.files.event(end, seen.now, "quic:recovery_metrics_updated", &data);
        }
        let state = match seen.state {
            "recovery" => "recovery",
            "loss" => "loss",
            _ if seen.window < seen.threshold => "slow_start",
            _ => "congestion_avoidance",
        };
        if end.next > 0 && state != end.state {
            let reduced = before.map_or([0; 3], |before| before.reductions);
            let old = if end.state.is_empty() { String::new() } else { format!("\"old\":\"{}\",", end.state) };
            let [losses, marks, timeouts] = [0, 1, 2].map(|place| seen.reductions[place] > reduced[place]);
            let trigger = match (timeouts, losses, marks) {
                (true, ..) => ",\"trigger\":\"timeout\"",
                (_, true, _) => ",\"trigger\":\"loss\"",
                (_, _, true) => ",\"trigger\":\"ecn\"",
                _ => "",
            };
            let data = format!("{{{old}\"new\":\"{state}\"{trigger}}}");
            end.state = state;
            self.files.event(end, seen.now, "quic:congestion_state_updated", &data);
        }
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "windows are positive")]
fn metrics(seen: &SenderSeen, end: &End) -> String {
    let bytes = |segments: f64| (segments * f64::from(end.segment)) as u64;
    let mut data = format!(
        "{{\"congestion_window\":{},\"bytes_in_flight\":{},\"packets_in_flight\":{}",
        bytes(seen.window),
        bytes(f64::from(seen.flight)),
        seen.flight
    );
    if seen.threshold.is_finite() {
        let _ = write!(data, ",\"ssthresh\":{}", bytes(seen.threshold));
    }
    if let Some((smoothed, variation)) = seen.round_trip {
        let (smoothed, variation) = (ms(smoothed), ms(variation));
        let _ = write!(data, ",\"smoothed_rtt\":{smoothed},\"rtt_variance\":{variation}");
    }
    if let Some(least) = seen.least_round_trip {
        let _ = write!(data, ",\"min_rtt\":{}", ms(least));
    }
    if let Some(latest) = end.latest {
        let _ = write!(data, ",\"latest_rtt\":{}", ms(latest));
    }
    if let Some(rate) = seen.pacing_rate {
        let _ = write!(data, ",\"pacing_rate\":{}", rate.as_bps());
    }
    data.push('}');
    data
}

fn stream_frame(end: &End, seen: &SegmentSeen) -> String {
    if seen.payload == 0 && !seen.has(SegmentSeen::FIN) {
        return String::new();
    }
    format!(
        "{{\"frame_type\":\"stream\",\"stream_id\":0,\"offset\":{},\"fin\":{},\"raw\":{{\"length\":{}}}}}",
        end.map.before(seen.sequence),
        seen.has(SegmentSeen::FIN),
        seen.payload
    )
}

fn packet_data(packet: &PacketSeen, seen: &SegmentSeen, number: u64, frames: &str) -> String {
    format!(
        "{{\"header\":{{\"packet_type\":\"1RTT\",\"packet_number\":{number}}},\"frames\":[{frames}],\
         \"raw\":{{\"length\":{},\"payload_length\":{}}}}}",
        packet.length, seen.payload,
    )
}

/// Ranges of packet numbers of an end that an arriving acknowledgement newly covers, and when the newest of them was sent.
fn newly_acknowledged(end: &mut End, seen: &SegmentSeen) -> (Vec<(u64, u64)>, Option<Instant>) {
    let later = end.out.split_off(&seen.acknowledgement);
    let mut covered: Vec<Out> = core::mem::replace(&mut end.out, later).into_values().collect();
    let (blocks, count) = seen.sack;
    for (first, last) in &blocks[..usize::from(count)] {
        if first < last {
            let inside: Vec<u32> = end.out.range(*first..*last).map(|(segment, _)| *segment).collect();
            covered.extend(inside.iter().filter_map(|segment| end.out.remove(segment)));
        }
    }
    covered.sort_unstable_by_key(|out| out.number);
    let mut ranges: Vec<(u64, u64)> = Vec::new();
    for Out { number, .. } in &covered {
        let number = *number;
        match ranges.last_mut() {
            Some((_, last)) if *last + 1 == number => *last = number,
            _ => ranges.push((number, number)),
        }
    }
    (ranges, covered.last().map(|newest| newest.at))
}

impl Recorder for Qlog {
    const WANTS_PACKETS: bool = true;

    fn on_connection_opened(&mut self, opened: &ConnectionOpened) {
        self.open(opened);
    }

    fn on_packet(&mut self, packet: &PacketSeen) {
        let PacketBody::Segment(seen) = &packet.body else {
            return;
        };
        match packet.moment {
            Moment::Sent => self.sent(packet, seen),
            Moment::Arrived => self.arrived(packet, seen),
            Moment::Entered(_) => {
                if let Some(way) = self.way(packet) {
                    way.entered = packet.now;
                }
            }
            Moment::Left(link, _) => {
                let waited = self.way(packet).map(|way| packet.now.saturating_since(way.entered));
                if let Some(waited) = waited {
                    let more = format!("\"queued_ms\":{}", ms(waited));
                    self.on_link(packet, seen, "sojourn:queued", link, &more);
                }
            }
            Moment::Marked(link, reason) => {
                let more = format!("\"reason\":\"{}\"", reason.as_str());
                self.on_link(packet, seen, "sojourn:marked", link, &more);
            }
            Moment::Dropped(link, reason, queue) => {
                let (reason, queue) = (reason.as_str(), queue.as_str());
                let more = format!("\"reason\":\"{reason}\",\"queue\":\"{queue}\"");
                self.on_link(packet, seen, "sojourn:dropped", link, &more);
                if let Some(way) = self.packets.get_mut(packet.place as usize) {
                    *way = None;
                }
            }
        }
    }

    fn on_sender(&mut self, sender: &SenderSeen) {
        self.sender(sender);
    }
}
