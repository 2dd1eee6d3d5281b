//! Parameters of bulk transfers, and how the size of a file is spelt.
//!
//! Source: White 2012 §3.2.1, White 2013 §3.6 and Table 2, White 2019 Appendix B, docsis-ns3. Deviations: none known.

use core::cmp::Ordering;

use sojourn_base::{Bytes, Direction, Span};
use sojourn_keys::value::quoted;
use sojourn_keys::{Content, Key, Mismatch, Or, Shape, Value, origin, parameters};

use super::{Bulk, LANE_BYTES};
use crate::distribution::Law;
use crate::keys::{DIRECTION, LONGEST_PAUSE, MOST_FLOWS, START, START_JITTER};
use crate::{Application, ApplicationConfig, ApplicationKind, Distribution};

parameters! {
    /// Parameters of [`Bulk`]; start from a named profile and change what differs. All loops talk to server 0.
    #[derive(Copy)]
    pub struct BulkConfig: "bulk", "file transfers in parallel loops" {
        direction: Direction = Direction::Upstream, DIRECTION;
        /// number of parallel loops
        lanes: u32 = 1, origin("White 2012 §3.2.1: one").least("1").most(MOST_FLOWS);
        /// data of a loop before its pause
        file: FileSize = FileSize::Endless, origin("White 2012 §3.2.1").least("1 B").most(MOST_BYTES);
        /// pause from the last acknowledgement of a file to the start of the next
        gap: Span = Span::ZERO, origin("White 2012 §3.2.1: none").most(LONGEST_PAUSE).unit("s");
        /// a file at these regular intervals instead, behind the one before it if that has not gone
        period: Option<Span> = None,
            origin("White 2012 §3.2.1: none but for the bursty upload").or("off").least("1 ms").most(LONGEST_PAUSE);
        /// a transfer that takes longer is cut off, and the loop goes on
        cutoff: Option<Span> = None,
            origin("White 2019: none; docsis-ns3: 2.5 s for video, 15 s for speed tests")
                .or("off").least("1 ms").most(LONGEST_PAUSE),
            if |it| it.cutoff.is_some();
        /// most bytes that are with the connection and not acknowledged
        send_buffer: Option<Bytes> = None,
            origin("White 2019: none; docsis-ns3: 32,000 B for video").or("off").least("1500 B").most("1 GB"),
            if |it| it.send_buffer.is_some();
        /// send all files of a loop over one connection
        reuse_connection: bool = false, origin("chosen: a new connection for each file");
        start: Span = Span::ZERO, START;
        start_jitter: Span = Span::ZERO, START_JITTER;
        /// how much later than the one before it each loop starts
        stagger: Span = Span::ZERO, origin("chosen: all together; docsis-ns3: 1 s").most(LONGEST_PAUSE).unit("s"),
            if |it| !it.stagger.is_zero();
        /// end of all loops, even within a transfer, as in a measurement
        /// (they forget their connections)
        stop: Option<Span> = None, origin("chosen: with the run").or("never").least("1 ms").most(LONGEST_PAUSE),
            if |it| it.stop.is_some();
    }
    profiles {
        /// White 2012 §3.2.1: one upload without end
        CONTINUOUS "continuous" {}
        /// White 2013 Table 2: five loops of 5 MB uploads
        ///
        /// White 2012 3.2.1 scenario 3 prints "moderately sized" only; chosen: the same size, because it is the same
        /// traffic in the sequel. Each loop is one agent that gets its next file 0.3 s after the last acknowledgement
        /// `[inf]`: so does the public ns-2 script of K. Nichols (`codel.tcl`, v120513), whom White 2012 thanks for its
        /// traffic models. The window starts anew, the threshold stays.
        REPEATING "repeating" {
            lanes = 5;
            file = FileSize::bytes(5_000_000);
            gap = Span::from_ms(300);
            reuse_connection = true;
        }
        /// White 2012 §3.2.1: 18.75 MB every 30 s over one connection
        ///
        /// The paper says that the session waits 16 s and names a cycle of 30 s (5.3 s at 20 Mb/s, 8.7 s at 5 Mb/s, 16 s
        /// idle). A new file every 30 s `[inf]`: with a pause of 16 s after each file a third of the packets of a call
        /// could be late, but 86.1 % were (Table 3, D08). With a file every 30 s, call and pages take from the bucket what
        /// the bursts need; the idle time shrinks from cycle to cycle until there is none, and 84 % of the run is busy.
        /// Chosen: the connection is kept, because the source speaks of one session.
        BURSTY "bursty" {
            file = FileSize::bytes(18_750_000);
            period = Some(Span::from_s(30));
            reuse_connection = true;
        }
        /// White 2013 Table 2: ten loops of 256,000 B uploads
        ///
        /// The table says 250 KB (x14 and x15). Chosen: the size that White 2013 3.6 gives for the BitTorrent piece with
        /// the same label.
        SMALL_FILES "small-files" from REPEATING { lanes = 10; file = FileSize::bytes(256_000); }
        /// White 2013 §3.6: 32 uploads of 256,000 B pieces
        ///
        /// Chosen: a peer's connection carries piece after piece.
        BITTORRENT "bittorrent" { lanes = 32; file = FileSize::bytes(256_000); reuse_connection = true; }
        /// White 2019 Appendix B: uploads of log-normal size, 100 ms apart
        ///
        /// The first starts after 100 ms, further loops a second after each other (docsis-ns3).
        WHITE2019_FILES "white2019-files" {
            file = FileSize::WHITE2019;
            gap = Span::from_ms(100);
            start = Span::from_ms(100);
            stagger = Span::from_s(1);
        }
        /// White 2019 Appendix B: 3.75 MB every 5 s, with cut-off and send buffer of docsis-ns3
        ///
        /// A video of 6 Mb/s. At 20 ms of round trip the send buffer holds it to 12.8 Mb/s, so it never fills the link.
        WHITE2019_VIDEO "white2019-video" {
            direction = Direction::Downstream;
            file = FileSize::bytes(3_750_000);
            period = Some(Span::from_s(5));
            cutoff = Some(Span::from_ms(2500));
            send_buffer = Some(Bytes(32_000));
            start = Span::from_ms(200);
        }
        /// White 2019 §4.1: sixteen downloads without end
        ///
        /// With `cutoff` they begin anew, as in docsis-ns3 every 15 s after a pause of 100 ms.
        WHITE2019_SPEED_TEST "white2019-speed-test" {
            direction = Direction::Downstream;
            lanes = 16;
            gap = Span::from_ms(100);
            start = Span::from_ms(100);
        }
    }
}

/// How much one transfer sends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum FileSize {
    /// It never ends.
    Endless,
    /// Bytes of application data, the same for each transfer or drawn for it.
    Of(Distribution<Bytes>),
}

impl FileSize {
    /// File sizes of White 2019 Appendix B: median 2.7 MB.
    pub const WHITE2019: Self = Self::Of(Distribution::of(Law::LogNormalOf { mu: 14.8, sigma: 2.0 }));

    /// Transfers of this constant size.
    pub const fn bytes(bytes: u64) -> Self {
        Self::Of(Distribution::Constant(Bytes(bytes)))
    }
}

impl ApplicationKind for BulkConfig {
    fn build(&self) -> Box<dyn Application> {
        Box::new(Bulk::new(self))
    }

    fn may_become(&self, to: &ApplicationConfig) -> bool {
        let lanes = self.lanes;
        to.get::<Self>().is_some_and(|to| *self == Self { lanes, ..*to })
    }

    fn must_end(&self) -> bool {
        self.file != FileSize::Endless
    }

    fn flows(&self) -> u64 {
        u64::from(self.lanes)
    }

    fn bytes(&self) -> u64 {
        u64::from(self.lanes) * LANE_BYTES
    }

    fn direction(&self) -> Direction {
        self.direction
    }

    fn is_in_step(&self) -> bool {
        self.start_jitter.is_zero()
    }
}

/// Largest file. chosen: a petabyte; what is larger is endless.
const MOST_BYTES: &str = "1000000 GB";

/// The word for [`FileSize::Endless`].
const ENDLESS: &str = "endless";

/// `"endless"`, a size, or a distribution of sizes.
impl Value for FileSize {
    fn read(&mut self, content: &Content, key: &Key) -> Result<(), Mismatch> {
        let mut size = None;
        Or { value: &mut size, word: ENDLESS }.read(content, key)?;
        *self = size.map_or(Self::Endless, Self::Of);
        Ok(())
    }

    fn print(&self) -> String {
        match self {
            Self::Endless => quoted(ENDLESS),
            Self::Of(size) => size.print(),
        }
    }

    fn shape(&self) -> Shape {
        let size = Distribution::<Bytes>::default();
        Shape::WordOr(ENDLESS, Box::new(size.shape()))
    }

    fn compare(&self, _bound: &str) -> Option<Ordering> {
        None
    }

    fn check(&self, key: &Key) -> Result<(), Mismatch> {
        match self {
            Self::Endless => Ok(()),
            Self::Of(size) => size.check(key).map_err(|mismatch| {
                let hint = format!("{}, or \"{ENDLESS}\"", mismatch.hint);
                Mismatch::new(mismatch.message, hint)
            }),
        }
    }
}
