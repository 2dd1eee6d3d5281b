//! Configuration of the records of a run.

use sojourn_base::Span;
use sojourn_keys::{origin, parameters};

const RARE: &str = "chosen: off, because it grows with the run";
const ALWAYS: &str = "chosen: on, because it answers the first questions";

parameters! {
    /// Records to keep.
    #[derive(Copy, Eq)]
    pub struct RecordConfig {
        /// one row per datagram; loss, lateness and voice quality are known without
        datagrams: bool = true, origin(ALWAYS);
        /// Quality of Outcome of each entry whose packets or questions are answered, for each use that has a requirement: the metrics `qoo_…`; keeps round trips meanwhile
        // Only where it is asked for, as `chunks`.
        outcomes: bool = false, origin(RARE), if |it| it.outcomes;
        /// one row per object of a web page
        objects: bool = false, origin(RARE);
        /// one row per chunk of an adaptive stream
        // Only where it is asked for, so that scenarios without it are printed as ever.
        chunks: bool = false, origin(RARE), if |it| it.chunks;
        /// one row per lost packet: of which flow, and which of its packets
        // As `chunks`.
        losses: bool = false, origin(RARE), if |it| it.losses;
        /// one row per file transfer; their number and their median time are known without; pages, which are few and also count while unfinished, always have their rows
        transfers: bool = true, origin(ALWAYS);
        /// one row per flow: each direction of a connection, and each stream of datagrams, with its sub-flow of the queue manager
        flows: bool = false, origin(RARE);
        /// width of the bins of time series
        ///
        /// White 2013, 3.8.
        series: Option<Span> = Some(Span::from_ms(100)),
            origin("White 2012 §4.1: figures over time").or("off").least("1 ms").most("1 h");
        /// interval at which window and round-trip time of every open connection are written down
        connections: Option<Span> = None, origin(RARE).or("off").least("1 ms").most("1 h");
        /// time spent at each length of a queue
        occupancy: bool = true, origin(ALWAYS);
        /// delay split by cause
        delays: bool = true, origin(ALWAYS);
        /// distributions of delay
        ///
        /// Of access delay and of time in the managed queues.
        histograms: bool = true, origin(ALWAYS);
    }
    profiles {
        /// Nothing but counts.
        NOTHING {
            datagrams = false;
            transfers = false;
            series = None;
            occupancy = false;
            delays = false;
            histograms = false;
        }
    }
}
