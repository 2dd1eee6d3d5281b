//! The keys of a scenario file as data.

use sojourn_keys::value::{Shape, Value, quoted};
use sojourn_keys::{Choice, Items, Key, KindInfo, Visitor};

/// A key and what belongs to it.
#[derive(Clone, Debug)]
pub(super) enum Entry {
    /// A single value.
    Value {
        key: Key,
        shape: Shape,
        /// The default as TOML.
        default: Defaults,
    },
    /// A table of fixed keys.
    Table { key: Key, entries: Vec<Self> },
    /// A table whose kind decides about its keys.
    Choice {
        key: Key,
        /// The kind without being asked for, as TOML.
        default: Defaults,
        groups: Vec<Group>,
    },
    /// A list of tables.
    Items { key: Key, entries: Vec<Self> },
}

/// The default of a key: in a group of kinds, each default with the kinds that have it.
#[derive(Clone, Debug)]
pub(super) struct Defaults(Vec<(String, Vec<&'static str>)>);

impl Defaults {
    fn new(default: String) -> Self {
        Self(vec![(default, Vec::new())])
    }

    /// The defaults and the kinds that have them, in the order of the kinds; no kinds outside of groups.
    pub(super) fn each(&self) -> impl Iterator<Item = (&str, &[&'static str])> {
        self.0.iter().map(|(default, kinds)| (default.as_str(), kinds.as_slice()))
    }

    /// The default of most kinds, and where several are equal of the first of them.
    pub(super) fn usual(&self) -> &str {
        let most = self.0.iter().map(|(_, kinds)| kinds.len()).max();
        let usual = self.0.iter().find(|(_, kinds)| Some(kinds.len()) == most);
        usual.map_or("", |(default, _)| default)
    }

    /// The default that all kinds have.
    pub(super) fn common(&self) -> Option<&str> {
        if let [(default, _)] = self.0.as_slice() { Some(default) } else { None }
    }
}

/// Kinds that have the same keys.
#[derive(Clone, Debug)]
pub(super) struct Group {
    pub(super) kinds: Vec<KindInfo>,
    pub(super) entries: Vec<Entry>,
    /// Signatures of the entries.
    signature: String,
}

impl Entry {
    pub(super) const fn key(&self) -> &Key {
        match self {
            Self::Value { key, .. } | Self::Table { key, .. } | Self::Choice { key, .. } | Self::Items { key, .. } => {
                key
            }
        }
    }

    /// Returns a text that is equal for lists of equal keys, whatever their defaults.
    fn signature(&self) -> String {
        let inner = match self {
            Self::Value { shape, .. } => format!("{shape:?}"),
            Self::Table { entries, .. } | Self::Items { entries, .. } => signatures(entries),
            Self::Choice { groups, .. } => groups.iter().map(|group| group.signature.as_str()).collect(),
        };
        format!("({:?} {inner})", self.key())
    }
}

fn signatures(entries: &[Entry]) -> String {
    entries.iter().map(Entry::signature).collect()
}

/// Says of which kind the defaults of `entries` are.
fn attribute(entries: &mut [Entry], kind: &'static str) {
    for entry in entries {
        match entry {
            Entry::Value { default, .. } | Entry::Choice { default, .. } => {
                default.0.iter_mut().for_each(|(_, kinds)| kinds.push(kind));
            }
            Entry::Table { entries, .. } | Entry::Items { entries, .. } => attribute(entries, kind),
        }
    }
}

/// Adds the defaults of another kind with the same keys.
fn merge(entries: &mut [Entry], others: Vec<Entry>) {
    for (entry, other) in entries.iter_mut().zip(others) {
        match (entry, other) {
            (
                Entry::Value { default, .. } | Entry::Choice { default, .. },
                Entry::Value { default: more, .. } | Entry::Choice { default: more, .. },
            ) => {
                for (value, kinds) in more.0 {
                    match default.0.iter_mut().find(|(known, _)| *known == value) {
                        Some((_, known)) => known.extend(kinds),
                        None => default.0.push((value, kinds)),
                    }
                }
            }
            (
                Entry::Table { entries, .. } | Entry::Items { entries, .. },
                Entry::Table { entries: more, .. } | Entry::Items { entries: more, .. },
            ) => merge(entries, more),
            _ => {}
        }
    }
}

/// Collects entries.
#[derive(Debug, Default)]
pub(super) struct Catalogue {
    pub(super) entries: Vec<Entry>,
}

impl Visitor for Catalogue {
    fn value(&mut self, key: Key, value: &mut dyn Value) {
        let (shape, mut default) = (value.shape(), value.print());
        // Not filled, and an empty one would be refused: the key's meaning says what stands in for it.
        if default == "[]" && !matches!(shape, Shape::List(_)) {
            default.clear();
        }
        self.entries.push(Entry::Value { key, shape, default: Defaults::new(default) });
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
            let mut entries = inner.entries;
            attribute(&mut entries, kind.name);
            let signature = signatures(&entries);
            let group = groups.iter_mut().find(|group| !entries.is_empty() && group.signature == signature);
            match group {
                Some(group) => {
                    group.kinds.push(kind);
                    merge(&mut group.entries, entries);
                }
                None => groups.push(Group { kinds: vec![kind], entries, signature }),
            }
        }
        choice.select(default, None);
        let default = Defaults::new(quoted(default));
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
