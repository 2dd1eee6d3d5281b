//! Sets up the holder's namespaces: users, devices, addresses, routes, buffers.

use super::netlink::{Netlink, RouteKind, RouteMetrics};
use super::tun::{self, Superpackets};
use crate::plan::FarEnd;
use nix::net::if_::if_nametoindex;
use nix::sched::{CloneFlags, unshare};
use std::fs;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::os::fd::OwnedFd;

/// Name of the device of COMMAND's side.
pub const INSIDE_DEVICE: &str = "sub0";
/// Name of the device of the far side.
pub const FAR_DEVICE: &str = "far0";
/// Places of a device's ring. chosen: 64 KiB superpackets for 250 MB, or 6 MB of single packets, between two passes.
const RING: u32 = 4096;

/// Configuration of both ends.
#[derive(Clone, Debug)]
pub struct Setup {
    /// Far addresses.
    pub far_count: u8,
    /// Bytes of the longest IP packet.
    pub mtu: u32,
    /// Controller and ECN of connections inside.
    pub inside: RouteMetrics,
    /// Those of the far end.
    pub far: RouteMetrics,
    /// Largest send and receive buffer of a connection, in bytes.
    pub buffer: u64,
    /// True if the far end stands for the Internet, too.
    pub internet: bool,
    /// Superpackets of the device inside, and of the far one.
    pub superpackets: (Superpackets, Superpackets),
}

/// A step that failed, by its name, with the number of the system's error.
pub type Failed = (&'static str, i32);

pub(super) fn named(step: &'static str) -> impl FnOnce(io::Error) -> Failed {
    move |error| (step, error.raw_os_error().unwrap_or(libc::EIO))
}

pub(super) fn number(step: &'static str) -> impl FnOnce(nix::Error) -> Failed {
    move |error| (step, error as i32)
}

/// Enters new namespaces of users (unless the caller is root), mounts and network, as their root.
pub fn enter(uid: u32, gid: u32) -> Result<(), Failed> {
    let flags = CloneFlags::CLONE_NEWNET | CloneFlags::CLONE_NEWNS;
    if uid == 0 {
        return unshare(flags).map_err(number("namespaces"));
    }
    unshare(flags | CloneFlags::CLONE_NEWUSER).map_err(number("namespaces"))?;
    map_user((0, uid), (0, gid)).map_err(named("map"))
}

/// Maps one user and one group into the user namespace that the caller has just made.
pub(super) fn map_user(user: (u32, u32), group: (u32, u32)) -> io::Result<()> {
    fs::write("/proc/self/setgroups", "deny")?;
    fs::write("/proc/self/uid_map", format!("{} {} 1", user.0, user.1))?;
    fs::write("/proc/self/gid_map", format!("{} {} 1", group.0, group.1))
}

/// Makes the far end in the namespace that the caller is in.
pub fn make_far(setup: &Setup) -> Result<(OwnedFd, Superpackets), Failed> {
    let (device, offload) = tun::open(FAR_DEVICE, setup.superpackets.1).map_err(named("tun"))?;
    let (netlink, index) = prepare(FAR_DEVICE, setup)?;
    for far in 0..setup.far_count {
        let (four, six) = FarEnd::addresses(far);
        give(&netlink, index, four, six)?;
    }
    let (four, six) = FarEnd::INSIDE;
    to(&netlink, index, (four.into(), 32), &setup.far)?;
    without_ipv6(to(&netlink, index, (six.into(), 128), &setup.far))?;
    if setup.internet {
        let loopback = if_nametoindex("lo").map_err(number("loopback"))?;
        let everything = |any: IpAddr| {
            let metrics = RouteMetrics::default();
            let added = netlink.add_route(loopback, (any, 0), RouteKind::Local, &metrics);
            added.map_err(named("routes"))
        };
        everything(Ipv4Addr::UNSPECIFIED.into())?;
        without_ipv6(everything(Ipv6Addr::UNSPECIFIED.into()))?;
    }
    Ok((device, offload))
}

/// Makes the end of COMMAND in the namespace that the caller is in.
pub fn make_inside(setup: &Setup) -> Result<(OwnedFd, Superpackets), Failed> {
    let (device, offload) = tun::open(INSIDE_DEVICE, setup.superpackets.0).map_err(named("tun"))?;
    let (netlink, index) = prepare(INSIDE_DEVICE, setup)?;
    let (four, six) = FarEnd::INSIDE;
    give(&netlink, index, four, six)?;
    let everything = (Ipv4Addr::UNSPECIFIED.into(), 0);
    to(&netlink, index, everything, &setup.inside)?;
    let everything = (Ipv6Addr::UNSPECIFIED.into(), 0);
    without_ipv6(to(&netlink, index, everything, &setup.inside))?;
    Ok((device, offload))
}

/// Switches loopback and device on and sets what holds for the whole namespace.
fn prepare(device: &str, setup: &Setup) -> Result<(Netlink, u32), Failed> {
    // IPv6 sends no router solicitations and makes no address of its own: the link carries COMMAND's packets alone.
    let _ = fs::write(format!("/proc/sys/net/ipv6/conf/{device}/addr_gen_mode"), "1");
    let _ = fs::write(format!("/proc/sys/net/ipv6/conf/{device}/accept_ra"), "0");
    // If the kernel's settings may not be written (a container's /proc), its own buffers remain.
    let least = (setup.buffer / 8).clamp(16_384, 131_072);
    let sizes = format!("4096 {least} {}", setup.buffer.max(least));
    let _ = fs::write("/proc/sys/net/ipv4/tcp_rmem", &sizes);
    let _ = fs::write("/proc/sys/net/ipv4/tcp_wmem", &sizes);
    // Any user's ping, as on most distributions.
    let _ = fs::write("/proc/sys/net/ipv4/ping_group_range", "0 0");
    let netlink = Netlink::open().map_err(named("netlink"))?;
    let loopback = if_nametoindex("lo").map_err(number("loopback"))?;
    netlink.set_up(loopback, None, None).map_err(named("loopback"))?;
    let index = if_nametoindex(device).map_err(number("device"))?;
    netlink.set_up(index, Some(setup.mtu), Some(RING)).map_err(named("device"))?;
    netlink.without_queue(index).map_err(named("queue"))?;
    Ok((netlink, index))
}

fn give(netlink: &Netlink, index: u32, four: Ipv4Addr, six: Ipv6Addr) -> Result<(), Failed> {
    netlink.add_address(index, four.into(), 32).map_err(named("addresses"))?;
    without_ipv6(netlink.add_address(index, six.into(), 128).map_err(named("addresses")))
}

fn to(netlink: &Netlink, index: u32, destination: (IpAddr, u8), metrics: &RouteMetrics) -> Result<(), Failed> {
    let kind = RouteKind::Unicast;
    let plain = RouteMetrics::default();
    let added = netlink.add_route(index, destination, kind, metrics);
    added.map_err(|error| {
        let possible = netlink.add_route(index, destination, kind, &plain).is_ok();
        if possible && metrics.congestion_control.is_some() {
            return ("congestion control", libc::EINVAL);
        }
        named("routes")(error)
    })
}

/// A kernel without IPv6 is one on which there is none inside.
fn without_ipv6(result: Result<(), Failed>) -> Result<(), Failed> {
    match result {
        Err((_, libc::EAFNOSUPPORT | libc::EOPNOTSUPP | libc::EACCES | libc::EINVAL)) => Ok(()),
        other => other,
    }
}
