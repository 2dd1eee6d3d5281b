//! Captures read piece by piece: pcap with micro- or nanoseconds of either byte order, that of Kuznetzov's patch, and pcapng.
//!
//! The library that others use (pcap-file 2.0) takes times of pcapng for nanoseconds whatever their resolution is, and refuses
//! some options that are in order; what is needed here is short.
//!
//! Source: draft-ietf-opsawg-pcap-05, draft-ietf-opsawg-pcapng-03.
//! Deviations: sections of one pcapng file are one capture: an interface of a later one with place and name of one in the first is
//! that interface, whatever its link layer. In pcapng, decryption secrets, names and other blocks are skipped; packets without a time (simple packet block)
//! are refused.

use core::fmt;

/// Bytes of a packet that are taken at most. Source: Wireshark's largest, 256 KiB, and room for options.
const LARGEST_BLOCK: usize = 1 << 20;

/// Interfaces at most. chosen: far more than a host has.
const MOST_INTERFACES: usize = 4096;

/// A problem of a capture, and its remedy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The error.
    pub message: String,
    /// The remedy.
    pub hint: &'static str,
}

impl Problem {
    pub(crate) fn new(message: impl Into<String>, hint: &'static str) -> Self {
        Self { message: message.into(), hint }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl core::error::Error for Problem {}

/// A captured frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame<'a> {
    /// Time, in ns since 1970.
    pub at_ns: u64,
    /// Place of its interface in [`Reader::interfaces`].
    pub interface: u32,
    /// Bytes that it had.
    pub length: u32,
    /// Those that were kept.
    pub bytes: &'a [u8],
}

/// Interface of captured frames.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Interface {
    /// Its name; empty if the file has none.
    pub name: String,
    /// Number of its link layer.
    pub link_type: u16,
    /// True if its times are no finer than 1 µs.
    pub is_coarse: bool,
    /// Packets that were not captured, as far as the file tells.
    pub missed: u64,
    resolution: Resolution,
    /// Seconds that are added to each time.
    offset_s: i64,
    /// The place of the same interface in the first section.
    again: Option<u32>,
}

impl Interface {
    /// Its number, or that of the same interface in the first section of its file.
    pub(crate) fn first_of(&self, number: u32) -> u32 {
        self.again.unwrap_or(number)
    }
}

/// How long a unit of time is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Resolution {
    Decimal(u8),
    Binary(u8),
}

impl Default for Resolution {
    /// Microseconds, as the document has it.
    fn default() -> Self {
        Self::Decimal(6)
    }
}

impl Resolution {
    /// Of the option's octet; `None` if no time fits.
    fn of(octet: u8) -> Option<Self> {
        match octet {
            0..=18 => Some(Self::Decimal(octet)),
            0x80..=0xbf => Some(Self::Binary(octet & 0x7f)),
            _ => None,
        }
    }

    fn ns(self, units: u64) -> u128 {
        let product = u128::from(units) * 1_000_000_000;
        match self {
            Self::Decimal(power) => product / 10_u128.pow(power.into()),
            Self::Binary(power) => product >> power,
        }
    }

    const fn is_coarse(self) -> bool {
        match self {
            Self::Decimal(power) => power <= 6,
            Self::Binary(power) => power < 20,
        }
    }
}

/// Byte order of a file or section.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Order {
    Little,
    Big,
}

impl Order {
    fn half(self, bytes: &[u8], at: usize) -> Option<u16> {
        let octets = bytes.get(at..at + 2)?.try_into().ok()?;
        Some(match self {
            Self::Little => u16::from_le_bytes(octets),
            Self::Big => u16::from_be_bytes(octets),
        })
    }

    fn word(self, bytes: &[u8], at: usize) -> Option<u32> {
        let octets = bytes.get(at..at + 4)?.try_into().ok()?;
        Some(match self {
            Self::Little => u32::from_le_bytes(octets),
            Self::Big => u32::from_be_bytes(octets),
        })
    }

    fn long(self, bytes: &[u8], at: usize) -> Option<u64> {
        let octets = bytes.get(at..at + 8)?.try_into().ok()?;
        Some(match self {
            Self::Little => u64::from_le_bytes(octets),
            Self::Big => u64::from_be_bytes(octets),
        })
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Unknown,
    Classic { order: Order, units: u32, header: usize },
    Next { order: Order, first: usize },
}

/// Result of one step.
enum Step<'a> {
    /// This number of bytes is read; there may be a frame in them.
    Read(usize, Option<Frame<'a>>),
    /// More is needed.
    Short,
    /// These bytes need not be looked at.
    Skip(u64),
}

/// Reads a capture that comes in pieces of any size.
#[derive(Debug)]
pub struct Reader {
    form: Form,
    interfaces: Vec<Interface>,
    /// How many of them the first section has.
    firsts: usize,
    /// Bytes that are not read yet.
    pending: Vec<u8>,
    /// Bytes to come that are skipped.
    skip: u64,
    /// Bytes read so far.
    read: u64,
}

impl Default for Reader {
    fn default() -> Self {
        Self::new()
    }
}

impl Reader {
    /// Before the first piece.
    pub const fn new() -> Self {
        Self { form: Form::Unknown, interfaces: Vec::new(), firsts: 0, pending: Vec::new(), skip: 0, read: 0 }
    }

    /// Returns the interfaces so far.
    pub fn interfaces(&self) -> &[Interface] {
        &self.interfaces
    }

    /// Reads a piece, and shows each frame that is whole with it.
    ///
    /// # Errors An error of the file, or one that `show` finds in a frame.
    pub fn feed(
        &mut self,
        piece: &[u8],
        show: &mut dyn FnMut(&Interface, &Frame<'_>) -> Result<(), Problem>,
    ) -> Result<(), Problem> {
        let skipped = usize::try_from(self.skip).unwrap_or(usize::MAX).min(piece.len());
        self.skip -= skipped as u64;
        self.read += skipped as u64;
        let mut pending = core::mem::take(&mut self.pending);
        pending.extend_from_slice(&piece[skipped..]);
        let mut at = 0;
        loop {
            match self.step(&pending[at..])? {
                Step::Short => break,
                Step::Read(count, frame) => {
                    at += count;
                    self.read += count as u64;
                    if let Some(frame) = frame {
                        let interface = &self.interfaces[frame.interface as usize];
                        show(interface, &frame)?;
                    }
                }
                Step::Skip(count) => {
                    let here = count.min((pending.len() - at) as u64);
                    at += usize::try_from(here).unwrap_or(usize::MAX);
                    self.read += here;
                    self.skip = count - here;
                    if self.skip > 0 {
                        break;
                    }
                }
            }
        }
        pending.drain(..at);
        self.pending = pending;
        Ok(())
    }

    /// The file has ended: whether it does so within a packet.
    ///
    /// # Errors
    /// If nothing of it could be read.
    pub fn finish(&self) -> Result<bool, Problem> {
        if self.form == Form::Unknown {
            let what =
                if self.read == 0 && self.pending.is_empty() { "is empty" } else { "ends within its first header" };
            return Err(Problem::new(what, A_CAPTURE));
        }
        Ok(self.skip > 0 || !self.pending.is_empty())
    }

    fn step<'a>(&mut self, bytes: &'a [u8]) -> Result<Step<'a>, Problem> {
        match self.form {
            Form::Unknown => self.begin(bytes),
            Form::Classic { order, units, header } => self.record(bytes, (order, units, header)),
            Form::Next { order, first } => self.block(bytes, order, first),
        }
    }

    fn wrong(&self, what: &str) -> Problem {
        Problem::new(format!("byte {}: {what}", self.read), "a whole file, as tcpdump or Wireshark writes it")
    }

    fn begin<'a>(&mut self, bytes: &'a [u8]) -> Result<Step<'a>, Problem> {
        const SECTION: [u8; 4] = [0x0a, 0x0d, 0x0d, 0x0a];
        let Some(magic) = bytes.first_chunk::<4>() else {
            return Ok(Step::Short);
        };
        if *magic == SECTION {
            self.form = Form::Next { order: Order::Little, first: 0 };
            return Ok(Step::Read(0, None));
        }
        let (order, units, record) = match u32::from_be_bytes(*magic) {
            0xa1b2_c3d4 => (Order::Big, 1_000, 16),
            0xa1b2_3c4d => (Order::Big, 1, 16),
            0xd4c3_b2a1 => (Order::Little, 1_000, 16),
            0x4d3c_b2a1 => (Order::Little, 1, 16),
            // Kuznetzov's patch: each packet has interface, protocol and kind as well.
            0xa1b2_cd34 => (Order::Big, 1_000, 24),
            0x34cd_b2a1 => (Order::Little, 1_000, 24),
            other => return Err(Problem::new("is no packet capture", hint_of(other))),
        };
        let Some(header) = bytes.get(..24) else {
            return Ok(Step::Short);
        };
        // The upper bits are about the frame check sequence.
        let link_type = order.word(header, 20).unwrap_or_default() & 0xffff;
        self.interfaces.push(Interface {
            link_type: u16::try_from(link_type).unwrap_or_default(),
            is_coarse: units == 1_000,
            ..Interface::default()
        });
        self.form = Form::Classic { order, units, header: record };
        Ok(Step::Read(24, None))
    }

    fn record<'a>(&self, bytes: &'a [u8], (order, units, header): (Order, u32, usize)) -> Result<Step<'a>, Problem> {
        let words = [0, 4, 8, 12].map(|at| order.word(bytes, at));
        let [Some(seconds), Some(fraction), Some(kept), Some(length)] = words else {
            return Ok(Step::Short);
        };
        let kept = kept as usize;
        if kept > LARGEST_BLOCK {
            return Err(self.wrong(&format!("a packet of {kept} B")));
        }
        let Some(frame) = bytes.get(header..header + kept) else {
            return Ok(Step::Short);
        };
        Ok(Step::Read(
            header + kept,
            Some(Frame {
                at_ns: u64::from(seconds) * 1_000_000_000 + u64::from(fraction) * u64::from(units),
                interface: 0,
                length,
                bytes: frame,
            }),
        ))
    }

    fn block<'a>(&mut self, bytes: &'a [u8], order: Order, first: usize) -> Result<Step<'a>, Problem> {
        let Some(start) = bytes.get(..12) else {
            return Ok(Step::Short);
        };
        let (mut order, mut first) = (order, first);
        let kind = order.word(start, 0).unwrap_or_default();
        if kind == SECTION_HEADER {
            order = match start.get(8..12) {
                Some([0x1a, 0x2b, 0x3c, 0x4d]) => Order::Big,
                Some([0x4d, 0x3c, 0x2b, 0x1a]) => Order::Little,
                _ => return Err(self.wrong("a section without a byte order")),
            };
            first = self.interfaces.len();
            self.form = Form::Next { order, first };
        }
        let length = order.word(start, 4).unwrap_or_default();
        if length < 12 || length % 4 != 0 {
            return Err(self.wrong(&format!("a block of {length} B")));
        }
        if !matches!(kind, INTERFACE | ENHANCED_PACKET | OLD_PACKET | SIMPLE_PACKET | STATISTICS) {
            return Ok(Step::Skip(length.into()));
        }
        let length = length as usize;
        if length > LARGEST_BLOCK {
            return Err(self.wrong(&format!("a block of {length} B")));
        }
        let Some(block) = bytes.get(..length) else {
            return Ok(Step::Short);
        };
        if order.word(block, length - 4) != order.word(block, 4) {
            return Err(self.wrong("a block that tells two lengths"));
        }
        let body = &block[8..length - 4];
        let frame = match kind {
            INTERFACE => self.interface(body, order, first).map(|()| None),
            STATISTICS => {
                self.statistics(body, order, first);
                Ok(None)
            }
            SIMPLE_PACKET => Err(Problem::new("its packets have no times", A_CAPTURE)),
            _ => self.packet(body, order, (first, kind)).map(Some),
        }?;
        Ok(Step::Read(length, frame))
    }

    fn interface(&mut self, body: &[u8], order: Order, first: usize) -> Result<(), Problem> {
        if self.interfaces.len() >= MOST_INTERFACES {
            return Err(self.wrong(&format!("more than {MOST_INTERFACES} interfaces")));
        }
        let Some(link_type) = order.half(body, 0).filter(|_| body.len() >= 8) else {
            return Err(self.wrong("an interface that is cut off"));
        };
        let mut found = Interface { link_type, ..Interface::default() };
        let mut wrong = None;
        options(body, 8, order, |code, value| match (code, value) {
            (2, name) => found.name = String::from_utf8_lossy(name).into_owned(),
            (9, [octet, ..]) => match Resolution::of(*octet) {
                Some(resolution) => found.resolution = resolution,
                None => wrong = Some(*octet),
            },
            (14, value) => {
                let seconds = order.long(value, 0).unwrap_or_default();
                found.offset_s = seconds.cast_signed();
            }
            _ => {}
        });
        if let Some(octet) = wrong {
            return Err(self.wrong(&format!("a resolution of times of {octet:#04x}")));
        }
        found.is_coarse = found.resolution.is_coarse();
        let place = self.interfaces.len() - first;
        if first > 0
            && let Some(earlier) = self.interfaces.get(place)
            && place < self.firsts
            && earlier.name == found.name
        {
            found.again = u32::try_from(place).ok();
        }
        if first == 0 {
            self.firsts = self.interfaces.len() + 1;
        }
        self.interfaces.push(found);
        Ok(())
    }

    fn statistics(&mut self, body: &[u8], order: Order, first: usize) {
        let Some(number) = order.word(body, 0) else {
            return;
        };
        let Some(interface) = self.interfaces.get_mut(first + number as usize) else {
            return;
        };
        options(body, 12, order, |code, value| {
            if code == 5 {
                interface.missed = order.long(value, 0).unwrap_or_default();
            }
        });
    }

    fn packet<'a>(&self, body: &'a [u8], order: Order, (first, kind): (usize, u32)) -> Result<Frame<'a>, Problem> {
        // The old block has the interface in 16 bits, and a count of drops behind it.
        let number = if kind == OLD_PACKET { order.half(body, 0).map(u32::from) } else { order.word(body, 0) };
        let words = [4, 8, 12, 16].map(|at| order.word(body, at));
        let (Some(number), [Some(high), Some(low), Some(kept), Some(length)]) = (number, words) else {
            return Err(self.wrong("a packet that is cut off"));
        };
        let place = first + number as usize;
        let Some(interface) = self.interfaces.get(place) else {
            return Err(self.wrong(&format!("a packet of interface {number}, which is not there")));
        };
        let Some(bytes) = body.get(20..20 + kept as usize) else {
            return Err(self.wrong(&format!("a packet of {kept} B that is cut off")));
        };
        let units = u64::from(high) << 32 | u64::from(low);
        let ns = interface.resolution.ns(units).cast_signed() + i128::from(interface.offset_s) * 1_000_000_000;
        let Ok(at_ns) = u64::try_from(ns) else {
            return Err(self.wrong("a time before 1970 or after 2554"));
        };
        Ok(Frame { at_ns, interface: u32::try_from(place).unwrap_or_default(), length, bytes })
    }
}

const SECTION_HEADER: u32 = 0x0a0d_0d0a;
const INTERFACE: u32 = 1;
const OLD_PACKET: u32 = 2;
const SIMPLE_PACKET: u32 = 3;
const STATISTICS: u32 = 5;
const ENHANCED_PACKET: u32 = 6;

const A_CAPTURE: &str = "a pcap or pcapng file, as tcpdump -w or Wireshark writes it";

/// Returns the remedy for a compressed or foreign file.
const fn hint_of(magic: u32) -> &'static str {
    match magic {
        0x1f8b_0000..=0x1f8b_ffff => "it is compressed: gunzip it first",
        0x28b5_2ffd => "it is compressed: unzstd it first",
        0xfd37_7a58 => "it is compressed: unxz it first",
        _ => A_CAPTURE,
    }
}

/// Shows the options of a block from `at` on, up to the first that does not fit.
fn options(body: &[u8], mut at: usize, order: Order, mut show: impl FnMut(u16, &[u8])) {
    while let (Some(code), Some(length)) = (order.half(body, at), order.half(body, at + 2)) {
        let length = usize::from(length);
        let Some(value) = body.get(at + 4..at + 4 + length) else {
            return;
        };
        if code == 0 {
            return;
        }
        show(code, value);
        at += 4 + length.next_multiple_of(4);
    }
}

#[cfg(test)]
mod tests;
