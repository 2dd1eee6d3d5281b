//! How many segments may leave during fast recovery, and the window after it.
//!
//! Source: RFC 5681 section 3.2 (Reno), RFC 6582 section 3.2 (NewReno), RFC 6675 section 5 (`pipe`),
//! ns-2.35 `tcp-linux.cc` (rate halving), RFC 9937 section 6 (proportional rate reduction).
//! Deviations: with NewReno the window after recovery is min(threshold, outstanding + 1), the first of
//! the choices that RFC 6582 gives. Reno is that of ns-2.35: half the window, fraction included, during
//! and after recovery.

use super::scoreboard::Scoreboard;
use crate::config::RecoveryMode;
use crate::congestion::{WindowControl, whole};

/// Progress by an acknowledgement during recovery.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Progress {
    /// Segments newly acknowledged, by either means, each once.
    pub(crate) delivered: u32,
    /// The cumulative acknowledgement advanced, and no segment was newly marked lost.
    pub(crate) safe: bool,
}

/// State of one fast recovery.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Recovery {
    mode: RecoveryMode,
    /// Segments by which duplicates inflate the window.
    inflation: u32,
    /// Rate halving: segments that may be in the network although the window is smaller.
    allowance: u32,
    delivered: u32,
    sent: u32,
    /// Outstanding data at the start (`RecoverFS`).
    flight: u32,
    /// Highest segment retransmitted plus one (RFC 6675 `HighRxt`).
    pub(crate) retransmitted_below: u32,
    /// The one rescue retransmission has been used.
    pub(crate) rescued: bool,
}

/// ns-2.35 `tcp_max_burst`: after rate halving the window exceeds `pipe` by at most this.
const MODERATE_BURST: u32 = 3;
/// Duplicates that have left the network when recovery begins.
const INITIAL_INFLATION: u32 = 3;

impl Recovery {
    pub(crate) const fn new(mode: RecoveryMode) -> Self {
        Self {
            mode,
            inflation: 0,
            allowance: 0,
            delivered: 0,
            sent: 0,
            flight: 1,
            retransmitted_below: 0,
            rescued: false,
        }
    }

    /// Begins recovery: the threshold is set, the window is that before the loss. `delivered`: segments delivered by
    /// the acknowledgement that starts it.
    pub(crate) fn begin(&mut self, board: &Scoreboard, control: &mut WindowControl, delivered: u32) {
        let (old, half) = (control.window().whole(), control.window().size / 2.0);
        *self = Self {
            allowance: old,
            inflation: match self.mode {
                RecoveryMode::Reno | RecoveryMode::NewReno => INITIAL_INFLATION,
                _ => 0,
            },
            flight: (board.flight() - board.sacked() + delivered).max(1),
            retransmitted_below: board.first(),
            ..Self::new(self.mode)
        };
        control.window_mut().size = match self.mode {
            RecoveryMode::RateHalving => control.recovery_floor(),
            RecoveryMode::Reno => half.max(control.window().threshold),
            _ => control.window().threshold,
        };
    }

    /// A duplicate arrives during recovery.
    pub(crate) fn on_duplicate(&mut self) {
        if matches!(self.mode, RecoveryMode::Reno | RecoveryMode::NewReno) {
            self.inflation += 1;
        }
    }

    /// New data are acknowledged, but not everything up to the recovery point. Returns false if that
    /// ends recovery.
    pub(crate) fn on_partial(&mut self, acked: u32) -> bool {
        self.inflation = self.inflation.saturating_sub(acked) + 1;
        self.mode != RecoveryMode::Reno
    }

    /// The first lost segment is sent again whatever the window says; with rate halving it waits like others.
    pub(crate) fn retransmits_at_once(&self) -> bool {
        self.mode != RecoveryMode::RateHalving
    }

    /// The first outstanding segment is lost again with each partial acknowledgement.
    pub(crate) fn retransmits_on_partial(&self) -> bool {
        self.mode == RecoveryMode::NewReno
    }

    /// An acknowledgement during recovery, the one that begins it included (RFC 9937).
    pub(crate) fn on_ack(&mut self, progress: Progress, board: &Scoreboard, control: &mut WindowControl) {
        if self.mode != RecoveryMode::Proportional {
            return;
        }
        self.delivered += progress.delivered;
        let (pipe, threshold) = (board.pipe(), control.window().threshold);
        let target = whole(threshold);
        let budget = if pipe > target {
            let quota = u64::from(self.delivered) * u64::from(target);
            let quota = quota.div_ceil(u64::from(self.flight));
            u32::try_from(quota).unwrap_or(u32::MAX).saturating_sub(self.sent)
        } else {
            let limit = self.delivered.saturating_sub(self.sent).max(progress.delivered) + u32::from(progress.safe);
            limit.min(target - pipe)
        };
        let budget = if self.sent == 0 { budget.max(1) } else { budget };
        control.window_mut().size = f64::from(pipe + budget);
    }

    /// The send loop begins.
    pub(crate) fn before_sending(&mut self, pipe: u32) {
        self.allowance = self.allowance.min(pipe + 1);
    }

    /// A segment was sent; `pipe` counts it.
    pub(crate) fn on_sent(&mut self, pipe: u32) {
        self.sent += 1;
        self.allowance = self.allowance.min(pipe.saturating_sub(1).max(1));
    }

    /// Whole segments that may be in the network.
    pub(crate) fn limit(&self, control: &WindowControl) -> u32 {
        match self.mode {
            RecoveryMode::Reno | RecoveryMode::NewReno => control.window().whole() + self.inflation,
            RecoveryMode::RateHalving => control.window().whole().max(self.allowance),
            RecoveryMode::Pipe | RecoveryMode::Proportional => control.window().whole(),
        }
    }

    /// Everything up to the recovery point is acknowledged. `after_timeout`: it was repaired after a
    /// timeout, and no window of recovery has to be taken back.
    pub(crate) fn end(&mut self, board: &Scoreboard, control: &mut WindowControl, after_timeout: bool) {
        self.inflation = 0;
        let threshold = control.window().threshold;
        let pipe = board.pipe();
        let window = control.window_mut();
        match self.mode {
            // ns-2 raises the window to the threshold also when it leaves the repair of a timeout.
            RecoveryMode::RateHalving => {
                if window.size < threshold {
                    window.size = threshold.min(f64::from(pipe + MODERATE_BURST));
                }
            }
            _ if after_timeout => {}
            RecoveryMode::Reno => {}
            RecoveryMode::NewReno => {
                window.size = threshold.min(f64::from(pipe.max(1) + 1));
            }
            RecoveryMode::Pipe | RecoveryMode::Proportional => window.size = threshold,
        }
    }
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "whole segments are exact")]
mod tests {
    use super::super::scoreboard::Sent;
    use super::*;
    use crate::Flags;
    use crate::StackConfig;
    use crate::congestion::Window;
    use sojourn_base::Instant;

    fn board(count: u32) -> Scoreboard {
        let mut board = Scoreboard::new(1448);
        for number in 0..count {
            board.push(Sent {
                sent_at: Instant::ZERO,
                first_sent_at: Instant::ZERO,
                written_at: Instant::ZERO,
                offset: number * 1448,
                length: 1448,
                transmissions: 1,
                flags: Flags::NONE,
            });
        }
        board
    }

    #[test]
    fn proportional_reduction_sends_one_segment_per_two_delivered() {
        // 16 outstanding, threshold 7, three SACKed and one lost: pipe 12, RecoverFS 14.
        let mut board = board(16);
        board.sack(1, 4, |_, _| ());
        board.mark_lost(0);
        let mut control = WindowControl::new(&StackConfig::LINUX_RENO);
        *control.window_mut() = Window { size: 14.0, threshold: 7.0 };
        let mut recovery = Recovery::new(RecoveryMode::Proportional);
        recovery.begin(&board, &mut control, 1);
        let mut budgets = std::vec::Vec::new();
        for sacked in 4..12 {
            let progress = Progress { delivered: 1, safe: false };
            recovery.on_ack(progress, &board, &mut control);
            let budget = control.window().whole() - board.pipe();
            (0..budget).for_each(|_| recovery.on_sent(board.pipe()));
            budgets.push(budget);
            board.sack(sacked, sacked + 1, |_, _| ());
        }
        // The pipe of this board only shrinks (nothing sent is added): 12, 11, ... 7 at the sixth.
        assert_eq!(budgets[..6], [1, 0, 1, 0, 1, 0]);
    }

    #[test]
    fn rate_halving_sends_one_segment_per_two_acknowledgements_until_the_floor() {
        let mut control = WindowControl::new(&StackConfig::NS2_LINUX_CUBIC);
        *control.window_mut() = Window { size: 20.0, threshold: 16.0 };
        let mut recovery = Recovery::new(RecoveryMode::RateHalving);
        let board = board(20);
        recovery.begin(&board, &mut control, 1);
        let mut pipe = 19;
        let mut sent = std::vec::Vec::new();
        for _ in 0..8 {
            recovery.before_sending(pipe);
            let mut count = 0;
            while pipe < recovery.limit(&control) {
                pipe += 1;
                recovery.on_sent(pipe);
                count += 1;
            }
            sent.push(count);
            pipe -= 1;
        }
        // 19 -> 20 sent, then each second acknowledgement, and from pipe 16 on every one.
        assert_eq!(sent, [1, 0, 1, 0, 1, 0, 1, 0]);
        assert_eq!(pipe, 15);
        assert!(!recovery.retransmits_at_once());
        // ns-2.35 Reno: down to half of the threshold, and never more than one segment beyond the pipe.
        let mut control = WindowControl::new(&StackConfig::NS2_LINUX_RENO);
        *control.window_mut() = Window { size: 20.0, threshold: 16.0 };
        recovery.begin(&board, &mut control, 1);
        let limits = [9, 3].map(|pipe| {
            recovery.before_sending(pipe);
            recovery.limit(&control)
        });
        assert_eq!(limits, [10, 8]);
    }

    /// ns-2.35 `tcp-linux.cc`; RFC 6582 section 3.2, step 3 (the first choice); RFC 6675 section 5. Five segments are
    /// outstanding, the threshold is 16; after a timeout only ns-2 raises the window.
    #[test]
    fn the_window_after_recovery_is_that_of_the_mode() {
        let board = board(5);
        for (mode, after_timeout, size, expected) in [
            (RecoveryMode::RateHalving, false, 6.0, 8.0),
            (RecoveryMode::RateHalving, false, 16.0, 16.0),
            (RecoveryMode::RateHalving, false, 20.0, 20.0),
            (RecoveryMode::RateHalving, true, 6.0, 8.0),
            (RecoveryMode::NewReno, false, 9.0, 6.0),
            (RecoveryMode::NewReno, true, 3.0, 3.0),
            (RecoveryMode::Pipe, false, 9.0, 16.0),
            (RecoveryMode::Pipe, true, 3.0, 3.0),
        ] {
            let mut control = WindowControl::new(&StackConfig::NS2_LINUX_CUBIC);
            *control.window_mut() = Window { size, threshold: 16.0 };
            Recovery::new(mode).end(&board, &mut control, after_timeout);
            assert_eq!(control.window().size, expected, "{mode:?} from {size}");
        }
    }

    /// RFC 5681 section 3.2, steps 3 and 4; RFC 6582 section 3.2, step 3.
    #[test]
    fn duplicates_inflate_the_limit_and_a_partial_acknowledgement_takes_back_its_segments_but_one() {
        for (mode, limits) in [(RecoveryMode::NewReno, [10, 12, 9]), (RecoveryMode::Pipe, [7; 3])] {
            let mut control = WindowControl::new(&StackConfig::LINUX_RENO);
            *control.window_mut() = Window { size: 15.0, threshold: 7.0 };
            let mut recovery = Recovery::new(mode);
            recovery.begin(&board(15), &mut control, 0);
            let begun = recovery.limit(&control);
            (0..2).for_each(|_| recovery.on_duplicate());
            let inflated = recovery.limit(&control);
            recovery.on_partial(4);
            assert_eq!([begun, inflated, recovery.limit(&control)], limits, "{mode:?}");
            assert!(recovery.retransmits_at_once());
        }
    }

    /// RFC 9937 section 6: above the threshold of 7 in proportion, 4/14 of it; at it nothing; below it what was delivered, and
    /// one more if that is safe.
    #[test]
    fn proportional_reduction_grows_below_the_threshold_only() {
        for (pipe, sent, safe, window) in
            [(8, 1, false, 9.0), (7, 1, false, 7.0), (5, 3, false, 6.0), (5, 3, true, 7.0)]
        {
            let mut control = WindowControl::new(&StackConfig::LINUX_RENO);
            control.window_mut().threshold = 7.0;
            let mut recovery = Recovery::new(RecoveryMode::Proportional);
            (recovery.flight, recovery.delivered, recovery.sent) = (14, 3, sent);
            recovery.on_ack(Progress { delivered: 1, safe }, &board(pipe), &mut control);
            assert_eq!(control.window().size, window, "{pipe} {safe}");
        }
    }

    /// ns-2.35 Reno: half the window, fraction included; the first progress ends it. RFC 6582: `NewReno` goes on, and sends
    /// the first outstanding segment again.
    #[test]
    fn reno_ends_with_the_first_progress_and_newreno_with_the_last() {
        for (mode, size, goes_on) in [(RecoveryMode::Reno, 7.5, false), (RecoveryMode::NewReno, 6.0, true)] {
            let mut control = WindowControl::new(&StackConfig::LINUX_RENO);
            *control.window_mut() = Window { size: 15.0, threshold: 6.0 };
            let (mut recovery, mut board) = (Recovery::new(mode), board(15));
            board.acknowledge(2);
            recovery.begin(&board, &mut control, 0);
            assert_eq!(recovery.retransmitted_below, 2);
            assert_eq!(control.window().size, size, "{mode:?}");
            assert_eq!((recovery.on_partial(2), recovery.retransmits_on_partial()), (goes_on, goes_on), "{mode:?}");
        }
    }
}
