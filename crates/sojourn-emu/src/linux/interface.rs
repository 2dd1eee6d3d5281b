//! An interface of the host: what the kernel says of it, and why it cannot be an end of the link.

use super::error::{Refused, in_words};
use super::netlink::{Link, Netlink};
use super::system;
use nix::ifaddrs::getifaddrs;
use nix::net::if_::{if_indextoname, if_nametoindex};
use sojourn_base::Bytes;
use std::fs;
use std::io;
use std::net::IpAddr;

/// An interface of the network namespace of the thread that looked.
#[derive(Clone, Debug)]
pub(super) struct Interface {
    pub(super) name: String,
    pub(super) index: u32,
    pub(super) link: Link,
    /// Configured addresses, without those that IPv6 derives by itself.
    addresses: Vec<IpAddr>,
    has_default_route: bool,
    joins_in_hardware: bool,
}

impl Interface {
    /// Looks at the interface of this name, which may be one of its other names.
    pub(super) fn find(netlink: &Netlink, name: &str) -> Result<Self, Refused> {
        let missing = || Refused::usage(format!("there is no interface {name}"), "ip link lists them");
        let index = if_nametoindex(name).map_err(|_| missing())?;
        let link = netlink.link(index).map_err(|_| missing())?;
        // The kernel's tables have the first of its names.
        let name = if_indextoname(index).map_err(|_| missing())?;
        let name = name.to_string_lossy().into_owned();
        let unknown = |error: io::Error| {
            let message = format!("cannot read the uses of {name}: {}", in_words(&error));
            Refused::failure(message, "")
        };
        let addresses = addresses(&name).map_err(unknown)?;
        let has_default_route = leads_out(&name, &routes("route"), &routes("ipv6_route"));
        Ok(Self { index, link, addresses, has_default_route, joins_in_hardware: system::joins_received(&name), name })
    }

    /// Returns why it cannot be an end of a link for packets of this length. `take`: the user accepts what the
    /// interface loses.
    pub(super) fn refusal(&self, longest: Bytes, take: bool) -> Option<Refused> {
        let name = &self.name;
        if self.link.kind != libc::ARPHRD_ETHER {
            return Some(Refused::usage(
                format!("{name} is no Ethernet interface"),
                "--between takes two of them; ip link shows link/ether",
            ));
        }
        if Bytes(self.link.mtu.into()) < longest {
            return Some(Refused::usage(
                format!("packets of {longest} do not pass {name}, whose MTU is {} B", self.link.mtu),
                format!("--set emulate.mtu={}B, or ip link set {name} mtu {}", self.link.mtu, longest.0),
            ));
        }
        if self.joins_in_hardware {
            return Some(Refused::usage(
                format!("{name} joins packets in its hardware, and they cannot be cut apart again"),
                format!("ethtool -K {name} lro off"),
            ));
        }
        let loses = if self.link.master != 0 {
            "is part of a bridge or bond".to_owned()
        } else if let Some(address) = self.addresses.first() {
            format!("has the address {address}")
        } else if self.has_default_route {
            "is where the default route leads".to_owned()
        } else {
            return None;
        };
        (!take).then(|| {
            Refused::usage(
                format!("{name} {loses}, and the host would lose that"),
                "take it out of use first, or add --take; it is not given back",
            )
        })
    }
}

/// A table of routes of the network namespace of the calling thread; empty if the kernel was built without it.
fn routes(table: &str) -> String {
    let text = fs::read_to_string(format!("/proc/thread-self/net/{table}"));
    text.unwrap_or_default()
}

/// Addresses of an interface, without those that are of its link alone.
fn addresses(name: &str) -> io::Result<Vec<IpAddr>> {
    let all = getifaddrs()?.filter(|one| one.interface_name == name);
    let known = all.filter_map(|one| {
        let address = one.address?;
        if let Some(four) = address.as_sockaddr_in() {
            return Some(IpAddr::V4(four.ip()));
        }
        let six = address.as_sockaddr_in6()?.ip();
        // fe80::/10 (RFC 4291 2.5.6).
        (six.segments()[0] & 0xffc0 != 0xfe80).then_some(IpAddr::V6(six))
    });
    Ok(known.collect())
}

/// Returns true if a default route goes out of an interface, by `/proc/net/route` and `/proc/net/ipv6_route`
/// (proc_pid_net(5)).
fn leads_out(name: &str, four: &str, six: &str) -> bool {
    let is_default_four = |line: &str| {
        let mut words = line.split_whitespace();
        words.next() == Some(name) && words.next() == Some("00000000")
    };
    let is_default_six = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        words.len() == 10 && words[9] == name && words[1] == "00" && words[0].trim_matches('0').is_empty()
    };
    four.lines().any(is_default_four) || six.lines().any(is_default_six)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn interface() -> Interface {
        Interface {
            name: "eth1".to_owned(),
            index: 3,
            link: Link { kind: libc::ARPHRD_ETHER, mtu: 1500, ..Link::default() },
            addresses: Vec::new(),
            has_default_route: false,
            joins_in_hardware: false,
        }
    }

    fn said(interface: &Interface, take: bool) -> Option<String> {
        let refused = interface.refusal(Bytes(1500), take)?;
        assert!(refused.is_usage && !refused.hint.is_empty());
        Some(refused.message)
    }

    #[test]
    fn what_the_host_would_lose_is_refused_unless_it_is_taken() {
        assert_eq!(said(&interface(), false), None);
        let mut bridged = interface();
        bridged.link.master = 7;
        let mut addressed = interface();
        addressed.addresses = vec!["192.0.2.1".parse().unwrap()];
        let mut routed = interface();
        routed.has_default_route = true;
        for (one, sentence) in [
            (bridged, "eth1 is part of a bridge or bond, and the host would lose that"),
            (addressed, "eth1 has the address 192.0.2.1, and the host would lose that"),
            (routed, "eth1 is where the default route leads, and the host would lose that"),
        ] {
            assert_eq!(said(&one, false).as_deref(), Some(sentence));
            assert_eq!(said(&one, true), None);
        }
    }

    #[test]
    fn what_cannot_carry_the_frames_is_refused_always() {
        let mut loopback = interface();
        loopback.link.kind = libc::ARPHRD_LOOPBACK;
        assert_eq!(said(&loopback, true).as_deref(), Some("eth1 is no Ethernet interface"));
        let mut short = interface();
        short.link.mtu = 1400;
        let sentence = "packets of 1500 B do not pass eth1, whose MTU is 1400 B";
        assert_eq!(said(&short, true).as_deref(), Some(sentence));
        let mut joining = interface();
        joining.joins_in_hardware = true;
        assert!(said(&joining, true).unwrap().contains("in its hardware"));
    }

    #[test]
    fn a_default_route_is_found_in_the_tables_of_the_kernel() {
        let four = "Iface\tDestination\tGateway\tFlags\n\
                    eth0\t00000000\t0100000A\t0003\neth1\t0000000A\t00000000\t0001\n";
        assert!(leads_out("eth0", four, ""));
        assert!(!leads_out("eth1", four, ""));
        let zero = "0".repeat(32);
        let six = |length: &str, name: &str| {
            format!("{zero} {length} {zero} 00 {zero} 00000400 00000001 00000000 00000003 {name}\n")
        };
        assert!(leads_out("eth1", four, &six("00", "eth1")));
        assert!(!leads_out("eth1", four, &six("40", "eth1")));
        assert!(!leads_out("eth1", four, &six("00", "lo")));
    }
}
