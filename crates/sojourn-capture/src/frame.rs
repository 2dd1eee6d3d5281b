//! Where in a frame its IP packet begins.
//!
//! Source: the list of link types of tcpdump.org; IEEE 802.1Q, RFC 2516 (PPPoE).
//! Deviations: other link types, and frames that carry something else, hold no IP packet.

use crate::headers::word;

/// Tags of virtual networks that are walked at most. chosen: nobody nests more.
const MOST_TAGS: usize = 4;

/// Whether an IP packet can be found behind this link layer.
pub const fn is_known(link_type: u16) -> bool {
    matches!(link_type, 0 | 1 | 9 | 12 | 14 | 101 | 108 | 113 | 228 | 229 | 276)
}

/// Where the IP packet of a frame begins; `None` if it carries none.
pub fn ip_at(link_type: u16, frame: &[u8]) -> Option<usize> {
    let at = match link_type {
        // BSD loopback: the family in four octets, of either order.
        0 | 108 => Some(4),
        1 => behind_type(frame, 12),
        9 => behind_ppp(frame, 0),
        12 | 14 | 101 | 228 | 229 => Some(0),
        113 => behind_type(frame, 14),
        // The protocol comes first in the second form of Linux.
        276 => match word(frame, 0)? {
            0x0800 | 0x86dd => Some(20),
            _ => None,
        },
        _ => None,
    }?;
    matches!(frame.get(at)? >> 4, 4 | 6).then_some(at)
}

/// Behind the type of an Ethernet frame, which stands at `at`.
fn behind_type(frame: &[u8], mut at: usize) -> Option<usize> {
    for _ in 0..=MOST_TAGS {
        match word(frame, at)? {
            0x0800 | 0x86dd => return Some(at + 2),
            0x8100 | 0x88a8 | 0x9100 => at += 4,
            0x8864 => return behind_ppp(frame, at + 8),
            _ => return None,
        }
    }
    None
}

fn behind_ppp(frame: &[u8], at: usize) -> Option<usize> {
    let at = if word(frame, at)? == 0xff03 { at + 2 } else { at };
    matches!(word(frame, at)?, 0x0021 | 0x0057).then_some(at + 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packet_is_found_behind_tags_sessions_and_cooked_headers() {
        let mut plain = vec![0; 12];
        plain.extend([0x08, 0x00, 0x45]);
        assert_eq!(ip_at(1, &plain), Some(14));
        let mut tagged = vec![0; 12];
        tagged.extend([0x88, 0xa8, 0, 1, 0x81, 0x00, 0, 2, 0x86, 0xdd, 0x60]);
        assert_eq!(ip_at(1, &tagged), Some(22));
        let mut session = vec![0; 12];
        session.extend([0x88, 0x64, 0x11, 0, 0, 1, 0, 40, 0x00, 0x21, 0x45]);
        assert_eq!(ip_at(1, &session), Some(22));
        let mut cooked = vec![0; 14];
        cooked.extend([0x08, 0x00, 0x45]);
        assert_eq!(ip_at(113, &cooked), Some(16));
        let mut cooked = vec![0x86, 0xdd];
        cooked.extend([0; 18]);
        cooked.push(0x60);
        assert_eq!(ip_at(276, &cooked), Some(20));
        assert_eq!(ip_at(101, &[0x45]), Some(0));
        assert_eq!(ip_at(0, &[2, 0, 0, 0, 0x45]), Some(4));
    }

    #[test]
    fn what_is_no_packet_is_none() {
        let mut address_resolution = vec![0; 12];
        address_resolution.extend([0x08, 0x06, 0x45]);
        assert_eq!(ip_at(1, &address_resolution), None);
        assert_eq!(ip_at(1, &[0; 13]), None);
        assert_eq!(ip_at(101, &[]), None);
        assert_eq!(ip_at(105, &[0x45; 40]), None);
        let tags = [0x81, 0x00].repeat(40);
        assert_eq!(ip_at(1, &tags), None);
    }
}
