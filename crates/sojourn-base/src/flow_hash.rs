//! A flow's 32-bit number: a hash of its addresses, protocol and ports.
//!
//! Source: MurmurHash3 x86-32 over the byte string that the ns-3 and docsis-ns3 classifiers build;
//! Jenkins' lookup3 on three words as in ns-2 `sfqcodel.cc` (K. Nichols, 2013). White 2013 §2.2 maps
//! flows to sub-flows by the 3- or the 5-tuple.
//! Units and ranges: any `u32`; a queue takes it modulo its number of bins.
//! Deviations: `JenkinsNichols` folds IPv6 addresses to 32 bits by exclusive or (chosen: the ns-2 code
//! knows only 32-bit addresses).

/// An IPv4 or IPv6 address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Address {
    /// Four bytes, the first one most significant.
    V4(u32),
    /// Sixteen bytes, the first one most significant.
    V6(u128),
}

/// Fields that identify a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FlowKey {
    /// Source of its packets.
    pub source: Address,
    /// Destination of its packets.
    pub destination: Address,
    /// IP protocol number.
    pub protocol: u8,
    /// Zero if the protocol has no ports, or the packet does not show them.
    pub source_port: u16,
    /// Zero if the protocol has no ports, or the packet does not show them.
    pub destination_port: u16,
}

impl FlowKey {
    /// The 3-tuple: all flows of a protocol between two hosts become one (White 2013 §2.2).
    #[must_use]
    pub const fn without_ports(self) -> Self {
        Self { source_port: 0, destination_port: 0, ..self }
    }

    /// The flow of what comes back.
    #[must_use]
    pub const fn reversed(self) -> Self {
        Self {
            source: self.destination,
            destination: self.source,
            protocol: self.protocol,
            source_port: self.destination_port,
            destination_port: self.source_port,
        }
    }
}

/// A hash function for flows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum FlowHash {
    /// MurmurHash3 x86-32 over source, destination, protocol, source port, destination port and
    /// perturbation, each most significant byte first.
    #[default]
    Murmur3,
    /// lookup3 with one mixing and one final round over destination, source and the two ports; the
    /// protocol does not count.
    JenkinsNichols,
}

impl FlowHash {
    /// The number of the flow; `perturbation` gives every queue its own mapping.
    pub fn hash(self, key: &FlowKey, perturbation: u32) -> u32 {
        match self {
            Self::Murmur3 => murmur3_of_flow(key, perturbation),
            Self::JenkinsNichols => {
                let ports = (u32::from(key.destination_port) << 16) | u32::from(key.source_port);
                lookup3(folded(key.destination), folded(key.source), ports ^ perturbation)
            }
        }
    }
}

fn folded(address: Address) -> u32 {
    match address {
        Address::V4(word) => word,
        Address::V6(bits) => words(bits).into_iter().fold(0, |folded, word| folded ^ word),
    }
}

#[expect(clippy::cast_possible_truncation, reason = "takes 32 bits at a time")]
const fn words(bits: u128) -> [u32; 4] {
    [(bits >> 96) as u32, (bits >> 64) as u32, (bits >> 32) as u32, bits as u32]
}

fn murmur3_of_flow(key: &FlowKey, perturbation: u32) -> u32 {
    // Two IPv6 addresses, protocol, ports, perturbation.
    let mut bytes = [0_u8; 41];
    let mut length = 0;
    let mut put = |part: &[u8]| {
        bytes[length..length + part.len()].copy_from_slice(part);
        length += part.len();
    };
    for address in [key.source, key.destination] {
        match address {
            Address::V4(word) => put(&word.to_be_bytes()),
            Address::V6(bits) => put(&bits.to_be_bytes()),
        }
    }
    put(&[key.protocol]);
    put(&key.source_port.to_be_bytes());
    put(&key.destination_port.to_be_bytes());
    put(&perturbation.to_be_bytes());
    murmur3(&bytes[..length])
}

/// MurmurHash3 x86-32 with seed 0 (A. Appleby, public domain).
pub fn murmur3(bytes: &[u8]) -> u32 {
    let scramble = |block: u32| block.wrapping_mul(0xcc9e_2d51).rotate_left(15).wrapping_mul(0x1b87_3593);
    let blocks = bytes.chunks_exact(4);
    let mut tail = 0;
    for (place, byte) in blocks.remainder().iter().enumerate() {
        tail |= u32::from(*byte) << (8 * place);
    }
    let mut hash = 0_u32;
    for block in blocks {
        let word = u32::from_le_bytes([block[0], block[1], block[2], block[3]]);
        hash = (hash ^ scramble(word)).rotate_left(13).wrapping_mul(5).wrapping_add(0xe654_6b64);
    }
    hash ^= scramble(tail);
    #[expect(clippy::cast_possible_truncation, reason = "modulo 2^32 by definition")]
    let length = bytes.len() as u32;
    hash ^= length;
    hash = (hash ^ (hash >> 16)).wrapping_mul(0x85eb_ca6b);
    hash = (hash ^ (hash >> 13)).wrapping_mul(0xc2b2_ae35);
    hash ^ (hash >> 16)
}

/// Jenkins' lookup3 over three words with a mixing round before the final one, as ns-2's SFQ-CoDel
/// has it (the kernel's three-word form leaves the mixing round out).
fn lookup3(a: u32, b: u32, c: u32) -> u32 {
    // lookup3: 0xdeadbeef plus the length of the key in bytes.
    const START: u32 = 0xdead_beef + 12;
    let mut a = a.wrapping_add(START);
    let mut b = b.wrapping_add(START);
    let mut c = c.wrapping_add(START);
    // Mixing round.
    a = a.wrapping_sub(c) ^ c.rotate_left(4);
    c = c.wrapping_add(b);
    b = b.wrapping_sub(a) ^ a.rotate_left(6);
    a = a.wrapping_add(c);
    c = c.wrapping_sub(b) ^ b.rotate_left(8);
    b = b.wrapping_add(a);
    a = a.wrapping_sub(c) ^ c.rotate_left(16);
    c = c.wrapping_add(b);
    b = b.wrapping_sub(a) ^ a.rotate_left(19);
    a = a.wrapping_add(c);
    c = c.wrapping_sub(b) ^ b.rotate_left(4);
    b = b.wrapping_add(a);
    // Final round.
    c = (c ^ b).wrapping_sub(b.rotate_left(14));
    a = (a ^ c).wrapping_sub(c.rotate_left(11));
    b = (b ^ a).wrapping_sub(a.rotate_left(25));
    c = (c ^ b).wrapping_sub(b.rotate_left(16));
    a = (a ^ c).wrapping_sub(c.rotate_left(4));
    b = (b ^ a).wrapping_sub(a.rotate_left(14));
    (c ^ b).wrapping_sub(b.rotate_left(24))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Seed;

    fn key(source: u32, destination: u32, protocol: u8, ports: (u16, u16)) -> FlowKey {
        FlowKey {
            source: Address::V4(source),
            destination: Address::V4(destination),
            protocol,
            source_port: ports.0,
            destination_port: ports.1,
        }
    }

    #[test]
    fn murmur3_matches_the_published_vectors() {
        // Reference values of the algorithm itself with seed 0.
        assert_eq!(murmur3(b""), 0);
        assert_eq!(murmur3(b"test"), 0xba6b_d213);
        assert_eq!(murmur3(b"Hello, world!"), 0xc036_3e43);
        let (host_1, host_2) = (0x0a00_0001, 0x0a00_0002);
        for (flow, value, modulo_32, bits_5_to_9, modulo_1024) in [
            (key(host_1, host_2, 17, (5000, 5001)), 0x5f99_b162, 2, 11, 354),
            (key(host_1, host_2, 17, (5001, 5000)), 0xf548_9b5b, 27, 26, 859),
            (key(host_2, host_1, 17, (5001, 5000)), 0x217b_0a55, 21, 18, 597),
            (key(0xc0a8_010a, 0xcb00_7105, 6, (49152, 443)), 0xdddc_88be, 30, 5, 190),
            (key(host_1, host_2, 1, (0, 0)), 0xb95a_24ac, 12, 5, 172),
        ] {
            let hash = FlowHash::Murmur3.hash(&flow, 0);
            assert_eq!(hash, value);
            assert_eq!(hash % 32, modulo_32);
            assert_eq!((hash >> 5) & 31, bits_5_to_9);
            assert_eq!(hash % 1024, modulo_1024);
        }
    }

    #[test]
    fn jenkins_matches_the_values_of_the_ns_2_code() {
        for (destination, source, destination_port, source_port, value) in [
            (4, 0, 0, 0, 0x3572_a499),
            (4, 0, 0, 1, 0xdbe3_3f3c),
            (0, 4, 0, 0, 0xa888_c397),
            (0x0a00_0002, 0x0a00_0001, 5001, 5000, 0xb726_bc61),
        ] {
            let flow = key(source, destination, 17, (source_port, destination_port));
            assert_eq!(FlowHash::JenkinsNichols.hash(&flow, 0), value);
        }
    }

    fn random_flow(stream: &mut crate::RandomStream) -> FlowKey {
        let bits = stream.bits();
        let more = stream.bits();
        let [_, _, high, low] = words(u128::from(bits));
        let [_, _, _, ports] = words(u128::from(more));
        key(high, low, [6, 17][usize::from(more >> 63 == 1)], ((ports >> 16) as u16, (ports & 0xffff) as u16))
    }

    #[test]
    fn flows_spread_evenly_over_32_bins() {
        for function in [FlowHash::Murmur3, FlowHash::JenkinsNichols] {
            let mut stream = Seed(3).stream("test/flow-hash");
            let mut bins = [0_u32; 32];
            for _ in 0..100_000 {
                bins[(function.hash(&random_flow(&mut stream), 0) % 32) as usize] += 1;
            }
            let expected = 100_000.0 / 32.0;
            let chi_square: f64 = bins
                .iter()
                .map(|count| {
                    let off = f64::from(*count) - expected;
                    off * off / expected
                })
                .sum();
            // 31 degrees of freedom: 61.10 is exceeded once in a thousand.
            assert!(chi_square < 61.10, "{function:?}: {chi_square}");
        }
    }

    #[test]
    fn more_sub_flows_mean_fewer_collisions() {
        // Claim W13-35: a flow has its bin to itself with probability (1 − 1/m)^(n−1).
        let mut stream = Seed(4).stream("test/flow-hash");
        for (flows, bins) in [(10, 32), (30, 32), (10, 1024)] {
            let mut alone = 0_u32;
            let rounds = 100_000 / flows;
            for _ in 0..rounds {
                let mut hits = [0_u8; 1024];
                for _ in 0..flows {
                    let hash = FlowHash::Murmur3.hash(&random_flow(&mut stream), 0);
                    hits[(hash % bins) as usize] += 1;
                }
                alone += hits.iter().map(|hits| u32::from(*hits == 1)).sum::<u32>();
            }
            let share = f64::from(alone) / f64::from(rounds * flows);
            let expected = crate::math::powi(1.0 - 1.0 / f64::from(bins), flows - 1);
            assert!((share - expected).abs() < 0.005, "{share} against {expected}");
        }
    }

    #[test]
    fn a_connection_keeps_its_number_and_its_directions_differ() {
        // Claim W13-34, for both key sets.
        let up = key(1, 2, 6, (1000, 443));
        let other_port = key(1, 2, 6, (1001, 443));
        let down = key(2, 1, 6, (443, 1000));
        for function in [FlowHash::Murmur3, FlowHash::JenkinsNichols] {
            let hash = |flow: FlowKey| function.hash(&flow, 7);
            assert_eq!(hash(up), hash(up));
            assert_ne!(hash(up), hash(down));
            assert_ne!(hash(up), hash(other_port));
            assert_eq!(hash(up.without_ports()), hash(other_port.without_ports()));
            assert_ne!(hash(up), function.hash(&up, 8));
        }
    }

    #[test]
    fn ipv6_addresses_count_in_full() {
        let flow = |low: u128| FlowKey {
            source: Address::V6(0x2001_0db8 << 96 | low),
            destination: Address::V6(1),
            protocol: 17,
            source_port: 1,
            destination_port: 2,
        };
        for function in [FlowHash::Murmur3, FlowHash::JenkinsNichols] {
            assert_ne!(function.hash(&flow(1), 0), function.hash(&flow(2), 0));
            assert_ne!(function.hash(&flow(1), 0), function.hash(&flow(1 << 64 | 1), 0));
        }
    }
}
