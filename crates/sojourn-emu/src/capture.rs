//! Captures of what the model saw: packets as they entered it and as they left it, in files that Wireshark reads.
//!
//! Times are model times: a packet that left carries its due time, even if it was written late. A packet that the model
//! dropped is in the first file only. Transport checksums that a stack has left to its device are completed; Wireshark
//! would report them as errors.
//!
//! Source: the files of `sojourn_capture::writer`.

use crate::segment::{Offload, missing_checksum};
use sojourn_base::{Direction, Instant, PerDirection, Span};
use sojourn_capture::{KEPT, LinkType, PcapWriter};
use std::fmt;
use std::io::{self, Write};
use std::time::Duration;

/// Destination of a capture.
pub type Sink = Box<dyn Write + Send>;

/// On which side of the model packets are seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// Before the link.
    Entered,
    /// Behind it.
    Left,
}

/// Files of packets, one for each direction and side of the model.
pub struct Captures {
    /// Start of model time, since 1970.
    began: Duration,
    entered: PerDirection<PcapWriter<Sink>>,
    left: PerDirection<PcapWriter<Sink>>,
}

impl fmt::Debug for Captures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Captures").finish_non_exhaustive()
    }
}

impl Captures {
    /// Captures that begin `began` after 1970, into what `open` opens for each of `upstream-entered.pcap`,
    /// `upstream-left.pcap`, `downstream-entered.pcap` and `downstream-left.pcap`; the writers should have buffers.
    ///
    /// # Errors
    /// If one cannot be opened or written.
    pub fn new(
        began: Duration,
        link_header: usize,
        mut open: impl FnMut(&str) -> io::Result<Sink>,
    ) -> io::Result<Self> {
        let mut writer = |direction: Direction, side: &str| {
            let sink = open(&format!("{}-{side}.pcap", direction.as_str()))?;
            let link_type = if link_header == 0 { LinkType::Raw } else { LinkType::Ethernet };
            PcapWriter::new(sink, link_type)
        };
        let mut both = |side| {
            Ok::<_, io::Error>(PerDirection {
                upstream: writer(Direction::Upstream, side)?,
                downstream: writer(Direction::Downstream, side)?,
            })
        };
        Ok(Self { began, entered: both("entered")?, left: both("left")? })
    }

    /// A packet is seen at `at` of the model.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn write(
        &mut self,
        direction: Direction,
        side: Side,
        at: Instant,
        (offload, packet): (Offload, &[u8]),
    ) -> io::Result<()> {
        let writers = match side {
            Side::Entered => &mut self.entered,
            Side::Left => &mut self.left,
        };
        let at: Span = at.saturating_since(Instant::ZERO);
        let at = self.began + Duration::from_nanos(at.as_ns());
        let at_ns = u64::try_from(at.as_nanos()).map_err(io::Error::other)?;
        let length = u32::try_from(packet.len()).expect("a packet is shorter than 2^32 bytes");
        let mut room = [0; KEPT];
        let kept = &mut room[..packet.len().min(KEPT)];
        kept.copy_from_slice(&packet[..kept.len()]);
        if let Some((at, checksum)) = missing_checksum(packet, offload)
            && let Some(place) = kept.get_mut(at..at + 2)
        {
            place.copy_from_slice(&checksum);
        }
        writers[direction].packet(at_ns, length, kept)
    }

    /// Writes what is in buffers.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn finish(self) -> io::Result<()> {
        let Self { entered, left, .. } = self;
        for writers in [entered, left] {
            writers.upstream.finish()?;
            writers.downstream.finish()?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sojourn_capture::Reader;
    use std::sync::{Arc, Mutex};

    #[derive(Clone, Default)]
    struct Kept(Arc<Mutex<Vec<u8>>>);

    impl Write for Kept {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_capture_has_the_headers_the_length_and_the_time_of_the_model() {
        let mut files = Vec::new();
        let mut captures = Captures::new(Duration::from_secs(1_000), 0, |name| {
            let kept = Kept::default();
            files.push((name.to_owned(), kept.clone()));
            Ok(Box::new(kept))
        })
        .unwrap();
        let packet: Vec<u8> = (0..200).collect();
        let at = Instant::from_ns(2_000_000_003);
        // 0 + 1 + … + 199 as words of 16 bits from byte 20 on; the field holds the sum over a pseudo-header.
        let offload = Offload { needs_checksum: true, checksum_start: 20, checksum_offset: 16, ..Offload::default() };
        let words = (10_u32..100).map(|word| (2 * word) << 8 | (2 * word + 1));
        let sum: u32 = words.sum();
        let checksum = u16::try_from((sum & 0xffff) + (sum >> 16)).unwrap();
        let mut whole = packet.clone();
        whole[36..38].copy_from_slice(&(!checksum).to_be_bytes());
        captures.write(Direction::Downstream, Side::Left, at, (offload, &packet)).unwrap();
        captures.finish().unwrap();
        let names: Vec<&str> = files.iter().map(|(name, _)| &**name).collect();
        let expected =
            ["upstream-entered.pcap", "downstream-entered.pcap", "upstream-left.pcap", "downstream-left.pcap"];
        assert_eq!(names, expected);
        let bytes = files[3].1.0.lock().unwrap().clone();
        let (mut reader, mut read) = (Reader::new(), Vec::new());
        let shown = reader.feed(&bytes, &mut |interface, frame| {
            read.push((interface.link_type, frame.at_ns, frame.length, frame.bytes.to_vec()));
            Ok(())
        });
        shown.unwrap();
        assert_eq!(read, [(101, 1_002_000_000_003, 200, whole[..96].to_vec())]);
    }
}
