//! Queueing delay of the forward path, from one-way delays: a short minimum over a long one.
//!
//! Source: RFC 6817 section 2.4.2 (base history, current filter) and 2.5 (their lengths).
//! Clocks of both ends agree in the simulator, but nothing depends on it: only differences count.
//! Deviations: none known. A flow that starts into a standing queue takes its delay for the path's, as the document
//! says.

use crate::time::{Instant, Span};

/// Most minutes and samples any controller remembers.
const MAXIMUM_HISTORY: usize = 10;
const MAXIMUM_FILTER: usize = 4;
/// A base minimum covers this long (RFC 6817 section 2.4.2).
const BIN: Span = Span::from_s(60);

/// Two running minima.
#[derive(Clone, Copy, Debug)]
pub struct QueueingDelay {
    history: [Span; MAXIMUM_HISTORY],
    current: [Span; MAXIMUM_FILTER],
    bins: usize,
    samples: usize,
    bin_began: Option<Instant>,
    next_bin: usize,
    next_sample: usize,
}

impl QueueingDelay {
    /// Base delay over `bins` minutes, current delay over `samples` acknowledgements.
    pub const fn new(bins: usize, samples: usize) -> Self {
        assert!(bins > 0 && bins <= MAXIMUM_HISTORY && samples > 0 && samples <= MAXIMUM_FILTER);
        Self {
            history: [Span::MAX; MAXIMUM_HISTORY],
            current: [Span::MAX; MAXIMUM_FILTER],
            bins,
            samples,
            bin_began: None,
            next_bin: 0,
            next_sample: 0,
        }
    }

    /// An acknowledgement reports the one-way delay of its segment.
    pub fn sample(&mut self, now: Instant, delay: Span) {
        match self.bin_began {
            Some(began) if now.saturating_since(began) < BIN => {
                let bin = &mut self.history[self.next_bin];
                *bin = (*bin).min(delay);
            }
            began => {
                if began.is_some() {
                    self.next_bin = (self.next_bin + 1) % self.bins;
                }
                self.history[self.next_bin] = delay;
                self.bin_began = Some(now);
            }
        }
        self.current[self.next_sample] = delay;
        self.next_sample = (self.next_sample + 1) % self.samples;
    }

    /// Current delay above base delay; `None` before the first sample.
    pub fn get(&self) -> Option<Span> {
        let minimum = |spans: &[Span]| spans.iter().copied().min().unwrap_or(Span::MAX);
        let (current, base) = (minimum(&self.current), minimum(&self.history));
        (base < Span::MAX).then(|| current.saturating_sub(base))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_current_delay_is_the_smallest_of_the_last_samples() {
        let mut delay = QueueingDelay::new(10, 4);
        assert_eq!(delay.get(), None);
        for (ms, queueing) in [(50, 0), (80, 0), (90, 0), (85, 0), (95, 30), (40, 0), (70, 30)] {
            delay.sample(Instant::ZERO, Span::from_ms(ms));
            // The fifth sample displaces the first; the sixth is a new base.
            let expected = if ms == 70 { 0 } else { queueing };
            assert_eq!(delay.get(), Some(Span::from_ms(expected)), "after {ms} ms");
        }
    }

    #[test]
    fn the_base_forgets_after_its_minutes() {
        let mut delay = QueueingDelay::new(2, 1);
        delay.sample(Instant::from_s(0), Span::from_ms(20));
        delay.sample(Instant::from_s(61), Span::from_ms(100));
        assert_eq!(delay.get(), Some(Span::from_ms(80)));
        delay.sample(Instant::from_s(122), Span::from_ms(100));
        assert_eq!(delay.get(), Some(Span::ZERO), "the standing queue is the path now");
    }
}
