//! Habits of particular implementations, where they depart from the rules that the rest of a stack names.
//!
//! Source: ns-2.35 `tcp-linux.cc` and `scoreboard1.cc` (`TCP/Linux`), `tcp.cc` and `tcp-reno.cc` (its other agents).
//! Deviations: none known. A stack has a habit because its implementation was seen to have it, not because it
//! has another one: each is asked for by its own name.

/// What an implementation does beside the documents. A stack of today has none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "independent habits, each named after what it does"
)]
pub struct Habits {
    /// An acknowledgement below the first outstanding segment says nothing, whatever blocks it carries
    /// (ns-2 `TCP/Linux`).
    pub ignores_old_acknowledgements: bool,
    /// An acknowledgement of nothing new restarts the retransmission timer and ends its back-off, too
    /// (ns-2 `TCP/Linux`).
    pub duplicates_restart_timeout: bool,
    /// Duplicates that say nothing new are round-trip samples, too (ns-2 `TCP/Linux`).
    pub samples_duplicates: bool,
    /// The window grows by all segments that an acknowledgement covers, also by those SACKed before
    /// (ns-2 `TCP/Linux`).
    pub grows_by_all_covered: bool,
    /// The window grows before the state changes: by the acknowledgement that begins a recovery, and not by
    /// the one that ends it (ns-2 `TCP/Linux`).
    pub grows_before_state_changes: bool,
    /// A loss found while a timeout is repaired begins a recovery (ns-2 `TCP/Linux`).
    pub recovers_during_timeout_repair: bool,
    /// The scoreboard is forgotten when an episode ends: losses above the recovery point are found again, and
    /// what else had arrived above it is sent again (ns-2 `TCP/Linux`).
    pub forgets_scoreboard_after_episode: bool,
    /// The receive window limits the congestion window only: behind a hole the sender goes on and on
    /// (ns-2 `TCP/Linux`).
    pub sends_beyond_receive_window: bool,
    /// The acknowledgement that ends a recovery opens the window, too (ns-2 `TCP/Reno`).
    pub grows_when_recovery_ends: bool,
    /// Each expiry of the retransmission timer reduces from the window, which after the first one is a single
    /// segment; others reduce once per episode (all agents of ns-2).
    pub every_expiry_reduces: bool,
}

impl Habits {
    /// As the documents say.
    pub const NONE: Self = Self {
        ignores_old_acknowledgements: false,
        duplicates_restart_timeout: false,
        samples_duplicates: false,
        grows_by_all_covered: false,
        grows_before_state_changes: false,
        recovers_during_timeout_repair: false,
        forgets_scoreboard_after_episode: false,
        sends_beyond_receive_window: false,
        grows_when_recovery_ends: false,
        every_expiry_reduces: false,
    };

    /// ns-2.35 `TCP/Linux`.
    pub const NS2_LINUX: Self = Self {
        ignores_old_acknowledgements: true,
        duplicates_restart_timeout: true,
        samples_duplicates: true,
        grows_by_all_covered: true,
        grows_before_state_changes: true,
        recovers_during_timeout_repair: true,
        forgets_scoreboard_after_episode: true,
        sends_beyond_receive_window: true,
        every_expiry_reduces: true,
        ..Self::NONE
    };

    /// ns-2.35 `TCP/Reno`.
    pub const NS2_RENO: Self = Self {
        grows_when_recovery_ends: true,
        every_expiry_reduces: true,
        ..Self::NONE
    };

    /// ns-2.35 `TCP/FullTcp`.
    pub const NS2_FULL_TCP: Self = Self {
        every_expiry_reduces: true,
        ..Self::NONE
    };
}
