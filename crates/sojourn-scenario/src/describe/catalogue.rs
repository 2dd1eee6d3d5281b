//! The keys of a scenario file as data.

use sojourn_keys::value::{Shape, Value};
use sojourn_keys::{Choice, Items, Key, KindInfo, Visitor};

/// A key and what belongs to it.
#[derive(Clone, Debug)]
pub(super) enum Entry {
    /// A single value.
    Value {
        key: Key,
        shape: Shape,
        /// The default as TOML.
        default: String,
    },
    /// A table of fixed keys.
    Table { key: Key, entries: Vec<Self> },
    /// A table whose kind decides about its keys.
    Choice {
        key: Key,
        /// The kind without being asked for.
        default: &'static str,
        groups: Vec<Group>,
    },
    /// A list of tables.
    Items { key: Key, entries: Vec<Self> },
}

/// Kinds that have the same keys.
#[derive(Clone, Debug)]
pub(super) struct Group {
    pub(super) kinds: Vec<KindInfo>,
    pub(super) entries: Vec<Entry>,
}

impl Entry {
    pub(super) const fn key(&self) -> &Key {
        match self {
            Self::Value { key, .. } | Self::Table { key, .. } | Self::Choice { key, .. } | Self::Items { key, .. } => {
                key
            }
        }
    }

    /// What makes two lists of keys the same, whatever their defaults.
    fn signature(&self) -> String {
        let inner = match self {
            Self::Value { shape, .. } => format!("{shape:?}"),
            Self::Table { entries, .. } | Self::Items { entries, .. } => signatures(entries),
            Self::Choice { groups, .. } => groups.iter().map(|group| signatures(&group.entries)).collect(),
        };
        format!("({:?} {inner})", self.key())
    }
}

fn signatures(entries: &[Entry]) -> String {
    entries.iter().map(Entry::signature).collect()
}

/// Collects entries.
#[derive(Debug, Default)]
pub(super) struct Catalogue {
    pub(super) entries: Vec<Entry>,
}

impl Visitor for Catalogue {
    fn value(&mut self, key: Key, value: &mut dyn Value) {
        self.entries.push(Entry::Value { key, shape: value.shape(), default: value.print() });
    }

    fn table(&mut self, key: Key, keys: &mut dyn FnMut(&mut dyn Visitor)) {
        let mut inner = Self::default();
        keys(&mut inner);
        self.entries.push(Entry::Table { key, entries: inner.entries });
    }

    fn choice(&mut self, key: Key, choice: &mut dyn Choice) {
        let default = choice.selected();
        let mut groups: Vec<Group> = Vec::new();
        for kind in choice.kinds() {
            choice.select(kind.name, None);
            let mut inner = Self::default();
            choice.keys(&mut inner);
            let same = signatures(&inner.entries);
            let group = groups.iter_mut().find(|group| !inner.entries.is_empty() && signatures(&group.entries) == same);
            match group {
                Some(group) => group.kinds.push(kind),
                None => groups.push(Group { kinds: vec![kind], entries: inner.entries }),
            }
        }
        choice.select(default, None);
        self.entries.push(Entry::Choice { key, default, groups });
    }

    fn items(&mut self, key: Key, items: &mut dyn Items) {
        items.resize(1);
        let mut inner = Self::default();
        items.keys(0, &mut inner);
        items.resize(0);
        self.entries.push(Entry::Items { key, entries: inner.entries });
    }

    fn is_exhaustive(&self) -> bool {
        true
    }
}
