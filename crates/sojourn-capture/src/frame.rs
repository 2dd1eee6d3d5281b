//! Offset of a frame's IP packet.
//!
//! Source: the list of link types of tcpdump.org; IEEE 802.1Q, RFC 2516 (PPPoE), RFC 3032 (MPLS), IEEE 802.11 and radiotap.org,
//! DOCSIS MAC and upper layer protocols 6.2 (the MAC header of a packet PDU).
//! Deviations: other link types, and frames that carry something else or are encrypted, hold no IP packet; of 802.11 aggregates of
//! several packets (A-MSDU) are not taken apart, of DOCSIS neither fragments nor concatenations.

use crate::headers::word;

/// Tags of virtual networks, and labels, that are walked at most. chosen: deeper nesting is unknown.
const MOST_TAGS: usize = 4;

/// Returns true if an IP packet can be found behind this link layer.
pub const fn is_known(link_type: u16) -> bool {
    matches!(link_type, 0 | 1 | 9 | 12 | 14 | 51 | 101 | 105 | 108 | 113 | 127 | 143 | 228 | 229 | 276)
}

/// Returns the offset of a frame's IP packet; `None` if it carries none.
pub fn ip_at(link_type: u16, frame: &[u8]) -> Option<usize> {
    let at = match link_type {
        // BSD loopback: the family in four octets, of either order.
        0 | 108 => Some(4),
        1 => behind_type(frame, 12),
        9 => behind_ppp(frame, 0),
        12 | 14 | 101 | 228 | 229 => Some(0),
        // A session of PPPoE without the Ethernet header before it.
        51 => behind_ppp(frame, 6),
        105 => behind_wifi(frame, 0, false),
        113 => behind_type(frame, 14),
        127 => behind_radiotap(frame),
        143 => behind_docsis(frame),
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
            0x8847 | 0x8848 => return behind_labels(frame, at + 2),
            0x8864 => return behind_ppp(frame, at + 8),
            _ => return None,
        }
    }
    None
}

/// Behind a stack of labels, whose last one is marked.
fn behind_labels(frame: &[u8], mut at: usize) -> Option<usize> {
    for _ in 0..MOST_TAGS {
        let is_last = frame.get(at + 2)? & 1 == 1;
        at += 4;
        if is_last {
            return Some(at);
        }
    }
    None
}

fn behind_ppp(frame: &[u8], at: usize) -> Option<usize> {
    let at = if word(frame, at)? == 0xff03 { at + 2 } else { at };
    matches!(word(frame, at)?, 0x0021 | 0x0057).then_some(at + 2)
}

/// Behind a radiotap header, whose flags say whether 802.11's own is padded.
fn behind_radiotap(frame: &[u8]) -> Option<usize> {
    const MORE: u32 = 1 << 31;
    let length = usize::from(u16::from_le_bytes(frame.get(2..4)?.try_into().ok()?));
    let present = |at: usize| Some(u32::from_le_bytes(frame.get(at..at + 4)?.try_into().ok()?));
    let (first, mut at) = (present(4)?, 4);
    while present(at)? & MORE != 0 {
        at += 4;
    }
    at += 4;
    if first & 1 != 0 {
        // The time of the hardware, aligned to its own size.
        at = at.next_multiple_of(8) + 8;
    }
    let is_padded = first & 2 != 0 && frame.get(at)? & 0x20 != 0;
    behind_wifi(frame, length, is_padded)
}

/// Behind the header of an 802.11 frame of data, and what says which protocol it carries (LLC and SNAP).
fn behind_wifi(frame: &[u8], at: usize, is_padded: bool) -> Option<usize> {
    const SNAP: [u8; 6] = [0xaa, 0xaa, 3, 0, 0, 0];
    let [control, flags] = frame.get(at..at + 2)?.try_into().ok()?;
    let (kind, has_quality) = (control >> 2 & 3, control & 0x80 != 0);
    // Those without data have the bit of 4 in their subtype; what is protected is not to be read.
    if kind != 2 || control & 0x40 != 0 || flags & 0x40 != 0 {
        return None;
    }
    let mut length = if flags & 3 == 3 { 30 } else { 24 };
    if has_quality {
        let is_aggregate = frame.get(at + length)? & 0x80 != 0;
        if is_aggregate {
            return None;
        }
        length += if flags & 0x80 != 0 { 6 } else { 2 };
    }
    if is_padded {
        length = length.next_multiple_of(4);
    }
    let at = at + length;
    (frame.get(at..at + 6)? == SNAP).then(|| behind_type(frame, at + 6))?
}

/// Behind the MAC header of DOCSIS, and the Ethernet header of the packet that it carries.
fn behind_docsis(frame: &[u8]) -> Option<usize> {
    const PRIVACY: [u8; 2] = [3, 4];
    let control = *frame.first()?;
    // Of packets, and of packets that modems of 2.0 leave alone.
    if !matches!(control >> 6, 0 | 2) {
        return None;
    }
    let extended = if control & 1 == 1 { usize::from(*frame.get(1)?) } else { 0 };
    let mut elements = frame.get(4..4 + extended)?;
    while let [head, rest @ ..] = elements {
        let length = usize::from(head & 0x0f).min(rest.len());
        if PRIVACY.contains(&(head >> 4)) && rest.get(1).is_some_and(|octet| octet & 0x80 != 0) {
            return None;
        }
        elements = &rest[length..];
    }
    behind_type(frame, 6 + extended + 12)
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
        assert_eq!(ip_at(104, &[0x45; 40]), None);
        let tags = [0x81, 0x00].repeat(40);
        assert_eq!(ip_at(1, &tags), None);
    }

    /// A frame of data to an access point, with LLC and SNAP and the first octet of an IPv4 packet.
    fn wifi(control: u8, flags: u8, header: usize) -> Vec<u8> {
        let mut frame = vec![0; header];
        frame[0] = control;
        frame[1] = flags;
        frame.extend([0xaa, 0xaa, 3, 0, 0, 0, 0x08, 0x00, 0x45]);
        frame
    }

    #[test]
    fn a_packet_is_found_behind_the_headers_of_wireless_frames() {
        assert_eq!(ip_at(105, &wifi(0x08, 1, 24)), Some(32));
        assert_eq!(ip_at(105, &wifi(0x88, 1, 26)), Some(34));
        assert_eq!(ip_at(105, &wifi(0x88, 0x83, 36)), Some(44));
        // Protected, without data, of management, and an aggregate of several packets.
        let mut aggregate = wifi(0x88, 1, 26);
        aggregate[24] = 0x80;
        for frame in [wifi(0x08, 0x41, 24), wifi(0x48, 1, 24), wifi(0x00, 0, 24), aggregate] {
            assert_eq!(ip_at(105, &frame), None);
        }
        // Radiotap: time and flags, which say that the header of 26 B is padded to 28.
        let mut tapped = vec![0, 0, 25, 0, 3, 0, 0, 0];
        tapped.extend([0; 8]);
        tapped.extend([0x20; 9]);
        tapped.extend(wifi(0x88, 1, 28));
        assert_eq!(ip_at(127, &tapped), Some(25 + 36));
        tapped[16] = 0;
        assert_eq!(ip_at(127, &tapped), None);
    }

    #[test]
    fn a_packet_is_found_behind_labels_sessions_and_the_header_of_a_cable_modem() {
        let mut labels = vec![0; 12];
        labels.extend([0x88, 0x47, 0, 1, 0, 64, 0, 2, 1, 64, 0x45]);
        assert_eq!(ip_at(1, &labels), Some(22));
        labels[20] = 0;
        assert_eq!(ip_at(1, &labels), None, "a stack without an end");
        assert_eq!(ip_at(51, &[0x11, 0, 0, 1, 0, 40, 0, 0x21, 0x45]), Some(8));
        let mut cable = vec![0, 0, 0, 60, 0, 0];
        cable.extend([0; 12]);
        cable.extend([0x08, 0x00, 0x45]);
        assert_eq!(ip_at(143, &cable), Some(20));
        // An extended header of four octets: a service flow, and privacy that is on.
        let with = |elements: [u8; 4]| {
            let mut frame = vec![1, 4, 0, 60];
            frame.extend(elements);
            frame.extend(&cable[4..]);
            frame
        };
        assert_eq!(ip_at(143, &with([0x53, 0, 0, 0])), Some(24));
        assert_eq!(ip_at(143, &with([0x33, 0x10, 0x80, 1])), None);
        let mut management = cable.clone();
        management[0] = 0xc2;
        assert_eq!(ip_at(143, &management), None);
    }
}
