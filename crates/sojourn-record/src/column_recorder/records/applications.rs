//! Tables of what applications did: pages, objects, chunks, sessions, transfers; a row for each.

use super::{Records, optional_times, values, words};
use crate::table::{ColumnData, Table};
use sojourn_base::report::{
    Chunk, DownloadSession, LevelReason, LiveSecond, LiveSession, Object, Page, StreamingSession, Transfer,
};
use sojourn_base::{Instant, Span};

impl Records {
    pub(super) fn page_table(&self) -> Table {
        let rows = &self.recorder.pages;
        let u32s = |value: fn(&Page) -> u32| ColumnData::U32(values(rows, value).collect());
        let times = |value: fn(&Page) -> Option<Instant>| optional_times(rows, value);
        Table::new(
            "pages",
            [
                ("traffic", self.traffic_of(rows)),
                ("client", u32s(|page| page.user)),
                ("page", u32s(|page| page.index)),
                ("started_ns", ColumnData::U64(values(rows, |page| page.started_at.as_ns()).collect())),
                ("index_loaded_ns", times(|page| page.index_loaded_at)),
                ("ended_ns", times(|page| page.ended_at)),
                ("objects", u32s(|page| page.objects)),
                ("bytes", ColumnData::U64(values(rows, |page| page.bytes).collect())),
            ],
        )
    }

    pub(super) fn object_table(&self) -> Table {
        let rows = &self.recorder.objects;
        let u32s = |value: fn(&Object) -> u32| ColumnData::U32(values(rows, value).collect());
        let times = |value: fn(&Object) -> Option<Instant>| optional_times(rows, value);
        Table::new(
            "objects",
            [
                ("traffic", self.traffic_of(rows)),
                ("client", u32s(|object| object.user)),
                ("page", u32s(|object| object.page)),
                ("server", u32s(|object| object.server)),
                ("index", u32s(|object| object.index)),
                ("started_ns", ColumnData::U64(values(rows, |object| object.started_at.as_ns()).collect())),
                ("first_byte_ns", times(|object| object.first_byte_at)),
                ("ended_ns", times(|object| object.ended_at)),
                ("bytes", ColumnData::U64(values(rows, |object| object.bytes).collect())),
            ],
        )
    }

    pub(super) fn chunk_table(&self) -> Table {
        let rows = &self.recorder.chunks;
        let u32s = |value: fn(&Chunk) -> u32| ColumnData::U32(values(rows, value).collect());
        let u64s = |value: fn(&Chunk) -> u64| ColumnData::U64(values(rows, value).collect());
        let reasons = LevelReason::ALL.map(LevelReason::as_str);
        Table::new(
            "has_chunks",
            [
                ("traffic", self.traffic_of(rows)),
                ("session", u32s(|chunk| chunk.session)),
                ("chunk", u32s(|chunk| chunk.index)),
                ("level", u32s(|chunk| chunk.level)),
                ("nominal_mbps", ColumnData::F64(values(rows, |chunk| chunk.nominal.as_bps() as f64 / 1e6).collect())),
                ("bytes", u64s(|chunk| chunk.bytes)),
                ("requested_ns", u64s(|chunk| chunk.requested_at.as_ns())),
                ("ended_ns", optional_times(rows, |chunk| chunk.ended_at)),
                ("buffer_before_ns", u64s(|chunk| chunk.buffer_before.as_ns())),
                (
                    "buffer_after_ns",
                    ColumnData::optional_u64(values(rows, |chunk| chunk.buffer_after.map(Span::as_ns))),
                ),
                (
                    "estimate_mbps",
                    ColumnData::optional_f64(values(rows, |chunk| chunk.estimate.map(|estimate| estimate / 1e6))),
                ),
                ("reason", words(values(rows, |chunk| chunk.reason as usize), &reasons)),
            ],
        )
    }

    pub(super) fn streaming_session_table(&self) -> Table {
        let rows = &self.recorder.streaming_sessions;
        let u32s = |value: fn(&StreamingSession) -> u32| ColumnData::U32(values(rows, value).collect());
        let spans = |value: fn(&StreamingSession) -> Span| {
            ColumnData::U64(values(rows, |session| value(session).as_ns()).collect())
        };
        let rates = |value: fn(&StreamingSession) -> Option<f64>| ColumnData::optional_f64(values(rows, value));
        Table::new(
            "has_sessions",
            [
                ("traffic", self.traffic_of(rows)),
                ("session", u32s(|session| session.session)),
                ("started_ns", ColumnData::U64(values(rows, |session| session.started_at.as_ns()).collect())),
                ("startup_ns", ColumnData::optional_u64(values(rows, |session| session.startup.map(Span::as_ns)))),
                ("stalls", u32s(|session| session.stalls)),
                ("stalled_ns", spans(|session| session.stalled)),
                ("played_ns", spans(|session| session.played)),
                ("low_buffer_ns", spans(|session| session.low_buffer)),
                ("chunks", u32s(|session| session.chunks)),
                ("mean_mbps", rates(|session| session.mean_mbps)),
                ("sd_mbps", rates(|session| session.sd_mbps)),
                ("switches", u32s(|session| session.switches)),
            ],
        )
    }

    pub(super) fn live_second_table(&self) -> Table {
        let rows = &self.recorder.live_seconds;
        let u64s = |value: fn(&LiveSecond) -> u64| ColumnData::U64(values(rows, value).collect());
        Table::new(
            "live_seconds",
            [
                ("traffic", self.traffic_of(rows)),
                ("session", ColumnData::U32(values(rows, |second| second.session).collect())),
                ("at_ns", u64s(|second| second.at.as_ns())),
                ("latency_ns", u64s(|second| second.latency.as_ns())),
                ("buffer_ns", u64s(|second| second.buffer.as_ns())),
                ("speed", ColumnData::F64(values(rows, |second| second.speed).collect())),
                ("level", ColumnData::optional_u64(values(rows, |second| second.level.map(u64::from)))),
            ],
        )
    }

    pub(super) fn live_session_table(&self) -> Table {
        let rows = &self.recorder.live_sessions;
        let u32s = |value: fn(&LiveSession) -> u32| ColumnData::U32(values(rows, value).collect());
        let spans =
            |value: fn(&LiveSession) -> Span| ColumnData::U64(values(rows, |session| value(session).as_ns()).collect());
        let latencies = |value: fn(&LiveSession) -> Option<Span>| {
            ColumnData::optional_u64(values(rows, |session| value(session).map(Span::as_ns)))
        };
        Table::new(
            "live_sessions",
            [
                ("traffic", self.traffic_of(rows)),
                ("session", u32s(|session| session.session)),
                ("latency_mean_ns", latencies(|session| session.latency_mean)),
                ("latency_p95_ns", latencies(|session| session.latency_p95)),
                ("latency_max_ns", latencies(|session| session.latency_max)),
                ("fast_ns", spans(|session| session.fast)),
                ("slow_ns", spans(|session| session.slow)),
                ("skips", u32s(|session| session.skips)),
                ("skipped_ns", spans(|session| session.skipped)),
            ],
        )
    }

    pub(super) fn download_session_table(&self) -> Table {
        let rows = &self.recorder.download_sessions;
        let u32s = |value: fn(&DownloadSession) -> u32| ColumnData::U32(values(rows, value).collect());
        let u64s = |value: fn(&DownloadSession) -> u64| ColumnData::U64(values(rows, value).collect());
        Table::new(
            "pd_sessions",
            [
                ("traffic", self.traffic_of(rows)),
                ("source", u32s(|session| session.source)),
                ("session", u32s(|session| session.index)),
                ("started_ns", u64s(|session| session.started_at.as_ns())),
                ("bytes", u64s(|session| session.bytes)),
                ("playback_ns", optional_times(rows, |session| session.playback_at)),
                ("ended_ns", optional_times(rows, |session| session.ended_at)),
                ("underrun_ns", optional_times(rows, |session| session.underrun_at)),
                ("sustained", ColumnData::optional_u64(values(rows, |session| session.is_sustained().map(u64::from)))),
            ],
        )
    }

    pub(super) fn transfer_table(&self) -> Table {
        let rows = &self.recorder.transfers;
        let u32s = |value: fn(&Transfer) -> u32| ColumnData::U32(values(rows, value).collect());
        let size = |transfer: &Transfer| (transfer.bytes != u64::MAX).then_some(transfer.bytes);
        Table::new(
            "transfers",
            [
                ("traffic", self.traffic_of(rows)),
                ("lane", u32s(|transfer| transfer.lane)),
                ("index", u32s(|transfer| transfer.index)),
                ("started_ns", ColumnData::U64(values(rows, |transfer| transfer.started_at.as_ns()).collect())),
                ("ended_ns", optional_times(rows, |transfer| transfer.ended_at)),
                ("bytes", ColumnData::optional_u64(values(rows, size))),
            ],
        )
    }
}
