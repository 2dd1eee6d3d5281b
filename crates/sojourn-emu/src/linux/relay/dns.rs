//! Names: what is asked of port 53 of the far address is asked of the host's resolver.

use std::net::{IpAddr, SocketAddr};

/// Port of domain names (RFC 1035, 4.2).
pub(super) const PORT: u16 = 53;

/// The resolvers that a `resolv.conf` names, in their order (resolv.conf(5)).
pub(super) fn resolvers(text: &str) -> Vec<SocketAddr> {
    text.lines()
        .filter_map(|line| line.trim().strip_prefix("nameserver"))
        .filter_map(|rest| {
            // A zone, as in fe80::1%eth0, has no meaning for a connected socket without its number.
            rest.trim().parse::<IpAddr>().ok()
        })
        .map(|address| SocketAddr::new(address, PORT))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn resolvers_are_those_of_the_lines_that_name_one() {
        let text =
            "# nameserver 192.0.2.9\nsearch example\nnameserver 192.0.2.53\n nameserver\t2001:db8::53\nnameserver x\n";
        let expected: Vec<SocketAddr> = vec!["192.0.2.53:53".parse().unwrap(), "[2001:db8::53]:53".parse().unwrap()];
        assert_eq!(resolvers(text), expected);
    }
}
