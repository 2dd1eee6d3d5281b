//! The file form of a configuration, declared once and walked by everybody who needs it.
//!
//! A configuration's keys are declared by a function that shows each of them, with its value, to a
//! [`Visitor`]. The reader takes values from a file, the printer writes them, the catalogue describes
//! them for the JSON schema and the reference page. None of them can miss a key or name it otherwise.
//!
//! Source: none. Deviations: none known.

use crate::value::Value;

/// A key of a table.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Key {
    pub(crate) name: &'static str,
    /// What it means, in a line.
    pub(crate) about: &'static str,
    /// Where its default or its meaning comes from.
    pub(crate) origin: &'static str,
    /// It has no default: a table without a profile must have it.
    pub(crate) required: bool,
    /// Whether it is required depends on other keys.
    pub(crate) conditional: bool,
    /// The least allowed value as written in a file; empty for none.
    pub(crate) least: &'static str,
    /// The greatest allowed value as written in a file; empty for none.
    pub(crate) most: &'static str,
    /// The unit that hints suggest; empty for the usual one of the type.
    pub(crate) unit: &'static str,
    /// An example for the hint when a required key is missing, as TOML.
    pub(crate) example: &'static str,
}

/// A key with a default.
pub(crate) const fn key(name: &'static str, about: &'static str, origin: &'static str) -> Key {
    Key {
        name,
        about,
        origin,
        required: false,
        conditional: false,
        least: "",
        most: "",
        unit: "",
        example: "",
    }
}

impl Key {
    /// It must be written; `example` is a value as TOML.
    pub(crate) const fn required(mut self, example: &'static str) -> Self {
        self.required = true;
        self.example = example;
        self
    }

    /// It must be written in some cases, which its meaning names, and makes no sense in others.
    pub(crate) const fn conditional(mut self) -> Self {
        self.conditional = true;
        self
    }

    /// Its value must not be below `least`.
    pub(crate) const fn least(mut self, least: &'static str) -> Self {
        self.least = least;
        self
    }

    /// Its value must not be above `most`.
    pub(crate) const fn most(mut self, most: &'static str) -> Self {
        self.most = most;
        self
    }

    /// Hints suggest this unit.
    pub(crate) const fn unit(mut self, unit: &'static str) -> Self {
        self.unit = unit;
        self
    }
}

/// Somebody who is shown the keys of a configuration, in the order of the canonical print.
pub(crate) trait Visitor {
    /// A key with a single value.
    fn value(&mut self, key: Key, value: &mut dyn Value);
    /// A key with a table of fixed keys, which `keys` shows.
    fn table(&mut self, key: Key, keys: &mut dyn FnMut(&mut dyn Visitor));
    /// A key with a table whose `kind` decides about its other keys.
    fn choice(&mut self, key: Key, choice: &mut dyn Choice);
    /// A key with a list of tables.
    fn items(&mut self, key: Key, items: &mut dyn Items);
    /// Whether keys that only some values of other keys allow are to be shown all the same.
    fn is_exhaustive(&self) -> bool {
        false
    }
    /// Whether the file has this key in the present table.
    fn has(&self, name: &str) -> bool {
        let _ = name;
        false
    }
}

/// A kind of something, as it is described.
#[derive(Clone, Debug)]
pub(crate) struct KindInfo {
    pub(crate) name: &'static str,
    pub(crate) about: &'static str,
    /// Names and meanings of its profiles.
    pub(crate) profiles: Vec<(&'static str, &'static str)>,
}

/// A value that is one of several kinds.
pub(crate) trait Choice {
    /// All kinds.
    fn kinds(&self) -> Vec<KindInfo>;
    /// Name of the present kind.
    fn selected(&self) -> &'static str;
    /// Becomes `kind` with the values of `profile`, or with the kind's defaults; unknown names change
    /// nothing.
    fn select(&mut self, kind: &str, profile: Option<&str>);
    /// Shows the keys of the present kind.
    fn keys(&mut self, visitor: &mut dyn Visitor);
}

/// Tables in a list.
pub(crate) trait Items {
    /// How many there are.
    fn count(&self) -> usize;
    /// Makes them `count`, new ones with defaults.
    fn resize(&mut self, count: usize);
    /// Shows the keys of one of them.
    fn keys(&mut self, index: usize, visitor: &mut dyn Visitor);
}

/// One kind of `T`, with its keys.
pub(crate) struct Kind<T: 'static> {
    pub(crate) name: &'static str,
    pub(crate) about: &'static str,
    /// The defaults; the values of required keys do not matter.
    pub(crate) base: fn() -> T,
    pub(crate) profiles: &'static [Profile<T>],
    /// Shows the keys of a value of this kind, and none of any other.
    pub(crate) keys: fn(&mut T, &mut dyn Visitor),
}

/// A named, complete set of values.
pub(crate) struct Profile<T: 'static> {
    pub(crate) name: &'static str,
    pub(crate) about: &'static str,
    pub(crate) values: fn() -> T,
}

/// [`Choice`] among the variants of an enum.
pub(crate) struct OneOf<'a, T: 'static> {
    pub(crate) value: &'a mut T,
    pub(crate) kinds: &'static [Kind<T>],
    pub(crate) selected: fn(&T) -> &'static str,
}

impl<T> OneOf<'_, T> {
    fn kind(&self, name: &str) -> Option<&'static Kind<T>> {
        self.kinds.iter().find(|kind| kind.name == name)
    }
}

impl<T> Choice for OneOf<'_, T> {
    fn kinds(&self) -> Vec<KindInfo> {
        self.kinds
            .iter()
            .map(|kind| KindInfo {
                name: kind.name,
                about: kind.about,
                profiles: kind.profiles.iter().map(|p| (p.name, p.about)).collect(),
            })
            .collect()
    }

    fn selected(&self) -> &'static str {
        (self.selected)(self.value)
    }

    fn select(&mut self, kind: &str, profile: Option<&str>) {
        let Some(kind) = self.kind(kind) else { return };
        let values = profile.and_then(|name| kind.profiles.iter().find(|p| p.name == name));
        *self.value = values.map_or(kind.base, |profile| profile.values)();
    }

    fn keys(&mut self, visitor: &mut dyn Visitor) {
        if let Some(kind) = self.kind(self.selected()) {
            (kind.keys)(self.value, visitor);
        }
    }
}

/// [`Items`] of a vector.
pub(crate) struct ItemsOf<'a, T> {
    pub(crate) items: &'a mut Vec<T>,
    pub(crate) base: fn() -> T,
    pub(crate) keys: fn(&mut T, &mut dyn Visitor),
}

impl<T> Items for ItemsOf<'_, T> {
    fn count(&self) -> usize {
        self.items.len()
    }

    fn resize(&mut self, count: usize) {
        self.items.clear();
        self.items.resize_with(count, self.base);
    }

    fn keys(&mut self, index: usize, visitor: &mut dyn Visitor) {
        (self.keys)(&mut self.items[index], visitor);
    }
}
