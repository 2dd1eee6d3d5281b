//! The lab box: an emulation between two interfaces of the host, which are moved into a network namespace of its own.
//!
//! So the host's stack never sees their traffic, and no bridge, route or rule of the host changes. No process holds the
//! namespace, only descriptors of this one: when it dies, however it dies, the kernel gives physical interfaces back to
//! the host, and ends virtual ones. When it ends in order, both kinds are given back.

use super::error::{Refused, in_words};
use super::interface::Interface;
use super::netlink::{Link, Netlink};
use super::packet_port::PacketPort;
use crate::port::Ends;
use nix::net::if_::if_nametoindex;
use nix::poll::{PollTimeout, poll};
use nix::sched::{CloneFlags, unshare};
use sojourn_base::Bytes;
use std::fs::{self, File};
use std::io;
use std::os::fd::AsRawFd;
use std::thread;

/// Which interfaces, and what is accepted for them.
#[derive(Clone, Debug)]
pub struct Interfaces {
    /// Names: the inside faces the subscriber.
    pub names: Ends<String>,
    /// True if the interfaces may lose addresses, routes and masters.
    pub take: bool,
}

/// Both interfaces while they are ours.
#[derive(Debug)]
pub struct Between {
    host: Netlink,
    host_namespace: File,
    /// Requests to the namespace in which they are.
    ours: Netlink,
    moved: Vec<Moved>,
}

#[derive(Debug)]
struct Moved {
    name: String,
    index: u32,
    was_up: bool,
}

/// Longest wait for both ends to be connected, in ms. chosen: Ethernet over copper negotiates for some 3 s (IEEE 802.3
/// clause 28).
const CONNECTED_MS: u16 = 8_000;

impl Between {
    /// Takes both interfaces, for packets that are no longer than `longest`.
    ///
    /// # Errors
    /// Why it cannot be, as a sentence: no such interface, one that the host would miss, no right.
    pub fn take(asked: &Interfaces, longest: Bytes) -> Result<(Self, Ends<PacketPort>), Refused> {
        let failed = |error: io::Error| failure(&error);
        let host = Netlink::open().map_err(failed)?;
        let host_namespace = File::open("/proc/thread-self/ns/net").map_err(failed)?;
        let Ends { inside, far } = &asked.names;
        let found = [Interface::find(&host, inside)?, Interface::find(&host, far)?];
        if found[0].index == found[1].index {
            return Err(Refused::usage(format!("both ends are {}", found[0].name), "--between takes two interfaces"));
        }
        for interface in &found {
            if let Some(refused) = interface.refusal(longest, asked.take) {
                return Err(refused);
            }
        }
        // A thread of its own goes into the new namespace: this one stays where it is.
        thread::scope(|scope| {
            let work = scope.spawn(|| enter(host, host_namespace, &found));
            work.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        })
    }
}

fn failure(error: &io::Error) -> Refused {
    match error.raw_os_error() {
        Some(libc::EPERM | libc::EACCES) => Refused::usage(
            "an emulation between two interfaces needs the rights of root",
            "sudo sojourn emulate FILE --between IF_A IF_B",
        ),
        _ => Refused::failure(format!("the interfaces cannot be taken: {}", in_words(error)), ""),
    }
}

/// Makes the namespace, with the calling thread in it, and moves both interfaces there.
fn enter(host: Netlink, host_namespace: File, found: &[Interface]) -> Result<(Between, Ends<PacketPort>), Refused> {
    let failed = |error: io::Error| failure(&error);
    unshare(CloneFlags::CLONE_NEWNET).map_err(|error| failure(&error.into()))?;
    let namespace = File::open("/proc/thread-self/ns/net").map_err(failed)?;
    let mut between = Between { host, host_namespace, ours: Netlink::open().map_err(failed)?, moved: Vec::new() };
    let mut ports = Vec::new();
    for interface in found {
        let host = &between.host;
        host.move_to(interface.index, namespace.as_raw_fd()).map_err(failed)?;
        // It may have got another number on its way.
        let index = if_nametoindex(&*interface.name).map_err(|error| failure(&error.into()))?;
        between.moved.push(Moved { name: interface.name.clone(), index, was_up: interface.link.is_up() });
        // Without an address, the host sends no packets of its own on the wire.
        let _ = fs::write(format!("/proc/sys/net/ipv6/conf/{}/disable_ipv6", interface.name), "1");
        between.ours.set_up(index, None, None).map_err(failed)?;
        ports.push(PacketPort::open(index).map_err(failed)?);
    }
    between.wait_until_connected()?;
    let (far, inside) = (ports.pop(), ports.pop());
    let (Some(inside), Some(far)) = (inside, far) else {
        unreachable!("two interfaces have two ports");
    };
    Ok((between, Ends { inside, far }))
}

impl Between {
    fn wait_until_connected(&self) -> Result<(), Refused> {
        let is_connected = |moved: &Moved| {
            let link = self.ours.link(moved.index);
            link.is_ok_and(Link::is_connected)
        };
        for _ in 0..CONNECTED_MS / 50 {
            if self.moved.iter().all(is_connected) {
                return Ok(());
            }
            let _ = poll(&mut [], PollTimeout::from(50_u16));
        }
        let name = self.moved.iter().find(|moved| !is_connected(moved));
        let name = name.map_or("an interface", |moved| &*moved.name);
        Err(Refused::failure(format!("nothing is connected to {name}"), "plug both cables in first"))
    }
}

/// Gives both back to the host; what fails here, the kernel does when the last descriptor of the namespace is closed.
impl Drop for Between {
    fn drop(&mut self) {
        for moved in &self.moved {
            let host = self.host_namespace.as_raw_fd();
            if self.ours.move_to(moved.index, host).is_err() || !moved.was_up {
                continue;
            }
            if let Ok(index) = self.host.index_of(&moved.name) {
                let _ = self.host.set_up(index, None, None);
            }
        }
    }
}
