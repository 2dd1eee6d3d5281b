//! A video call: picture and sound both ways between two people.
//!
//! Source: RFC 8593 for the shape (frames at a nominal interval, sizes around a mean, a larger one at first). The numbers are
//! chosen after WebRTC: 2.5 Mb/s at most at 30 pictures a second, a pacer of 2.5 times the rate, sound in packets of 20 ms.
//! Deviations: the rate is fixed, and repairs are not modelled, so what does not fit is lost;
//! [`adaptive_video`](crate::adaptive_video) follows the network.

use crate::constant_rate::{IntervalMode, StreamConfig, Streams};
use crate::frames::{HEADERS, Video, VideoConfig};
use crate::keys::{START, START_JITTER};
use crate::{Application, ApplicationContext, ApplicationKind, Distribution, End, Event, Interest};
use sojourn_base::{BitRate, Bytes, Direction, Instant, Span};
use sojourn_keys::parameters;

parameters! {
    /// Parameters of [`VideoCall`]; the picture of either side is 1280 by 720, as large as WebRTC makes it on a line with
    /// room.
    #[derive(Copy)]
    pub struct VideoCallConfig: "video-call", "picture and sound both ways between two people" {
        /// the picture of either side
        video: VideoConfig = VideoConfig::BASE;
        start: Span = Span::ZERO, START;
        // One frame: sides and calls are not in step.
        start_jitter: Span = Span::from_ms(33), START_JITTER;
    }
    profiles {
        /// 2.5 Mb/s each way
        USUAL "usual" {}
        /// 300 kb/s each way
        /// (what a call begins with before it knows the network)
        SMALL "small" { video.rate = BitRate::from_kbps(300); }
    }
}

/// chosen: 80 B of sound every 20 ms, 32 kb/s, and headers.
pub(crate) const SOUND: StreamConfig = StreamConfig {
    packet: Distribution::Constant(Bytes(80 + HEADERS.0)),
    interval: Distribution::Constant(Span::from_ms(20)),
};

impl ApplicationKind for VideoCallConfig {
    fn build(&self) -> Box<dyn Application> {
        Box::new(VideoCall::new(self))
    }

    fn datagrams(&self) -> Option<(&'static str, Bytes)> {
        Some(("packet", self.video.packet))
    }

    fn flows(&self) -> u64 {
        2
    }

    fn is_in_step(&self) -> bool {
        self.start_jitter.is_zero()
    }
}

/// Purpose of a timer; the side that sends downstream adds one.
const CAPTURE: u32 = 0;
const PACKET: u32 = 2;
const PLAY_SOUND: u32 = 4;

/// The sender of one side.
#[derive(Clone, Debug)]
struct Side {
    video: Video,
    sound: Streams,
}

impl Side {
    fn new(config: &VideoCallConfig, direction: Direction) -> Self {
        Self {
            video: Video::new(config.video, direction, 0),
            sound: Streams::new(&SOUND, direction, IntervalMode::JitterGrid, 1),
        }
    }
}

/// A video call.
#[derive(Clone, Debug)]
pub struct VideoCall {
    config: VideoCallConfig,
    /// The upstream side, and the downstream side.
    sides: [Side; 2],
}

impl VideoCall {
    /// A call at rest.
    pub fn new(config: &VideoCallConfig) -> Self {
        Self { config: *config, sides: Direction::BOTH.map(|direction| Side::new(config, direction)) }
    }
}

impl Application for VideoCall {
    fn interest(&self) -> Interest {
        Interest { delivered: false, acknowledged: false }
    }

    fn start(&mut self, now: Instant, context: &mut dyn ApplicationContext) {
        for (number, side) in (0..).zip(&mut self.sides) {
            let delay = crate::jittered(self.config.start, self.config.start_jitter, context);
            let at = now.saturating_add(delay);
            context.arm(at, CAPTURE + number);
            let sound = side.sound.first(at, 0, context);
            context.arm(sound, PLAY_SOUND + number);
        }
    }

    fn on_event(&mut self, now: Instant, event: Event, context: &mut dyn ApplicationContext) {
        match event {
            Event::Timer(token) => {
                let number = token % 2;
                let side = &mut self.sides[number as usize];
                match token - number {
                    CAPTURE => {
                        let (next, packet) = side.video.capture(now, context);
                        context.arm(next, CAPTURE + number);
                        if let Some(at) = packet {
                            context.arm(at, PACKET + number);
                        }
                    }
                    PACKET => {
                        if let Some(next) = side.video.send(now, context) {
                            context.arm(next, PACKET + number);
                        }
                    }
                    _ => {
                        let next = side.sound.send(now, 0, context);
                        context.arm(next, PLAY_SOUND + number);
                    }
                }
            }
            Event::Datagram(end, frame, _) => {
                // Packets at the server are upstream.
                let side = &mut self.sides[usize::from(end == End::Client)];
                side.video.on_packet(now, frame, context);
            }
            _ => {}
        }
    }

    fn bytes(&self) -> usize {
        self.sides.iter().map(|side| side.video.bytes()).sum()
    }

    fn finish(&mut self, now: Instant, context: &mut dyn ApplicationContext) {
        for side in &mut self.sides {
            side.video.finish(now, context);
        }
    }
}

#[cfg(test)]
mod tests;
