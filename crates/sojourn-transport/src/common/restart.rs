//! Change of an idle sender's window before it sends again.
//!
//! Source: RFC 5681 section 4.1; RFC 2861 section 3.2 (decay by half per timeout, threshold kept at
//! three quarters); ns-2.35 `slow_start_restart_`; Akhtar 2013, "TCP Modeling" (floor of 10).
//! Deviations: the decay for application-limited periods without idleness (RFC 2861) is not
//! modelled; the growth gate alone acts there.

use crate::config::IdleRestart;
use crate::congestion::Window;
use sojourn_base::{Span, math};

/// Adjust `window` after `idle` without any data outstanding, if that exceeds `timeout`.
pub(crate) fn restart(rule: IdleRestart, initial_window: u32, idle: Span, timeout: Span, window: &mut Window) {
    match rule {
        IdleRestart::None => {}
        IdleRestart::Reset { window: segments } => window.size = f64::from(segments),
        IdleRestart::Rfc5681 => window.size = window.size.min(f64::from(initial_window)),
        IdleRestart::Rfc2861 { floor } => {
            window.threshold = window.threshold.max(0.75 * window.size);
            let floor = f64::from(floor).min(window.size);
            let mut left = idle.saturating_sub(timeout);
            while !left.is_zero() && window.size > floor {
                window.size = math::floor(window.size / 2.0);
                left = left.saturating_sub(timeout);
            }
            window.size = window.size.max(floor);
        }
    }
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "whole segments are exact")]
mod tests {
    use super::*;

    fn after(rule: IdleRestart, size: f64, idle_ms: u64) -> Window {
        let mut window = Window { size, threshold: 50.0 };
        let (idle, timeout) = (Span::from_ms(idle_ms), Span::from_ms(300));
        restart(rule, 10, idle, timeout, &mut window);
        window
    }

    #[test]
    fn the_window_after_a_pause() {
        let rfc2861 = |floor| IdleRestart::Rfc2861 { floor };
        for (rule, size, idle, expected) in [
            (IdleRestart::Reset { window: 4 }, 40.0, 1000, 4.0),
            (IdleRestart::Reset { window: 1 }, 40.0, 1000, 1.0),
            (IdleRestart::Rfc5681, 40.0, 1000, 10.0),
            (rfc2861(10), 40.0, 1000, 10.0),
            (rfc2861(10), 40.0, 500, 20.0),
            (rfc2861(1), 40.0, 2000, 1.0),
            (rfc2861(10), 40.0, 2000, 10.0),
            (rfc2861(10), 6.0, 1000, 6.0),
            (IdleRestart::None, 40.0, 1000, 40.0),
        ] {
            let window = after(rule, size, idle);
            assert_eq!(window.size, expected, "{rule:?}, {size} idle {idle} ms");
            assert_eq!(window.threshold, 50.0, "{rule:?}");
        }
    }

    #[test]
    fn the_threshold_remembers_three_quarters_of_a_large_window() {
        assert_eq!(after(IdleRestart::Rfc2861 { floor: 10 }, 100.0, 400).threshold, 75.0);
    }
}
