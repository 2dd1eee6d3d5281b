//! The emulator on Linux: namespaces, devices, priority.
//!
//! | module | content |
//! |---|---|
//! | [`holder`], [`inside`] | the processes that hold the namespaces and run what is inside |
//! | [`session`] | one emulation from its beginning to its end |
//! | [`namespace`], [`netlink`] | users, addresses, routes |
//! | [`tun`], [`tun_port`], `unit` | devices, the ends of the link over them, and what ends read and write |
//! | [`far_port`], [`relay`] | the Internet behind the far end |
//! | [`between`], `interface`, [`packet_port`] | the lab box: two interfaces of the host, and the ends of the link over them |
//! | [`kernel_tcp`] | TCP of the kernel as ends of simulated connections |
//! | [`monotonic`] | the clock |
//! | [`priority`] | real-time priority |
//! | [`mail`] | messages between processes |
//! | [`error`] | what the system refuses, in words |

pub mod between;
pub mod error;
pub mod far_port;
pub mod holder;
pub mod inside;
mod interface;
pub mod kernel_tcp;
pub mod mail;
pub mod monotonic;
pub mod namespace;
pub mod netlink;
pub mod packet_port;
pub mod priority;
pub mod relay;
pub mod session;
mod system;
pub mod tun;
pub mod tun_port;
mod unit;
