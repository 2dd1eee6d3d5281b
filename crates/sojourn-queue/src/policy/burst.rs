//! Remembers whether a burst allowance has been spent, so that a new one is granted only after the
//! queue has been quiet for a while.
//!
//! Source: RFC 8034 (DOCSIS-PIE); ns-3 PIE queue disc; docsis-ns3 `dual-queue-coupled-aqm.cc`.
//! Deviations: none known.

/// State of a queue's burst allowance.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BurstState {
    /// No burst yet: the next one is met with an allowance.
    #[default]
    Inactive,
    /// A burst is possible. Counts the quiet updates.
    Quiescent {
        /// Quiet updates in a row.
        quiet: u32,
    },
    /// An allowance was granted and the queue has not been quiet since.
    Active,
}

impl BurstState {
    /// A control update saw the queue quiet or not; more than `timeout` quiet ones in a row end the
    /// memory of the burst.
    pub fn on_update(&mut self, is_quiet: bool, timeout: u32) {
        *self = match *self {
            Self::Active if is_quiet => Self::Quiescent { quiet: 0 },
            Self::Quiescent { quiet } if is_quiet && quiet >= timeout => Self::Inactive,
            Self::Quiescent { quiet } if is_quiet => Self::Quiescent { quiet: quiet + 1 },
            Self::Quiescent { .. } => Self::Quiescent { quiet: 0 },
            state => state,
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burst_is_forgotten_after_more_than_the_timeout() {
        // DOCSIS-PIE: 1 s / 16 ms = 62 whole intervals, so the 63rd quiet update counts.
        let mut state = BurstState::Active;
        state.on_update(true, 62);
        assert_eq!(state, BurstState::Quiescent { quiet: 0 });
        for quiet in 1..=62 {
            state.on_update(true, 62);
            assert_eq!(state, BurstState::Quiescent { quiet });
        }
        state.on_update(true, 62);
        assert_eq!(state, BurstState::Inactive);
    }

    #[test]
    fn one_busy_update_starts_the_count_again() {
        let mut state = BurstState::Quiescent { quiet: 60 };
        state.on_update(false, 62);
        assert_eq!(state, BurstState::Quiescent { quiet: 0 });
        let mut active = BurstState::Active;
        active.on_update(false, 62);
        assert_eq!(active, BurstState::Active);
    }
}
