//! Live connections and what an application knows of each.
//!
//! A vector sorted by number: hosts hand out rising numbers, so insertion is a push, look-up a binary
//! search among the few connections that are open, and nothing grows with the length of a run.

use crate::ConnectionId;

/// A map from open connections to `T`.
#[derive(Clone, Debug)]
pub(crate) struct Connections<T> {
    entries: Vec<(ConnectionId, T)>,
}

impl<T> Default for Connections<T> {
    fn default() -> Self {
        Self { entries: Vec::new() }
    }
}

impl<T> Connections<T> {
    /// Add `value`, replacing what the connection had.
    pub(crate) fn insert(&mut self, connection: ConnectionId, value: T) {
        match self.position(connection) {
            Ok(at) => self.entries[at].1 = value,
            Err(at) => self.entries.insert(at, (connection, value)),
        }
    }

    /// Returns the entry of `connection`, if it is open.
    pub(crate) fn get_mut(&mut self, connection: ConnectionId) -> Option<&mut T> {
        let at = self.position(connection).ok()?;
        Some(&mut self.entries[at].1)
    }

    /// Forget `connection`.
    pub(crate) fn remove(&mut self, connection: ConnectionId) -> Option<T> {
        let at = self.position(connection).ok()?;
        Some(self.entries.remove(at).1)
    }

    /// Bytes of the table.
    pub(crate) const fn bytes(&self) -> usize {
        self.entries.capacity() * size_of::<(ConnectionId, T)>()
    }

    /// All open connections in the order of their numbers.
    pub(crate) fn values(&self) -> impl Iterator<Item = &T> {
        self.entries.iter().map(|(_, value)| value)
    }

    /// All open connections in the order of their numbers, to change what is known of them.
    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = (ConnectionId, &mut T)> {
        self.entries.iter_mut().map(|(id, value)| (*id, value))
    }

    /// Forget those that are unwanted, and tell which they were.
    pub(crate) fn remove_where(&mut self, unwanted: impl Fn(&T) -> bool) -> Vec<ConnectionId> {
        let gone = self.entries.extract_if(.., |(_, value)| unwanted(value));
        gone.map(|(id, _)| id).collect()
    }

    fn position(&self, connection: ConnectionId) -> Result<usize, usize> {
        // The newest connection is by far the most frequent one to be added.
        if self.entries.last().is_none_or(|(id, _)| *id < connection) {
            return Err(self.entries.len());
        }
        self.entries.binary_search_by_key(&connection, |(id, _)| *id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_are_found_in_any_order_of_their_numbers() {
        let mut open = Connections::default();
        for id in [7, 3, 12, 5] {
            open.insert(ConnectionId(id), id * 10);
        }
        assert_eq!(open.values().copied().collect::<Vec<_>>(), [30, 50, 70, 120]);
        assert_eq!(open.remove(ConnectionId(5)), Some(50));
        assert_eq!(open.get_mut(ConnectionId(5)), None);
        assert_eq!(open.get_mut(ConnectionId(12)), Some(&mut 120));
        open.insert(ConnectionId(3), 1);
        assert_eq!(open.values().copied().collect::<Vec<_>>(), [1, 70, 120]);
    }
}
