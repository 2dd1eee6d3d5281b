//! What applications tell of their work, and what records keep of it: transfers, pages and their objects.
//!
//! Defined here because applications know no records and records know no models.

use crate::time::Instant;

/// A finished (or, at the end of a run, unfinished) file transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transfer {
    /// Number of the parallel loop or connection within the application.
    pub lane: u32,
    /// Number of the transfer within its lane, from 0.
    pub index: u32,
    /// When the connection was asked for, or the first byte written on a kept connection.
    pub started_at: Instant,
    /// When the last byte was acknowledged to the sender; `None` if it was not before the run ended.
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
    /// When the first SYN was asked for or, with name look-ups, the first query was sent.
    pub started_at: Instant,
    /// When the index object was complete.
    pub index_loaded_at: Option<Instant>,
    /// When the last byte of the last object arrived.
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
    /// When its connection was asked for.
    pub started_at: Instant,
    /// When its first byte arrived.
    pub first_byte_at: Option<Instant>,
    /// When its last byte arrived.
    pub ended_at: Option<Instant>,
    /// Size.
    pub bytes: u64,
}
