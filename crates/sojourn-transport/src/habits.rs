//! Habits of particular implementations, where they depart from the rules that the rest of a stack names.
//!
//! Source: Linux 6.12 `tcp_input.c`; ns-2.35 `tcp-linux.cc` and `scoreboard1.cc` (`TCP/Linux`), `tcp.cc` and `tcp-reno.cc` (its other agents).
//! Deviations: none known. A stack has a habit because its implementation was seen to have it, not because it
//! has another one: each is asked for by its own name.

use sojourn_keys::{Key, origin, parameters};

const fn habit() -> Key {
    origin("by the stack's name")
}

parameters! {
    /// Deviations of an implementation from the documents.
    #[derive(Copy, Eq)]
    pub struct Habits {
        /// an acknowledgement below the first outstanding segment says nothing (ns-2 TCP/Linux)
        ///
        /// Whatever blocks it carries.
        ignores_old_acknowledgements: bool = false, habit();
        /// an acknowledgement of nothing new restarts the timer, too (ns-2 TCP/Linux)
        ///
        /// And ends its back-off.
        duplicates_restart_timeout: bool = false, habit();
        /// a SACK of older data than the first segment's latest copy restarts the timer (Linux)
        ///
        /// So no timer expires in a recovery while data sent before it arrive (`tcp_clean_rtx_queue`).
        old_data_restart_timeout: bool = false, habit();
        /// duplicates that say nothing new are round-trip samples, too (ns-2 TCP/Linux)
        samples_duplicates: bool = false, habit();
        /// the window grows by all that is covered, SACKed before or not (ns-2 TCP/Linux)
        grows_by_all_covered: bool = false, habit();
        /// a recovery begins while segments that were sent again are not yet acknowledged (Linux)
        ///
        /// When one ends, such segments are lost ones beyond its end: the next recovery begins at once, and reduces again (Linux
        /// `tcp_time_to_recover`, `lost_out`).
        recovers_while_repairs_are_out: bool = false, habit();
        /// segments that make the receive window grow are acknowledged at once (Linux)
        ///
        /// All of the first round trips, until the window holds what is expected (`tcp_grow_window`).
        acknowledges_what_opens_the_window: bool = false, habit();
        /// the window grows before the state changes (ns-2 TCP/Linux)
        ///
        /// By the acknowledgement that begins a recovery, and not by the one that ends it.
        grows_before_state_changes: bool = false, habit();
        /// a loss found while a timeout is repaired begins a recovery (ns-2 TCP/Linux)
        recovers_during_timeout_repair: bool = false, habit();
        /// the scoreboard is forgotten when an episode ends (ns-2 TCP/Linux)
        ///
        /// Losses above the recovery point are found again, and what else had arrived above it is sent again.
        forgets_scoreboard_after_episode: bool = false, habit();
        /// the receive window limits the congestion window only (ns-2 TCP/Linux)
        ///
        /// Behind a hole the sender goes on and on.
        sends_beyond_receive_window: bool = false, habit();
        /// the acknowledgement that ends a recovery opens the window, too (ns-2 TCP/Reno)
        grows_when_recovery_ends: bool = false, habit();
        /// each expiry of the timer reduces from the window, not one per episode (ns-2)
        ///
        /// After the first one the window is a single segment.
        every_expiry_reduces: bool = false, habit();
    }
    profiles {
        /// Linux 6.12.
        LINUX_6 {
            old_data_restart_timeout = true;
            recovers_while_repairs_are_out = true;
            acknowledges_what_opens_the_window = true;
        }
        /// ns-2.35 `TCP/FullTcp`.
        NS2_FULL_TCP { every_expiry_reduces = true; }
        /// ns-2.35 `TCP/Reno`.
        NS2_RENO from NS2_FULL_TCP { grows_when_recovery_ends = true; }
        /// ns-2.35 `TCP/Linux`.
        NS2_LINUX from NS2_FULL_TCP {
            ignores_old_acknowledgements = true;
            duplicates_restart_timeout = true;
            samples_duplicates = true;
            grows_by_all_covered = true;
            grows_before_state_changes = true;
            recovers_during_timeout_repair = true;
            forgets_scoreboard_after_episode = true;
            sends_beyond_receive_window = true;
        }
    }
}
