//! Random numbers of libraries that ask the system for them: its generator is replaced by one with a seed.
//!
//! `rand` asks it for connection IDs, tokens, the length of a reserved transport parameter, and the cycle of gains of BBR (quinn-proto 0.11
//! and s2n-quic 1.91, `rand::rng()`). Keys of TLS come from elsewhere (ring and aws-lc ask the kernel); they have one length, and decide
//! nothing.

use std::sync::atomic::{AtomicU64, Ordering};

#[cfg(not(getrandom_backend = "custom"))]
compile_error!("build this crate in its own folder: .cargo/config.toml there chooses the generator of random numbers");

static STATE: AtomicU64 = AtomicU64::new(0);

/// The first end of the process decides the numbers of all: one process makes one run.
pub fn seed(seed: u64) {
    let _ = STATE.compare_exchange(0, seed | 1, Ordering::Relaxed, Ordering::Relaxed);
}

/// SplitMix64 (Steele, Lea, Flood 2014).
pub fn next() -> u64 {
    let mut z = STATE.fetch_add(0x9E37_79B9_7F4A_7C15, Ordering::Relaxed);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// Called by the crate getrandom in place of the system.
///
/// # Safety
/// `place` points to `length` bytes.
#[unsafe(no_mangle)]
unsafe extern "Rust" fn __getrandom_v03_custom(place: *mut u8, length: usize) -> Result<(), getrandom::Error> {
    // SAFETY: as above; zero is a value of every byte.
    let bytes = unsafe {
        place.write_bytes(0, length);
        std::slice::from_raw_parts_mut(place, length)
    };
    for part in bytes.chunks_mut(8) {
        part.copy_from_slice(&next().to_le_bytes()[..part.len()]);
    }
    Ok(())
}
