//! Cloud gaming: the picture of a game that is computed elsewhere comes down as video, what the player does goes up.
//!
//! Source: RFC 8593 for the shape of the video. Chosen, because no study has one: 30 to 60 Mb/s at 60 pictures a second, what
//! public services ask for; input 125 times a second, as often as a mouse at a USB port is asked by default.
//! Deviations: the rate is fixed, so what does not fit is lost; [`adaptive_video`](crate::adaptive_video) follows the network.

use crate::constant_rate::{IntervalMode, StreamConfig, Streams};
use crate::frames::{HEADERS, Video, VideoConfig};
use crate::keys::{START, START_JITTER};
use crate::{Application, ApplicationContext, ApplicationKind, Distribution, End, Event, Interest};
use sojourn_base::{BitRate, Bytes, Direction, Instant, Span};
use sojourn_keys::parameters;

parameters! {
    /// Parameters of [`CloudGame`].
    #[derive(Copy)]
    pub struct CloudGameConfig: "cloud-game", "a game computed elsewhere: video and sound down, input up" {
        /// the picture: 2560 by 1440 at 60 Hz
        ///
        /// Frames leave within 60 % of the time to the next one, so that packets of two never mix; there are no periodic key
        /// frames, because lines are refreshed in turn.
        video: VideoConfig = VideoConfig {
            rate: BitRate::from_mbps(45),
            frames_per_second: 60,
            frame_cv: 0.15,
            key_frame: 1.0,
            spread: 0.6,
            deadline: Span::from_ms(50),
            ..VideoConfig::BASE
        };
        start: Span = Span::ZERO, START;
        start_jitter: Span = Span::ZERO, START_JITTER;
    }
    profiles {
        /// 30 Mb/s
        SMALLER "1080p" { video.rate = BitRate::from_mbps(30); }
        /// 45 Mb/s
        USUAL "1440p" {}
        /// 60 Mb/s
        LARGER "2160p" { video.rate = BitRate::from_mbps(60); }
    }
}

/// chosen: sound at 256 kb/s in packets of 5 ms, 160 B and headers.
pub(crate) const SOUND: StreamConfig = StreamConfig {
    packet: Distribution::Constant(Bytes(160 + HEADERS.0)),
    interval: Distribution::Constant(Span::from_ms(5)),
};

/// chosen: 100 B for the state of mouse, keys or sticks, every 8 ms.
pub(crate) const INPUT: StreamConfig =
    StreamConfig { packet: Distribution::Constant(Bytes(100)), interval: Distribution::Constant(Span::from_ms(8)) };

impl ApplicationKind for CloudGameConfig {
    fn build(&self) -> Box<dyn Application> {
        Box::new(CloudGame::new(self))
    }

    fn datagrams(&self) -> Option<(&'static str, Bytes)> {
        Some(("packet", self.video.packet))
    }

    fn flows(&self) -> u64 {
        2
    }

    fn direction(&self) -> Direction {
        Direction::Downstream
    }

    fn is_in_step(&self) -> bool {
        self.start_jitter.is_zero()
    }
}

/// Purpose of a timer.
const CAPTURE: u32 = 0;
const PACKET: u32 = 1;
const PLAY_SOUND: u32 = 2;
const PRESS: u32 = 3;

/// A session of cloud gaming.
#[derive(Clone, Debug)]
pub struct CloudGame {
    config: CloudGameConfig,
    video: Video,
    sound: Streams,
    input: Streams,
}

impl CloudGame {
    /// A session at rest.
    pub fn new(config: &CloudGameConfig) -> Self {
        let streams = |stream, direction| Streams::new(stream, direction, IntervalMode::JitterGrid, 1);
        Self {
            config: *config,
            video: Video::new(config.video, Direction::Downstream, 0),
            sound: streams(&SOUND, Direction::Downstream),
            input: streams(&INPUT, Direction::Upstream),
        }
    }
}

impl Application for CloudGame {
    fn interest(&self) -> Interest {
        Interest { delivered: false, acknowledged: false }
    }

    fn start(&mut self, now: Instant, context: &mut dyn ApplicationContext) {
        let delay = crate::jittered(self.config.start, self.config.start_jitter, context);
        let at = now.saturating_add(delay);
        context.arm(at, CAPTURE);
        let sound = self.sound.first(at, 0, context);
        context.arm(sound, PLAY_SOUND);
        let input = self.input.first(at, 0, context);
        context.arm(input, PRESS);
    }

    fn on_event(&mut self, now: Instant, event: Event, context: &mut dyn ApplicationContext) {
        match event {
            Event::Timer(CAPTURE) => {
                let (next, packet) = self.video.capture(now, context);
                context.arm(next, CAPTURE);
                if let Some(at) = packet {
                    context.arm(at, PACKET);
                }
            }
            Event::Timer(PACKET) => {
                if let Some(next) = self.video.send(now, context) {
                    context.arm(next, PACKET);
                }
            }
            Event::Timer(PLAY_SOUND) => {
                let next = self.sound.send(now, 0, context);
                context.arm(next, PLAY_SOUND);
            }
            Event::Timer(_) => {
                let next = self.input.send(now, 0, context);
                context.arm(next, PRESS);
            }
            Event::Datagram(End::Client, frame, _) => self.video.on_packet(now, frame, context),
            _ => {}
        }
    }

    fn bytes(&self) -> usize {
        self.video.bytes()
    }

    fn finish(&mut self, now: Instant, context: &mut dyn ApplicationContext) {
        self.video.finish(now, context);
    }
}

#[cfg(test)]
mod tests;
