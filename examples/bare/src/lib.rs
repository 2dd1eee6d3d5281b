//! A queue manager in a program without `std`: it needs a context of three methods, and an allocator.
#![cfg_attr(not(test), no_std)]

extern crate alloc;

use alloc::vec::Vec;
use sojourn_base::{Instant, Limit, Meta, PacketHandle, Packets, Reason, Span};
use sojourn_queue::{DropTailConfig, Held, ManagerConfig, QueueContext};

/// Fate of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// Left the queue.
    Sent(u64),
    /// Did not.
    Dropped(u64, Reason),
    /// There was nothing to send.
    Nothing,
}

/// The least that a queue manager asks of its surroundings.
#[derive(Default)]
pub struct Minimal {
    /// Fates of packets so far, in order.
    pub fates: Vec<Fate>,
}

impl QueueContext for Minimal {
    fn dropped(&mut self, packet: Held, reason: Reason) {
        self.fates.push(Fate::Dropped(packet.item.0, reason));
    }

    fn marked(&mut self, _: &Held, _: Reason) {}

    fn unit(&mut self) -> f64 {
        0.5 // a manager that draws wants random numbers here
    }
}

/// A buffer of two packets, three arrivals within 200 ns, and three chances to send.
pub fn three_packets() -> Vec<Fate> {
    let mut context = Minimal::default();
    let mut queue = ManagerConfig::from(DropTailConfig {
        limit: Limit::Packets(Packets(2)),
        ..DropTailConfig::bytes(0)
    })
    .build();
    let meta = Meta {
        length: 1500,
        ..Meta::default()
    };
    for packet in 1..=3 {
        let now = Instant::ZERO + Span::from_ns(100 * (packet - 1));
        let _ = queue.enqueue(now, meta, PacketHandle(packet), &mut context);
    }
    for millisecond in 1..=3 {
        let next = queue.dequeue(Instant::from_ms(millisecond), &mut context);
        let fate = next.map_or(Fate::Nothing, |held| Fate::Sent(held.item.0));
        context.fates.push(fate);
    }
    assert!(queue.backlog().packets.0 == 0 && queue.backlog().bytes.0 == 0);
    context.fates
}

/// How many fates there are; called from outside.
#[unsafe(no_mangle)]
pub extern "C" fn fates() -> usize {
    three_packets().len()
}

/// Allocator and panic handler of a system. `std` brings both, so this does not link if a dependency needs `std`.
#[cfg(all(target_arch = "wasm32", not(test)))]
mod system {
    use core::alloc::{GlobalAlloc, Layout};
    use core::sync::atomic::{AtomicUsize, Ordering};

    const ROOM: usize = 1 << 20;

    /// Memory that is handed out and never taken back.
    #[repr(align(64))]
    struct Room(core::cell::UnsafeCell<[u8; ROOM]>, AtomicUsize);

    // SAFETY: parts of the memory are handed out once each.
    unsafe impl Sync for Room {}

    // SAFETY: each answer is aligned, within the room, and overlaps no other; or null.
    unsafe impl GlobalAlloc for Room {
        unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
            let size = layout.size() + layout.align();
            let start = self.1.fetch_add(size, Ordering::Relaxed);
            if start + size > ROOM {
                return core::ptr::null_mut();
            }
            let at = start.next_multiple_of(layout.align());
            self.0.get().cast::<u8>().wrapping_add(at)
        }

        unsafe fn dealloc(&self, _: *mut u8, _: Layout) {}
    }

    #[global_allocator]
    static MEMORY: Room = Room(core::cell::UnsafeCell::new([0; ROOM]), AtomicUsize::new(0));

    #[panic_handler]
    fn stop(_: &core::panic::PanicInfo<'_>) -> ! {
        loop {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_third_packet_finds_the_buffer_full() {
        assert_eq!(
            three_packets(),
            [
                Fate::Dropped(3, Reason::Overlimit),
                Fate::Sent(1),
                Fate::Sent(2),
                Fate::Nothing,
            ]
        );
    }
}
