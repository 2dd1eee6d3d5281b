//! Files written during a run: a capture, qlog, or both.
//!
//! Source: none. Deviations: none known.

use crate::qlog::Qlog;
use crate::simulated::SimulatedCapture;
use sojourn_record::{ConnectionOpened, PacketSeen, Recorder, SenderSeen};
use std::io;

/// A recorder that passes packets on to writers.
#[derive(Debug, Default)]
pub struct Writers {
    /// Captures of links.
    pub capture: Option<SimulatedCapture>,
    /// Logs of connections.
    pub qlog: Option<Qlog>,
}

/// How much was written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Written {
    /// Packets of captures.
    pub packets: u64,
    /// Events of qlog, and its files.
    pub qlog: (u64, usize),
}

impl Writers {
    /// The run has ended.
    ///
    /// # Errors
    /// If something could not be written.
    pub fn finish(self) -> io::Result<Written> {
        Ok(Written {
            packets: self.capture.map_or(Ok(0), SimulatedCapture::finish)?,
            qlog: self.qlog.map_or(Ok((0, 0)), Qlog::finish)?,
        })
    }

    /// Returns true if a write has failed, so that the run need not go on.
    pub fn has_failed(&self) -> bool {
        self.capture.as_ref().is_some_and(SimulatedCapture::has_failed)
            || self.qlog.as_ref().is_some_and(Qlog::has_failed)
    }
}

impl Recorder for Writers {
    const WANTS_PACKETS: bool = true;

    fn bytes(&self) -> usize {
        self.capture.as_ref().map_or(0, Recorder::bytes) + self.qlog.as_ref().map_or(0, Recorder::bytes)
    }

    fn on_connection_opened(&mut self, opened: &ConnectionOpened) {
        if let Some(capture) = &mut self.capture {
            capture.on_connection_opened(opened);
        }
        if let Some(qlog) = &mut self.qlog {
            qlog.on_connection_opened(opened);
        }
    }

    fn on_packet(&mut self, packet: &PacketSeen) {
        if let Some(capture) = &mut self.capture {
            capture.on_packet(packet);
        }
        if let Some(qlog) = &mut self.qlog {
            qlog.on_packet(packet);
        }
    }

    fn on_sender(&mut self, sender: &SenderSeen) {
        if let Some(qlog) = &mut self.qlog {
            qlog.on_sender(sender);
        }
    }
}
