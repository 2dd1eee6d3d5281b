//! Parts that all clients of pages share: a page and an object as they begin, and timers that carry a user.

use crate::{Object, Page, number};
use sojourn_base::Instant;

/// Page number `index` of a user, as it begins.
pub(crate) const fn new_page(now: Instant, user: u32, index: u32) -> Page {
    Page { user, index, started_at: now, index_loaded_at: None, ended_at: None, objects: 0, bytes: 0 }
}

/// An object of a page, as it is asked for: its server, its number there, and its size.
pub(crate) const fn new_object(now: Instant, page: &Page, (server, index): (u32, u32), bytes: u64) -> Object {
    Object {
        user: page.user,
        page: page.index,
        server,
        index,
        started_at: now,
        first_byte_at: None,
        ended_at: None,
        bytes,
    }
}

/// Numbers of timers and datagrams, each a user and one of several kinds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tokens {
    /// How many kinds each user has.
    pub(crate) kinds: usize,
}

impl Tokens {
    /// The number of this kind of this user.
    pub(crate) fn of(self, user: usize, kind: usize) -> u32 {
        number(user * self.kinds + kind)
    }

    /// The user and the kind.
    pub(crate) const fn split(self, token: u32) -> (usize, usize) {
        (token as usize / self.kinds, token as usize % self.kinds)
    }
}
