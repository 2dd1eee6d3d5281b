//! The bytes of a frame: what goes from the engine to a screen.
//!
//! Little-endian, 40 bytes and the values:
//!
//! | bytes | content |
//! |---|---|
//! | 0–3 | `SJL1` |
//! | 4–5 | kind: 1 series, 2 ticks, 3 packets, 4 summary, 5 end |
//! | 6–7 | flags; bit 0: the first after a rewind |
//! | 8–11 | generation |
//! | 12–15 | side: 0 for A, 1 for B, then ghosts |
//! | 16–23 | simulated time reached, ns |
//! | 24–27 | number of the series in the list of the session, and its level in the upper 8 bits |
//! | 28–31 | rows |
//! | 32–39 | first bin |
//! | 40– | rows × columns of 32-bit floats, column by column; what is missing is NaN |

use core::fmt;

/// First bytes of a frame.
const MAGIC: [u8; 4] = *b"SJL1";

/// Bytes before the values.
pub const HEAD: usize = 40;

/// Contents of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Rows of a series.
    Series = 1,
    /// Drops and marks one by one.
    Ticks = 2,
    /// Packets of calls and games.
    Packets = 3,
    /// Metrics as JSON.
    Summary = 4,
    /// Nothing comes any more.
    End = 5,
}

/// A frame.
#[derive(Clone, Debug, PartialEq)]
pub struct Frame {
    /// Its contents.
    pub kind: Kind,
    /// It is the first after a rewind.
    pub rewound: bool,
    /// Number of the run within the session of a page.
    pub generation: u32,
    /// Which of the runs that are shown together.
    pub side: u32,
    /// Simulated time that the run has reached, ns.
    pub reached_ns: u64,
    /// Number of the series, below 2^24.
    pub series: u32,
    /// Level of its pyramid.
    pub level: u8,
    /// Number of the first row.
    pub first: u64,
    /// Number of rows.
    pub rows: u32,
    /// Rows × columns, column by column.
    pub values: Vec<f32>,
}

/// Why bytes are no frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoFrame {
    /// It does not begin as one.
    Magic,
    /// There is no such kind.
    Kind,
    /// It ends too early, or within a column.
    Length,
}

impl fmt::Display for NoFrame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Magic => "a frame begins with SJL1",
            Self::Kind => "kinds of frames are 1 to 5",
            Self::Length => "a frame is 40 bytes and whole columns of its rows",
        })
    }
}

impl core::error::Error for NoFrame {}

impl Frame {
    /// Appends the bytes of the frame.
    ///
    /// # Panics
    /// If `series` needs more than 24 bits.
    pub fn write(&self, to: &mut Vec<u8>) {
        assert!(self.series < 1 << 24, "a session has fewer series");
        to.reserve(HEAD + self.values.len() * 4);
        to.extend(MAGIC);
        to.extend((self.kind as u16).to_le_bytes());
        to.extend(u16::from(self.rewound).to_le_bytes());
        to.extend(self.generation.to_le_bytes());
        to.extend(self.side.to_le_bytes());
        to.extend(self.reached_ns.to_le_bytes());
        to.extend((self.series | u32::from(self.level) << 24).to_le_bytes());
        to.extend(self.rows.to_le_bytes());
        to.extend(self.first.to_le_bytes());
        for value in &self.values {
            to.extend(value.to_le_bytes());
        }
    }

    /// Reads the bytes of one frame.
    ///
    /// # Errors
    /// If they are not exactly one.
    pub fn read(bytes: &[u8]) -> Result<Self, NoFrame> {
        fn take<const N: usize>(bytes: &mut &[u8]) -> Result<[u8; N], NoFrame> {
            let (taken, rest) = bytes.split_first_chunk().ok_or(NoFrame::Length)?;
            *bytes = rest;
            Ok(*taken)
        }
        let mut rest = bytes;
        if take(&mut rest)? != MAGIC {
            return Err(NoFrame::Magic);
        }
        let kind = match u16::from_le_bytes(take(&mut rest)?) {
            1 => Kind::Series,
            2 => Kind::Ticks,
            3 => Kind::Packets,
            4 => Kind::Summary,
            5 => Kind::End,
            _ => return Err(NoFrame::Kind),
        };
        let flags = u16::from_le_bytes(take(&mut rest)?);
        let generation = u32::from_le_bytes(take(&mut rest)?);
        let side = u32::from_le_bytes(take(&mut rest)?);
        let reached_ns = u64::from_le_bytes(take(&mut rest)?);
        let series = u32::from_le_bytes(take(&mut rest)?);
        let rows = u32::from_le_bytes(take(&mut rest)?);
        let first = u64::from_le_bytes(take(&mut rest)?);
        let column = u64::from(rows) * 4;
        let is_whole = match column {
            0 => rest.is_empty(),
            column => !rest.is_empty() && (rest.len() as u64).is_multiple_of(column),
        };
        if !is_whole {
            return Err(NoFrame::Length);
        }
        let (values, _) = rest.as_chunks();
        Ok(Self {
            kind,
            rewound: flags & 1 != 0,
            generation,
            side,
            reached_ns,
            series: series & 0xff_ffff,
            level: series.to_le_bytes()[3],
            first,
            rows,
            values: values.iter().map(|value| f32::from_le_bytes(*value)).collect(),
        })
    }
}
