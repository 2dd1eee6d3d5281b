//! Video that must arrive while it is new: frames at a steady pace, each a burst of packets, and their fate.
//!
//! A frame is complete when its last packet has arrived. One that is not complete by its deadline is late, and lost if it
//! never is. Nothing is sent again, and the rate is fixed.
//!
//! Source: RFC 8593 for the shape of the traffic (frames at a nominal interval, sizes around a mean).
//! Deviations: a frame that is not complete two seconds after its capture, or at the end of the run with its deadline over,
//! counts as lost, whatever comes later.

use std::collections::VecDeque;

use sojourn_base::report::Frame;
use sojourn_base::{BitRate, Bytes, Direction, Instant, Span};
use sojourn_keys::{origin, parameters};

use crate::{ApplicationContext, Distribution, Draw, Law, Sampler};

/// IP, UDP and RTP headers of a packet (RFC 791, RFC 768, RFC 3550).
pub(crate) const HEADERS: Bytes = Bytes(40);

/// chosen: 1200 B of a frame and headers, as WebRTC senders fill packets so that they fit into any path.
pub(crate) const FULL_PACKET: Bytes = Bytes(1_200 + HEADERS.0);

/// chosen: a frame is given up after this time.
const GIVEN_UP: Span = Span::from_s(2);

parameters! {
    /// Parameters of a stream of frames; the defaults are those of a picture in a call.
    #[derive(Copy)]
    pub struct VideoConfig {
        /// mean rate of the video, without headers; it does not follow the network
        rate: BitRate = BitRate::from_kbps(2_500),
            origin("chosen: WebRTC's limit; recommendations of services").least("10 kb/s").most("1 Gb/s");
        /// pictures in a second
        frames_per_second: u32 = 30, origin("chosen: 30 of a camera, 60 of a screen").least("1").most("240");
        /// standard deviation of a frame's size, relative to its mean; sizes are log-normal
        frame_cv: f64 = 0.2, origin("chosen; RFC 8593: sizes around a mean").least("0").most("2");
        /// size of the first frame over that of the others
        key_frame: f64 = 3.0, origin("chosen; 1 where lines are refreshed in turn").least("1").most("100");
        /// packets of a mean frame leave within this share of the time to the next one
        spread: f64 = 0.4, origin("chosen: a call at 2.5 times its rate, a game within 60 %").least("0").most("1");
        /// length of a full packet, with 40 B of headers
        packet: Bytes = FULL_PACKET, origin("chosen: 1200 B of a frame, as of WebRTC").least("100 B").most("64 KiB");
        /// deadline of a frame after its capture
        deadline: Span = Span::from_ms(250),
            origin("chosen: three frames of a game; a quarter of a second in a talk").least("1 ms").most("10 s");
    }
}

impl VideoConfig {
    /// Mean size of a frame, without headers.
    pub fn mean_frame(&self) -> Bytes {
        Bytes(self.rate.as_bps() / 8 / u64::from(self.frames_per_second))
    }

    /// Time from frame to frame.
    pub fn interval(&self) -> Span {
        Span::from_s(1) / u64::from(self.frames_per_second)
    }

    /// Bytes of a frame in a full packet.
    pub(crate) const fn payload(&self) -> u64 {
        self.packet.0.saturating_sub(HEADERS.0)
    }

    /// Sizes of frames.
    pub(crate) fn sizes(&self) -> Sampler<Bytes> {
        /// chosen: a frame is no larger than a picture of eight million pixels that is not compressed.
        const LARGEST: Bytes = Bytes(24_000_000);
        let mean = self.mean_frame();
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a part of a frame")]
        let sd = Bytes((mean.0 as f64 * self.frame_cv) as u64);
        let frame = if sd == Bytes::ZERO {
            Distribution::Constant(mean)
        } else {
            Distribution::of(Law::LogNormal { mean, sd })
        };
        frame.sampler(Bytes(1), LARGEST)
    }
}

/// A frame that has not wholly arrived.
#[derive(Clone, Copy, Debug)]
struct Open {
    captured_at: Instant,
    bytes: u64,
    /// Packets that have not arrived, those that were not sent included.
    missing: u32,
}

/// The frames of one stream that may still become complete.
#[derive(Clone, Debug)]
pub(crate) struct OpenFrames {
    direction: Direction,
    deadline: Span,
    /// Frames from number `first` on.
    open: VecDeque<Open>,
    first: u32,
}

impl OpenFrames {
    /// None yet, of a stream that goes this way.
    pub(crate) const fn new(direction: Direction, deadline: Span) -> Self {
        Self { direction, deadline, open: VecDeque::new(), first: 0 }
    }

    /// Bytes of the frames.
    pub(crate) fn bytes(&self) -> usize {
        crate::ring_bytes(&self.open)
    }

    /// Number of the next frame.
    pub(crate) fn next(&self) -> u32 {
        self.first + count(self.open.len())
    }

    /// Number of the oldest frame that may still become complete.
    pub(crate) const fn first(&self) -> u32 {
        self.first
    }

    /// Adds a frame of `bytes` that leaves in `packets` packets.
    pub(crate) fn add(&mut self, captured_at: Instant, bytes: u64, packets: u64) {
        self.open.push_back(Open { captured_at, bytes, missing: u32::try_from(packets).unwrap_or(u32::MAX) });
    }

    /// A packet of frame `number` has arrived.
    pub(crate) fn on_packet(&mut self, now: Instant, number: u32, context: &mut dyn ApplicationContext) {
        let Some(frame) = number.checked_sub(self.first).and_then(|place| self.open.get_mut(place as usize)) else {
            return; // it was given up
        };
        frame.missing -= 1;
        if frame.missing == 0 {
            let frame = *frame;
            self.record(number, &frame, Some(now), context);
            while self.open.front().is_some_and(|frame| frame.missing == 0) {
                self.open.pop_front();
                self.first += 1;
            }
        }
    }

    /// The run ends: frames whose deadline is over are lost.
    pub(crate) fn finish(&mut self, now: Instant, context: &mut dyn ApplicationContext) {
        self.forget(now, self.deadline, context);
    }

    /// Gives up frames that are too old.
    pub(crate) fn give_up(&mut self, now: Instant, context: &mut dyn ApplicationContext) {
        self.forget(now, GIVEN_UP.max(self.deadline), context);
    }

    fn forget(&mut self, now: Instant, age: Span, context: &mut dyn ApplicationContext) {
        while let Some(frame) = self.open.front().copied()
            && now.saturating_since(frame.captured_at) > age
        {
            if frame.missing > 0 {
                self.record(self.first, &frame, None, context);
            }
            self.open.pop_front();
            self.first += 1;
        }
    }

    fn record(&self, number: u32, frame: &Open, complete_at: Option<Instant>, context: &mut dyn ApplicationContext) {
        context.record(&Frame {
            direction: self.direction,
            index: number,
            captured_at: frame.captured_at,
            complete_at,
            bytes: frame.bytes,
            deadline: self.deadline,
        });
    }
}

/// A frame that has not wholly left.
#[derive(Clone, Copy, Debug)]
struct Leaving {
    number: u32,
    bytes: u64,
}

/// One stream of frames.
#[derive(Clone, Debug)]
pub(crate) struct Video {
    config: VideoConfig,
    direction: Direction,
    server: usize,
    sizes: Sampler<Bytes>,
    frames: OpenFrames,
    leaving: VecDeque<Leaving>,
}

impl Video {
    /// A stream at rest.
    pub(crate) fn new(config: VideoConfig, direction: Direction, server: usize) -> Self {
        Self {
            sizes: config.sizes(),
            config,
            direction,
            server,
            frames: OpenFrames::new(direction, config.deadline),
            leaving: VecDeque::new(),
        }
    }

    /// Bytes of the frames that leave, and of those that may still become complete.
    pub(crate) fn bytes(&self) -> usize {
        self.frames.bytes() + crate::ring_bytes(&self.leaving)
    }

    /// A frame is captured: when the next one is; and when its first packet leaves, unless packets of another frame
    /// leave already.
    pub(crate) fn capture(&mut self, now: Instant, context: &mut dyn ApplicationContext) -> (Instant, Option<Instant>) {
        self.frames.give_up(now, context);
        let number = self.frames.next();
        let mut bytes = self.sizes.draw(Draw::Size, context).0;
        if number == 0 {
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a few frames")]
            let key_frame = (bytes as f64 * self.config.key_frame) as u64;
            bytes = key_frame.max(1);
        }
        let packets = bytes.div_ceil(self.config.payload());
        self.frames.add(now, bytes, packets);
        self.leaving.push_back(Leaving { number, bytes });
        let begins = self.leaving.len() == 1;
        (now + self.config.interval(), begins.then_some(now))
    }

    /// Sends the next packet; when the one after it leaves, if a frame is leaving.
    pub(crate) fn send(&mut self, now: Instant, context: &mut dyn ApplicationContext) -> Option<Instant> {
        let most = self.config.payload();
        let leaving = self.leaving.front_mut()?;
        let payload = leaving.bytes.min(most);
        let number = leaving.number;
        leaving.bytes -= payload;
        if leaving.bytes == 0 {
            self.leaving.pop_front();
        }
        let length = u32::try_from(payload + HEADERS.0).unwrap_or(u32::MAX);
        context.send_tagged_datagram(self.server, self.direction, length, number);
        let seconds = payload as f64 * 8.0 / self.config.rate.as_bps() as f64;
        let gap = seconds * self.config.spread;
        (!self.leaving.is_empty()).then(|| now + Span::from_secs_f64(gap))
    }

    /// A packet of frame `number` has arrived.
    pub(crate) fn on_packet(&mut self, now: Instant, number: u32, context: &mut dyn ApplicationContext) {
        self.frames.on_packet(now, number, context);
    }

    /// The run ends: frames whose deadline is over are lost.
    pub(crate) fn finish(&mut self, now: Instant, context: &mut dyn ApplicationContext) {
        self.frames.finish(now, context);
    }
}

/// Frames are numbered in 32 bits.
fn count(frames: usize) -> u32 {
    u32::try_from(frames).expect("frames of two seconds")
}
