//! Captures: what flows they have, their lists of packets, and what is found of them by the rules for marked traffic.

use pyo3::exceptions::{PyIndexError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use sojourn_apps::capture::{ListedPacket, PacketList};
use sojourn_base::{Address, BitRate, Span, TimedPacket};
use sojourn_capture::{Flow, Flows, Problem, Reader};
use sojourn_check::nqb;
use std::net::{Ipv4Addr, Ipv6Addr};
use std::sync::Mutex;

pyo3::create_exception!(
    _engine,
    CaptureProblem,
    PyValueError,
    "The file is no capture; the arguments are the error and the remedy."
);

fn refusal(problem: &Problem) -> PyErr {
    CaptureProblem::new_err((problem.message.clone(), problem.hint))
}

/// Reads a capture that comes in pieces.
#[pyclass(frozen, module = "sojourn._engine")]
pub struct CaptureReader {
    state: Mutex<(Reader, Flows)>,
}

#[pymethods]
impl CaptureReader {
    #[new]
    fn new() -> Self {
        Self { state: Mutex::new((Reader::new(), Flows::default())) }
    }

    /// Read a piece; what is wrong with it is a `CaptureProblem`. The interpreter lock is released.
    fn feed(&self, py: Python<'_>, piece: &[u8]) -> PyResult<()> {
        py.detach(|| {
            let mut state = self.state.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            let (reader, flows) = &mut *state;
            reader.feed(piece, &mut |interface, frame| flows.add(interface, frame))
        })
        .map_err(|problem| refusal(&problem))
    }

    /// The file has ended: what is in it. The reader is empty then.
    fn finish(&self) -> PyResult<PacketCapture> {
        let mut state = self.state.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let is_cut = state.0.finish().map_err(|problem| refusal(&problem))?;
        let (reader, flows) = core::mem::take(&mut *state);
        Ok(PacketCapture { reader, flows, is_cut })
    }
}

/// A capture that was read.
#[pyclass(frozen, module = "sojourn._engine")]
pub struct PacketCapture {
    reader: Reader,
    flows: Flows,
    is_cut: bool,
}

fn address(address: Address) -> String {
    match address {
        Address::V4(bits) => Ipv4Addr::from_bits(bits).to_string(),
        Address::V6(bits) => Ipv6Addr::from_bits(bits).to_string(),
    }
}

fn seconds(span: Span) -> f64 {
    span.as_secs_f64()
}

impl PacketCapture {
    fn flow(&self, number: usize) -> PyResult<&Flow> {
        let flow = self.flows.as_slice().get(number);
        flow.ok_or_else(|| PyIndexError::new_err(format!("no flow {number}")))
    }

    /// The packets of a flow, those of an offload cut.
    fn pieces(&self, number: usize, mtu: u32) -> PyResult<Vec<TimedPacket>> {
        Ok(nqb::cut(&self.flow(number)?.packets(), mtu).0)
    }

    /// As many of them as are sent through a modem, a buffer and policers.
    fn first_pieces(&self, number: usize, mtu: u32) -> PyResult<Vec<TimedPacket>> {
        let mut pieces = self.pieces(number, mtu)?;
        pieces.truncate(pieces.partition_point(|piece| piece.at < nqb::LONGEST_REPLAY));
        Ok(pieces)
    }
}

/// A rate that something can be sent at.
fn rate(bps: u64) -> PyResult<BitRate> {
    if bps == 0 {
        return Err(PyValueError::new_err("a rate of 0 b/s"));
    }
    Ok(BitRate::from_bps(bps))
}

const fn company(upload: bool) -> nqb::Company {
    if upload { nqb::Company::Upload } else { nqb::Company::Alone }
}

#[pymethods]
impl PacketCapture {
    /// True if the file ends within a packet.
    #[getter]
    const fn is_cut(&self) -> bool {
        self.is_cut
    }

    /// Frames that carry no IP packet, or one that cannot be read.
    #[getter]
    const fn others(&self) -> u64 {
        self.flows.others
    }

    /// How often times jump back by more than a step of the clock, and by how many ns at most.
    #[getter]
    const fn steps_back(&self) -> (u64, u64) {
        (self.flows.steps_back, self.flows.runs_back_ns)
    }

    /// Numbers of link layers that are not known, each with its frames.
    #[getter]
    fn unknown_link_types(&self) -> Vec<(u16, u64)> {
        let unknown = self.flows.unknown_link_types.iter();
        unknown.map(|(link_type, count)| (*link_type, *count)).collect()
    }

    /// Name, whether times are coarse, and packets that were missed, of each place.
    fn interfaces(&self) -> Vec<(String, bool, u64)> {
        let interfaces = self.reader.interfaces().iter();
        interfaces.map(|place| (place.name.clone(), place.is_coarse, place.missed)).collect()
    }

    /// Returns the properties of each flow, in the order of their starts.
    fn flows<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyDict>>> {
        let flows = self.flows.as_slice();
        flows
            .iter()
            .map(|flow| {
                let entry = PyDict::new(py);
                entry.set_item("interface", flow.interface)?;
                entry.set_item("protocol", flow.key.protocol)?;
                entry.set_item("source", address(flow.key.source))?;
                entry.set_item("source_port", flow.key.source_port)?;
                entry.set_item("destination", address(flow.key.destination))?;
                entry.set_item("destination_port", flow.key.destination_port)?;
                entry.set_item("packets", flow.len())?;
                entry.set_item("bytes", flow.bytes)?;
                entry.set_item("first_ns", flow.first_ns())?;
                entry.set_item("out_of_order", flow.out_of_order)?;
                entry.set_item("answer", self.flows.answer_to(flow))?;
                Ok(entry)
            })
            .collect()
    }

    /// Returns the capture times of a flow's segments, and the times to their acknowledgements, in ns.
    fn round_trips(&self, flow: usize) -> PyResult<Vec<(u64, u64)>> {
        Ok(self.flow(flow)?.round_trips().to_vec())
    }

    /// Returns marks, lengths and times of a flow's packets.
    fn likeness<'py>(&self, py: Python<'py>, flow: usize, mtu: u32) -> PyResult<Bound<'py, PyDict>> {
        let packets = self.flow(flow)?.packets();
        let mut dscp = std::collections::BTreeMap::<u8, u64>::new();
        let mut ecn = [0_u64; 4];
        let mut lengths: Vec<u32> = Vec::with_capacity(packets.len());
        let mut bins = std::collections::BTreeMap::<u64, u64>::new();
        for packet in &packets {
            *dscp.entry(packet.dscp).or_default() += 1;
            ecn[usize::from(packet.ecn.bits())] += 1;
            lengths.push(packet.length);
            *bins.entry(packet.at.as_ns() / 1_000_000_000).or_default() += u64::from(packet.length);
        }
        lengths.sort_unstable();
        let duration = packets.last().map_or(Span::ZERO, |last| last.at);
        let equal = packets.windows(2).filter(|pair| pair[0].at == pair[1].at);
        // Whole seconds only: the last one is cut off.
        let whole = duration.as_ns() / 1_000_000_000;
        let rates: Vec<u64> = (0..whole).map(|bin| bins.get(&bin).copied().unwrap_or(0)).collect();
        let (pieces, longer) = nqb::cut(&packets, mtu);
        let mut bursts: Vec<nqb::Burst> = nqb::bursts(&pieces, Span::from_ms(1));
        bursts.sort_by_key(|burst| burst.bytes);
        let quantile = |share: usize| {
            let place = (bursts.len() * share).div_ceil(100).saturating_sub(1);
            bursts.get(place).map_or(0, |burst| burst.bytes)
        };
        let inside: Vec<u64> = {
            let gaps = pieces.windows(2).map(|pair| pair[1].at.saturating_sub(pair[0].at).as_ns());
            let mut inside: Vec<u64> = gaps.filter(|gap| *gap < 1_000_000).collect();
            inside.sort_unstable();
            inside
        };
        let entry = PyDict::new(py);
        entry.set_item("duration_s", seconds(duration))?;
        entry.set_item("dscp", dscp.into_iter().collect::<Vec<_>>())?;
        entry.set_item("ecn", ecn)?;
        entry.set_item("median_length", lengths.get(lengths.len() / 2))?;
        entry.set_item("equal_stamps", equal.count())?;
        entry.set_item("bytes_each_second", rates)?;
        entry.set_item("longer_than_mtu", longer)?;
        entry.set_item("bursts", bursts.len())?;
        entry.set_item("burst_p50", quantile(50))?;
        entry.set_item("burst_p99", quantile(99))?;
        entry.set_item("burst_largest", quantile(100))?;
        entry.set_item("gap_in_bursts_ns", inside.get(inside.len() / 2))?;
        Ok(entry)
    }

    /// Returns the list of a flow's packets, and with `both` of its answer's, separated by `separator`.
    fn extract(&self, py: Python<'_>, flow: usize, both: bool, separator: &str) -> PyResult<String> {
        let flow = self.flow(flow)?;
        let answer = self.flows.answer_to(flow).filter(|_| both);
        let answer = answer.map(|number| &self.flows.as_slice()[number]);
        py.detach(|| {
            let first = answer.map_or(flow.first_ns(), |answer| flow.first_ns().min(answer.first_ns()));
            let listed = |flow: &Flow, back: bool| {
                let packets = flow.packets_since(first).into_iter();
                packets.map(move |packet| ListedPacket { packet, back })
            };
            let mut packets: Vec<ListedPacket> = listed(flow, false).collect();
            packets.extend(answer.into_iter().flat_map(|answer| listed(answer, true)));
            packets.sort_by_key(|one| one.packet.at);
            PacketList::new(packets)
        })
        .map(|list| list.text(separator))
        .map_err(|wrong| CaptureProblem::new_err((wrong.message, wrong.hint)))
    }

    /// The sender's rule at a rate: most bytes beyond it, when that interval begins and ends, packets beyond.
    fn envelope(&self, py: Python<'_>, flow: usize, mtu: u32, bps: u64) -> PyResult<(u64, f64, f64, u64)> {
        let packets = self.pieces(flow, mtu)?;
        let found = py.detach(|| nqb::envelope(&packets, BitRate::from_bps(bps), mtu));
        Ok((found.most_bytes, seconds(found.from), seconds(found.to), found.beyond))
    }

    /// The least rate at which the sender's rule holds, in b/s; `None` if it never does.
    fn least_rate(&self, py: Python<'_>, flow: usize, mtu: u32) -> PyResult<Option<u64>> {
        let packets = self.pieces(flow, mtu)?;
        Ok(py.detach(|| nqb::least_rate(&packets, mtu)).map(BitRate::as_bps))
    }

    /// Through the DOCSIS dual queue at a rate: packets, sanctioned, dropped, highest score and the delay at it, longest
    /// wait, when the first was sanctioned; times in s.
    #[expect(clippy::type_complexity, reason = "a row of a table")]
    fn protected(
        &self,
        py: Python<'_>,
        flow: usize,
        mtu: u32,
        bps: u64,
        upload: bool,
    ) -> PyResult<(u64, u64, u64, f64, f64, f64, Option<f64>)> {
        let (packets, rate) = (self.first_pieces(flow, mtu)?, rate(bps)?);
        let found = py.detach(|| nqb::protected(&packets, rate, company(upload)));
        Ok((
            found.packets,
            found.sanctioned,
            found.dropped,
            seconds(found.score),
            seconds(found.delay_at_score),
            seconds(found.longest),
            found.first_s(),
        ))
    }

    /// How many flows like this one fit into the low-latency queue, up to `most`; of a long one its first `packets`.
    fn with_copies(
        &self,
        py: Python<'_>,
        first_packets: (usize, usize),
        mtu: u32,
        bps: u64,
        upload: bool,
        most: u32,
    ) -> PyResult<u32> {
        let (flow, packets) = first_packets;
        let (mut pieces, rate) = (self.first_pieces(flow, mtu)?, rate(bps)?);
        pieces.truncate(packets);
        Ok(py.detach(|| nqb::with_copies(&pieces, rate, company(upload), most)))
    }

    /// Returns the number of packets that overflow a buffer of `buffer_s` seconds before a line of a rate.
    fn overflow(&self, py: Python<'_>, flow: usize, mtu: u32, bps: u64, buffer_s: f64) -> PyResult<u64> {
        let (packets, rate) = (self.first_pieces(flow, mtu)?, rate(bps)?);
        Ok(py.detach(|| nqb::overflow(&packets, rate, Span::from_secs_f64(buffer_s))))
    }

    /// Returns the number of packets beyond a policer of a rate and a bucket of `bucket` bytes.
    fn policed(&self, py: Python<'_>, flow: usize, mtu: u32, bps: u64, bucket: u64) -> PyResult<u64> {
        let packets = self.first_pieces(flow, mtu)?;
        Ok(py.detach(|| nqb::policed(&packets, BitRate::from_bps(bps), bucket)))
    }
}

/// The most packets of a length, so far apart, of which none is sanctioned on an idle line of a rate; up to `most`.
#[pyfunction]
fn largest_burst(length: u32, spacing_ns: u64, bps: u64, most: u32) -> PyResult<u32> {
    Ok(nqb::largest_burst(length, Span::from_ns(spacing_ns), rate(bps)?, most))
}

/// The list of a text, as a scenario has it: checked, on one line.
#[pyfunction]
fn packet_list(py: Python<'_>, text: &str) -> PyResult<String> {
    py.detach(|| PacketList::parse(text))
        .map(|list| list.text("; "))
        .map_err(|wrong| CaptureProblem::new_err((wrong.message, wrong.hint)))
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("CaptureProblem", module.py().get_type::<CaptureProblem>())?;
    module.add_class::<CaptureReader>()?;
    module.add_class::<PacketCapture>()?;
    module.add_function(wrap_pyfunction!(largest_burst, module)?)?;
    module.add_function(wrap_pyfunction!(packet_list, module)?)
}
