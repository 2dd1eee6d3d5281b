//! Results that applications report and records keep: transfers, pages and their objects, chunks and sessions of
//! videos.
//!
//! Defined here because applications know no records and records know no models.

use crate::direction::Direction;
use crate::rate::BitRate;
use crate::time::{Instant, Span};

macro_rules! reports {
    ($($about:literal $report:ident,)*) => {
        /// A report of an application.
        #[derive(Clone, Copy, Debug)]
        pub enum Report<'a> {
            $(#[doc = $about] $report(&'a $report),)*
        }

        $(
            impl<'a> From<&'a $report> for Report<'a> {
                fn from(report: &'a $report) -> Self {
                    Self::$report(report)
                }
            }
        )*
    };
}

reports! {
    "A transfer has ended, or the run has." Transfer,
    "A page has ended, or the run has." Page,
    "An object has ended, or the run has." Object,
    "A chunk of an adaptive stream has ended, or the run has." Chunk,
    "A frame of video is complete, or will not be any more." Frame,
    "The run ends: quality of a session of an adaptive stream." StreamingSession,
    "A second of a live stream is over." LiveSecond,
    "The run ends: how near a player of a live stream was." LiveSession,
    "A video that is played while it is downloaded has ended, or the run has." DownloadSession,
    "The run ends: how a listener whose buffer adapts has played a call." PlayedCall,
}

/// A finished (or, at the end of a run, unfinished) file transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transfer {
    /// Number of the parallel loop or connection within the application.
    pub lane: u32,
    /// Number of the transfer within its lane, from 0.
    pub index: u32,
    /// Time of the connection's request, or of the first byte on a kept connection.
    pub started_at: Instant,
    /// Time of the last byte's acknowledgement; `None` if the run ended first.
    pub ended_at: Option<Instant>,
    /// Size of the file in bytes of application data; `u64::MAX` without end.
    pub bytes: u64,
}

/// A web page, finished or not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Page {
    /// Number of the user, from 0.
    pub user: u32,
    /// Number of the page of this user, from 0.
    pub index: u32,
    /// Time of the first SYN's request or, with name look-ups, of the first query.
    pub started_at: Instant,
    /// Time of the complete index object.
    pub index_loaded_at: Option<Instant>,
    /// Arrival of the last byte of the last object.
    pub ended_at: Option<Instant>,
    /// Objects completed, the index included.
    pub objects: u32,
    /// Bytes of completed objects.
    pub bytes: u64,
}

/// An object of a web page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Object {
    /// Number of the user, from 0.
    pub user: u32,
    /// Number of its page.
    pub page: u32,
    /// Index of the server.
    pub server: u32,
    /// Number of the object at its server: 0 is the index object (server 0 only), files count from 1.
    pub index: u32,
    /// Time of its connection's request.
    pub started_at: Instant,
    /// Arrival of its first byte.
    pub first_byte_at: Option<Instant>,
    /// Arrival of its last byte.
    pub ended_at: Option<Instant>,
    /// Size.
    pub bytes: u64,
}

/// Why the client of an adaptive stream took the level that it took.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LevelReason {
    /// It had seen nothing of the network, or its rule was not at work yet.
    Start,
    /// Its buffer was nearly empty.
    Panic,
    /// The rule allowed less than before.
    Down,
    /// The rule allowed less, but the buffer was full enough to wait and see.
    HoldBuffer,
    /// The rule allowed more than before.
    Up,
    /// As before.
    Stay,
}

impl LevelReason {
    /// All reasons, in the order of their numbers.
    pub const ALL: [Self; 6] = [Self::Start, Self::Panic, Self::Down, Self::HoldBuffer, Self::Up, Self::Stay];

    /// The word used in records.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Start => "start",
            Self::Panic => "panic",
            Self::Down => "down",
            Self::HoldBuffer => "hold_buffer",
            Self::Up => "up",
            Self::Stay => "stay",
        }
    }
}

/// A frame of video that must arrive while it is new.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame {
    /// Direction of the frame.
    pub direction: Direction,
    /// Number of the frame within its stream, from 0.
    pub index: u32,
    /// Time of its capture.
    pub captured_at: Instant,
    /// Arrival of its last packet; `None` if it stayed incomplete.
    pub complete_at: Option<Instant>,
    /// Its bytes, without headers.
    pub bytes: u64,
    /// It is late if it is not complete so long after its capture.
    pub deadline: Span,
}

impl Frame {
    /// Returns true if it was complete after its deadline, or never.
    pub fn is_late(&self) -> bool {
        self.complete_at.is_none_or(|at| at.saturating_since(self.captured_at) > self.deadline)
    }
}

/// A chunk of an adaptive stream, finished or not.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Chunk {
    /// Number of the session within the application, from 0.
    pub session: u32,
    /// Number of the chunk within its session, from 0.
    pub index: u32,
    /// Its quality level, from 0.
    pub level: u32,
    /// Nominal rate of that level.
    pub nominal: BitRate,
    /// Size.
    pub bytes: u64,
    /// Time of its request.
    pub requested_at: Instant,
    /// Arrival of its last byte.
    pub ended_at: Option<Instant>,
    /// Media in the client's buffer when it was asked for.
    pub buffer_before: Span,
    /// Media in the buffer with it, when it had arrived.
    pub buffer_after: Option<Span>,
    /// Throughput in b/s that the client expected when it chose the level.
    pub estimate: Option<f64>,
    /// Why this level.
    pub reason: LevelReason,
}

/// A session of an adaptive stream, at the end of the run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StreamingSession {
    /// Number of the session within the application, from 0.
    pub session: u32,
    /// Time of its connection's request.
    pub started_at: Instant,
    /// From there to the first picture.
    pub startup: Option<Span>,
    /// How often the picture stood still after that.
    pub stalls: u32,
    /// For how long.
    pub stalled: Span,
    /// How much was played.
    pub played: Span,
    /// Time since the first picture with a buffer below ten seconds.
    pub low_buffer: Span,
    /// Chunks that arrived.
    pub chunks: u32,
    /// Mean nominal rate of these in Mb/s.
    pub mean_mbps: Option<f64>,
    /// Standard deviation of their nominal rates in Mb/s, of all and not of a sample.
    pub sd_mbps: Option<f64>,
    /// How often a chunk was of another level than the one before it.
    pub switches: u32,
}

/// A second of a live stream at a player.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LiveSecond {
    /// Number of the session within the application, from 0.
    pub session: u32,
    /// The end of the second.
    pub at: Instant,
    /// How far the picture is behind what happens, whether it moves or stands still.
    pub latency: Span,
    /// Media in the buffer.
    pub buffer: Span,
    /// Seconds of media that are played in a second: 0 if the picture stands still.
    pub speed: f64,
    /// Level of the last segment that is complete.
    pub level: Option<u32>,
}

/// How near a player of a live stream was, at the end of the run; the rest is in its [`StreamingSession`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LiveSession {
    /// Number of the session within the application, from 0.
    pub session: u32,
    /// How far the picture was behind what happens: mean over the seconds since the first picture.
    pub latency_mean: Option<Span>,
    /// 95th percentile of these seconds, to 10 ms.
    pub latency_p95: Option<Span>,
    /// The longest of them.
    pub latency_max: Option<Span>,
    /// Time in which media were played faster than they were taken.
    pub fast: Span,
    /// Time in which they were played slower.
    pub slow: Span,
    /// How often media were left out to be near again.
    pub skips: u32,
    /// How much.
    pub skipped: Span,
}

/// A video that is played while it is downloaded, at its end or at that of the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DownloadSession {
    /// Number of the source of requests within the application, from 0.
    pub source: u32,
    /// Number of the video of this source, from 0.
    pub index: u32,
    /// Time of its connection's request.
    pub started_at: Instant,
    /// Size.
    pub bytes: u64,
    /// Start of playback.
    pub playback_at: Option<Instant>,
    /// Arrival of the last byte.
    pub ended_at: Option<Instant>,
    /// Time at which playback first ran out of data.
    pub underrun_at: Option<Instant>,
}

impl DownloadSession {
    /// Returns true if playback never had to wait; `None` while that is open.
    pub const fn is_sustained(&self) -> Option<bool> {
        match (self.underrun_at, self.ended_at) {
            (Some(_), _) => Some(false),
            (None, Some(_)) => Some(true),
            (None, None) => None,
        }
    }
}

/// One direction of a call at a listener whose playout adapts to the delay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlayedCall {
    /// Number of the call within the application, from 0.
    pub lane: u32,
    /// Which way it went.
    pub direction: Direction,
    /// Packets sent up to the last that arrived.
    pub sent: u32,
    /// Packets that arrived.
    pub arrived: u32,
    /// Of these, those that came after they should have been played.
    pub late: u32,
    /// Mean time from sending to playing of the others; `None` without any.
    pub playout: Option<Span>,
    /// Mean of their delay, or of the time from sending to playing less the buffer of a listener that does not adapt, whichever is
    /// longer: what a rating counts that leaves that buffer out.
    pub counted: Option<Span>,
}
