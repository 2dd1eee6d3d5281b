//! Video that follows the network: an encoder and a queue of RTP packets, led by SCReAM.
//!
//! A frame is as large as the controller's target says at its capture. Its packets wait in the sender's queue until
//! window and pacer let them out; the receiver reports what has arrived. Sound and input beside the picture are those
//! of a cloud game or a call, without congestion control.
//!
//! Source: RFC 8298 for the sender ([`scream`](crate::scream)), RFC 8888 for the reports, RFC 8593 for the shape of the video.
//! Deviations: the encoder meets its target with the next frame, but for sizes that vary around it. Nothing is sent again. A
//! frame that waits at the sender until its deadline is dropped there, as RFC 8298 section 4.1.3 says that a sender should;
//! when, is chosen.

use crate::cloud_game::INPUT;
use crate::constant_rate::{IntervalMode, StreamConfig, Streams};
use crate::frames::{FULL_PACKET, VideoConfig};
use crate::keys::{LONGEST_PAUSE, START, START_JITTER};
use crate::scream::MediaRates;
use crate::{Application, ApplicationContext, ApplicationKind, Event, Interest, cloud_game, video_call};
use sojourn_base::{BitRate, Bytes, Direction, Ecn, Instant, Span};
use sojourn_keys::{Mismatch, origin, parameters, words};

mod stream;

use stream::Stream;

words! {
    /// Media of a session.
    pub enum Session {
        /// picture and sound down, input up
        Game = "game",
        /// picture and sound both ways
        Call = "call",
        /// picture up: a camera, a machine that is driven from afar
        Camera = "camera",
    }
}

parameters! {
    /// Parameters of [`AdaptiveVideo`].
    #[derive(Copy)]
    pub struct AdaptiveVideoConfig: "adaptive-video", "video that follows the network: an encoder led by SCReAM" {
        /// media beside the picture, and their directions
        session: Session = Session::Game, origin("chosen: a game");
        /// least rate that the encoder is asked for, with RTP headers; it begins with that
        least_rate: BitRate = BitRate::from_mbps(5), origin("chosen: a small picture").least("10 kb/s").most("1 Gb/s");
        /// most that it is asked for
        most_rate: BitRate = BitRate::from_mbps(45),
            origin("chosen: recommendations of services").least("10 kb/s").most("1 Gb/s");
        /// growth of the rate in a second, at most
        // 8 % of `most_rate`, as 200 kb/s are of the call's 2.5 Mb/s.
        ramp_up: BitRate = BitRate::from_kbps(3_600),
            origin("RFC 8298 4.1.1.1: 200 kb/s in a call; in a game the same share of the most").least("1 kb/s").most("1 Gb/s");
        /// whether the target of the delay gives way to flows that fill queues
        competes: bool = true, origin("RFC 8298 4.1.2.3");
        /// pictures in a second
        frames_per_second: u32 = 60, origin("chosen: 30 of a camera, 60 of a screen").least("1").most("240");
        /// standard deviation of a frame's size, relative to its mean; sizes are log-normal
        frame_cv: f64 = 0.15, origin("chosen; RFC 8593: sizes around a mean").least("0").most("2");
        /// length of a full packet, with 40 B of headers
        packet: Bytes = FULL_PACKET, origin("chosen: 1200 B of a frame, as of WebRTC").least("100 B").most("64 KiB");
        /// deadline of a frame after its capture; the sender drops frames that have waited as long
        deadline: Span = Span::from_ms(50),
            origin("chosen: three frames of a game; a quarter of a second in a talk").least("1 ms").most("10 s");
        start: Span = Span::ZERO, START;
        start_jitter: Span = Span::ZERO, START_JITTER;
        /// the picture stops then, until `resume` (camera off)
        pause: Option<Span> = None, origin("chosen: none; RFC 8867 5.8 has one").or("never").most(LONGEST_PAUSE),
            if |it| it.pause.is_some();
        /// the picture starts again then
        resume: Option<Span> = None, origin("chosen: none").or("never").most(LONGEST_PAUSE), if |it| it.resume.is_some();
    }
    profiles {
        /// a cloud game, up to 45 Mb/s
        GAME "game" {}
        /// a video call, up to 2.5 Mb/s each way
        CALL "call" {
            session = Session::Call;
            least_rate = BitRate::from_kbps(150);
            most_rate = BitRate::from_kbps(2_500);
            ramp_up = BitRate::from_kbps(200);
            frames_per_second = 30;
            frame_cv = 0.2;
            deadline = Span::from_ms(250);
        }
        /// a remotely operated camera, up to 10 Mb/s
        CAMERA "camera" {
            session = Session::Camera;
            least_rate = BitRate::from_kbps(500);
            most_rate = BitRate::from_mbps(10);
            ramp_up = BitRate::from_kbps(800);
            frames_per_second = 30;
            deadline = Span::from_ms(100);
        }
    }
}

impl AdaptiveVideoConfig {
    /// Frames at the most that the encoder is asked for.
    fn frames(&self) -> VideoConfig {
        VideoConfig {
            rate: self.most_rate,
            frames_per_second: self.frames_per_second,
            frame_cv: self.frame_cv,
            packet: self.packet,
            deadline: self.deadline,
            ..VideoConfig::BASE
        }
    }

    /// Returns the capture time of a picture due now: now, or the end of the pause; `None` if that never ends.
    fn taken_at(&self, now: Instant) -> Option<Instant> {
        let from_start = |at: Span| Instant::ZERO.saturating_add(at);
        match (self.pause.map(from_start), self.resume.map(from_start)) {
            (Some(pause), None) if now >= pause => None,
            (Some(pause), Some(resume)) if (pause..resume).contains(&now) => Some(resume),
            _ => Some(now),
        }
    }

    fn rates(&self) -> MediaRates {
        MediaRates {
            least: self.least_rate.as_bps() as f64,
            most: self.most_rate.as_bps() as f64,
            ramp_up: self.ramp_up.as_bps() as f64,
        }
    }

    /// Pictures, and what goes beside them.
    fn parts(&self) -> (Vec<Direction>, Vec<(&'static StreamConfig, Direction)>) {
        use Direction::{Downstream, Upstream};
        match self.session {
            Session::Game => (vec![Downstream], vec![(&cloud_game::SOUND, Downstream), (&INPUT, Upstream)]),
            Session::Call => (Direction::BOTH.to_vec(), Direction::BOTH.map(|way| (&video_call::SOUND, way)).to_vec()),
            Session::Camera => (vec![Upstream], Vec::new()),
        }
    }
}

impl ApplicationKind for AdaptiveVideoConfig {
    fn build(&self) -> Box<dyn Application> {
        Box::new(AdaptiveVideo::new(self))
    }

    fn datagrams(&self) -> Option<(&'static str, Bytes)> {
        Some(("packet", self.packet))
    }

    fn flows(&self) -> u64 {
        2
    }

    fn bytes(&self) -> u64 {
        // Packets of two seconds, after which a frame is given up, in the state of sender and receiver.
        let packets = 2 * self.most_rate.as_bps() / 8 / self.packet.0.max(1);
        64 * packets
    }

    fn direction(&self) -> Direction {
        match self.session {
            Session::Game => Direction::Downstream,
            Session::Call | Session::Camera => Direction::Upstream,
        }
    }

    fn is_in_step(&self) -> bool {
        self.start_jitter.is_zero()
    }

    fn problems(&self, _duration: Span) -> Vec<(&'static str, Mismatch)> {
        let mut problems = Vec::new();
        if self.least_rate > self.most_rate {
            problems.push((
                "least_rate",
                Mismatch::new(
                    format!("{} is above most_rate ({})", self.least_rate, self.most_rate),
                    format!("at most \"{}\", or a higher most_rate", self.most_rate),
                ),
            ));
        }
        if self.resume <= self.pause && self.resume.is_some() {
            problems.push(("resume", Mismatch::new("it is not after pause", "a later time, or a pause before it")));
        }
        problems
    }
}

/// Purpose of a timer; the second picture or stream adds one.
const CAPTURE: u32 = 0;
const PACKET: u32 = 2;
const REPORT: u32 = 4;
const BESIDE: u32 = 6;

/// A session whose picture follows the network.
#[derive(Debug)]
pub struct AdaptiveVideo {
    config: AdaptiveVideoConfig,
    pictures: Vec<Stream>,
    beside: Vec<Streams>,
}

impl AdaptiveVideo {
    /// A session at rest.
    pub fn new(config: &AdaptiveVideoConfig) -> Self {
        let (_, beside) = config.parts();
        Self {
            config: *config,
            pictures: Vec::new(),
            beside: beside
                .into_iter()
                .map(|(stream, way)| Streams::new(stream, way, IntervalMode::JitterGrid, 1))
                .collect(),
        }
    }
}

impl Application for AdaptiveVideo {
    fn interest(&self) -> Interest {
        Interest { delivered: false, acknowledged: false }
    }

    fn start(&mut self, now: Instant, context: &mut dyn ApplicationContext) {
        // L4S is what ECT(1) says (RFC 9331).
        let is_scalable = context.ecn() == Ecn::Ect1;
        let (ways, _) = self.config.parts();
        for (number, way) in (0..).zip(ways) {
            let delay = crate::jittered(self.config.start, self.config.start_jitter, context);
            context.arm(now.saturating_add(delay), CAPTURE + number);
            self.pictures.push(Stream::new(&self.config, way, is_scalable));
        }
        for (number, stream) in (0..).zip(&mut self.beside) {
            let delay = crate::jittered(self.config.start, self.config.start_jitter, context);
            let first = stream.first(now.saturating_add(delay), 0, context);
            context.arm(first, BESIDE + number);
        }
    }

    fn on_event(&mut self, now: Instant, event: Event, context: &mut dyn ApplicationContext) {
        match event {
            Event::Timer(token) if token >= BESIDE => {
                let stream = &mut self.beside[(token - BESIDE) as usize];
                let next = stream.send(now, 0, context);
                context.arm(next, token);
            }
            Event::Timer(token) => {
                let picture = &mut self.pictures[(token % 2) as usize];
                let next = match token & !1 {
                    CAPTURE if self.config.taken_at(now) != Some(now) => {
                        if let Some(at) = self.config.taken_at(now) {
                            context.arm(at, token);
                        }
                        None
                    }
                    CAPTURE => {
                        context.arm(now + self.config.frames().interval(), token);
                        let packet = picture.capture(now, context);
                        packet.map(|at| (at, PACKET | token))
                    }
                    PACKET => picture.on_pace(now, context).map(|at| (at, token)),
                    _ => picture.on_report_timer(now, context).map(|at| (at, token)),
                };
                if let Some((at, token)) = next {
                    context.arm(at, token);
                }
            }
            Event::Datagram(end, tag, ecn) => {
                let number = self.pictures.iter().position(|picture| picture.is_for(end, tag));
                let Some(number) = number else {
                    return;
                };
                let picture = &mut self.pictures[number];
                let token = u32::from(number > 0);
                if let Some((at, kind)) = picture.on_datagram(now, (end, tag), ecn, context) {
                    let kind = match kind {
                        stream::Timer::Packet => PACKET,
                        stream::Timer::Report => REPORT,
                    };
                    context.arm(at, kind + token);
                }
            }
            _ => {}
        }
    }

    fn bytes(&self) -> usize {
        self.pictures.iter().map(Stream::bytes).sum()
    }

    fn finish(&mut self, now: Instant, context: &mut dyn ApplicationContext) {
        for picture in &mut self.pictures {
            picture.finish(now, context);
        }
    }
}

#[cfg(test)]
mod tests;
