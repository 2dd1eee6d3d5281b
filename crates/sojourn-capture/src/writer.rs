//! Captures that Wireshark reads: pcap with a file for each place, or pcapng with several places in one file.
//!
//! Source: draft-ietf-opsawg-pcap-05 with nanoseconds, draft-ietf-opsawg-pcapng-03; the list of link types of tcpdump.org.
//! Deviations: none known.

use std::io::{self, Write};

/// Bytes that are kept of each packet, so that payload is not (specification of the emulator, section 12).
pub const KEPT: usize = 96;

/// Header before an IP packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkType {
    /// An Ethernet header.
    Ethernet,
    /// Nothing.
    Raw,
}

impl LinkType {
    /// Its number in files.
    pub const fn number(self) -> u16 {
        match self {
            Self::Ethernet => 1,
            Self::Raw => 101,
        }
    }
}

const NS: u64 = 1_000_000_000;

/// The words of a header, in the byte order of most machines.
fn words<const N: usize>(sink: &mut impl Write, words: [u32; N]) -> io::Result<()> {
    for word in words {
        sink.write_all(&word.to_le_bytes())?;
    }
    Ok(())
}

fn size(bytes: usize) -> io::Result<u32> {
    u32::try_from(bytes).map_err(io::Error::other)
}

/// The first bytes of a packet, as many as are kept.
pub(crate) fn kept(packet: &[u8]) -> &[u8] {
    &packet[..packet.len().min(KEPT)]
}

/// A name as a part of a file's name and of JSON: letters, digits and hyphens stay, other signs become underscores.
pub(crate) fn word(name: &str) -> String {
    let keep = |sign: char| sign.is_ascii_alphanumeric() || sign == '-';
    name.chars().map(|sign| if keep(sign) { sign } else { '_' }).collect()
}

/// A pcap file with nanoseconds: packets of one place.
#[derive(Debug)]
pub struct PcapWriter<W> {
    sink: W,
}

impl<W: Write> PcapWriter<W> {
    /// Writes the header of a file; the sink should have a buffer.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn new(mut sink: W, link_type: LinkType) -> io::Result<Self> {
        // Version 2.4, no time zone, no accuracy.
        words(&mut sink, [0xa1b2_3c4d, 2 | 4 << 16, 0, 0])?;
        words(&mut sink, [size(KEPT)?, link_type.number().into()])?;
        Ok(Self { sink })
    }

    /// Writes a packet of `length` bytes, of which `bytes` are the first, at `at_ns` after 1970.
    ///
    /// # Errors
    /// If it cannot be written, or its time has more than 32 bits of seconds.
    pub fn packet(&mut self, at_ns: u64, length: u32, bytes: &[u8]) -> io::Result<()> {
        let seconds = u32::try_from(at_ns / NS).map_err(io::Error::other)?;
        let fraction = u32::try_from(at_ns % NS).map_err(io::Error::other)?;
        let bytes = kept(bytes);
        words(&mut self.sink, [seconds, fraction, size(bytes.len())?, length])?;
        self.sink.write_all(bytes)
    }

    /// Writes what is in buffers.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn finish(mut self) -> io::Result<()> {
        self.sink.flush()
    }
}

/// A pcapng file: packets of several places, with comments.
#[derive(Debug)]
pub struct PcapngWriter<W> {
    sink: W,
    interfaces: u32,
    /// The block that is written next.
    block: Vec<u8>,
}

impl<W: Write> PcapngWriter<W> {
    /// Writes the header of a section; the sink should have a buffer.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn new(sink: W) -> io::Result<Self> {
        let mut writer = Self { sink, interfaces: 0, block: Vec::new() };
        // Version 1.0, a section of unknown length.
        for word in [0x1a2b_3c4d_u32, 1, u32::MAX, u32::MAX] {
            writer.block.extend(word.to_le_bytes());
        }
        writer.option(4, b"sojourn");
        writer.end_options();
        writer.write_block(0x0a0d_0d0a)?;
        Ok(writer)
    }

    /// Adds a place with its name; its number.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn interface(&mut self, name: &str, link_type: LinkType) -> io::Result<u32> {
        self.block.extend(u32::from(link_type.number()).to_le_bytes());
        self.block.extend(size(KEPT)?.to_le_bytes());
        self.option(2, name.as_bytes());
        self.option(9, &[9]);
        self.end_options();
        self.write_block(1)?;
        self.interfaces += 1;
        Ok(self.interfaces - 1)
    }

    /// Writes a packet as [`PcapWriter::packet`] does, at an interface, with a comment.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn packet(
        &mut self,
        interface: u32,
        at_ns: u64,
        (length, bytes): (u32, &[u8]),
        comment: &str,
    ) -> io::Result<()> {
        let bytes = kept(bytes);
        let [high, low] = [at_ns >> 32, at_ns & 0xffff_ffff];
        for word in [u64::from(interface), high, low] {
            let word = u32::try_from(word).map_err(io::Error::other)?;
            self.block.extend(word.to_le_bytes());
        }
        self.block.extend(size(bytes.len())?.to_le_bytes());
        self.block.extend(length.to_le_bytes());
        self.block.extend_from_slice(bytes);
        self.pad();
        if !comment.is_empty() {
            self.option(1, comment.as_bytes());
            self.end_options();
        }
        self.write_block(6)
    }

    /// Writes what is in buffers.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn finish(mut self) -> io::Result<()> {
        self.sink.flush()
    }

    fn option(&mut self, code: u16, value: &[u8]) {
        let length = value.len().min(usize::from(u16::MAX));
        self.block.extend(code.to_le_bytes());
        let told = u16::try_from(length).unwrap_or(u16::MAX);
        self.block.extend(told.to_le_bytes());
        self.block.extend_from_slice(&value[..length]);
        self.pad();
    }

    fn end_options(&mut self) {
        self.block.extend([0; 4]);
    }

    fn pad(&mut self) {
        self.block.resize(self.block.len().next_multiple_of(4), 0);
    }

    fn write_block(&mut self, kind: u32) -> io::Result<()> {
        let length = size(self.block.len() + 12)?;
        words(&mut self.sink, [kind, length])?;
        self.sink.write_all(&self.block)?;
        words(&mut self.sink, [length])?;
        self.block.clear();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// V-15: 24 + n × (16 + 96) bytes, and the magic of nanoseconds.
    #[test]
    fn a_classic_file_has_the_size_of_its_arithmetic() {
        let mut bytes = Vec::new();
        let mut writer = PcapWriter::new(&mut bytes, LinkType::Raw).unwrap();
        for number in 0..1000 {
            writer.packet(number, 1500, &[0x45; 1500]).unwrap();
        }
        writer.finish().unwrap();
        assert_eq!(bytes.len(), 24 + 1000 * (16 + 96));
        assert_eq!(bytes[..4], 0xa1b2_3c4d_u32.to_le_bytes());
    }

    #[test]
    fn a_time_beyond_32_bits_of_seconds_is_refused_in_classic_form_only() {
        let late = (u64::from(u32::MAX) + 1) * NS;
        let mut writer = PcapWriter::new(Vec::new(), LinkType::Raw).unwrap();
        assert!(writer.packet(late, 20, &[0; 20]).is_err());
        let mut writer = PcapngWriter::new(Vec::new()).unwrap();
        let place = writer.interface("here", LinkType::Raw).unwrap();
        writer.packet(place, late, (20, &[0; 20]), "").unwrap();
    }
}
