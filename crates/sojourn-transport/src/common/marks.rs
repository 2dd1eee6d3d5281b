//! How many segments were marked, from a count that comes back with each acknowledgement (AccECN).
//!
//! Source: RFC 9768 sections 3.2.1 (initial count), 3.2.2.5.2 and appendix A.1 (a count of three bits that may have
//! wrapped).
//! Deviations: with the option, the count of segments comes back in 16 bits instead of counts of bytes by code point in
//! 24. The negotiation of the handshake is the configuration of both ends.

/// `r.cep` of a new connection (RFC 9768 section 3.2.1).
pub(crate) const FIRST_COUNT: u16 = 5;

/// The sender's count of the peer's marks (`s.cep`).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Marks {
    heard: u16,
}

impl Default for Marks {
    fn default() -> Self {
        Self { heard: FIRST_COUNT }
    }
}

/// Values of the ACE field.
const FIELD: u32 = 8;

impl Marks {
    /// Segments marked since the last report. `count`: what an acknowledgement carries that has delivered `delivered`
    /// segments; of it the lowest three bits are known unless it is `exact`.
    pub(crate) fn take_report(&mut self, count: u16, delivered: u32, exact: bool) -> u32 {
        let ahead = count.wrapping_sub(self.heard);
        let marks = if exact {
            // An acknowledgement that was overtaken says nothing new.
            if ahead > u16::MAX / 2 { 0 } else { u32::from(ahead) }
        } else {
            least_safe(u32::from(ahead) % FIELD, delivered)
        };
        self.heard = self.heard.wrapping_add(low_half(marks));
        marks
    }
}

/// The largest number of marks among `delivered` segments that leaves `field` modulo 8; `field` itself if they are too
/// few for a wrap.
const fn least_safe(field: u32, delivered: u32) -> u32 {
    if delivered < FIELD { field } else { delivered - (delivered - field) % FIELD }
}

#[expect(clippy::cast_possible_truncation, reason = "counts are modulo 2^16")]
const fn low_half(count: u32) -> u16 {
    count as u16
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_bits_are_taken_for_the_most_that_they_can_mean() {
        for (count, delivered, expected) in [(8, 2, 3), (8, 12, 11), (5, 2, 0), (5, 7, 0), (5, 8, 8), (12, 7, 7)] {
            let mut marks = Marks::default();
            assert_eq!(
                marks.take_report(count % 8, delivered, false),
                expected,
                "{count} after 5, {delivered} delivered"
            );
            // The count stays modulo 8.
            assert_eq!(u32::from(marks.heard) % 8, u32::from(count) % 8);
        }
    }

    #[test]
    fn the_option_survives_thinned_and_overtaken_acknowledgements() {
        let mut marks = Marks::default();
        assert_eq!(marks.take_report(105, 100, true), 100);
        assert_eq!(marks.take_report(80, 0, true), 0, "overtaken");
        assert_eq!(marks.take_report(105, 1, true), 0);
        let mut marks = Marks { heard: u16::MAX };
        assert_eq!(marks.take_report(1, 2, true), 2, "over the end of 16 bits");
    }
}
