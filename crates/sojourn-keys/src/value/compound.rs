//! Values made of others: words of an enumeration, a value or a word, one value or a list.

use alloc::borrow::ToOwned as _;
use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;
use core::cmp::Ordering;

use sojourn_base::{Direction, Ecn};

use super::{Mismatch, Shape, Value, quoted, shown};
use crate::content::Content;
use crate::key::{DESCRIBES, Key};
use crate::nearest::nearest;

/// One word of an enumeration.
#[derive(Debug)]
pub struct Word<T: 'static> {
    /// As it is written.
    pub name: &'static str,
    /// Value of the word.
    pub value: T,
    /// Meaning, in a line.
    pub about: &'static str,
}

/// An enumeration whose values are words.
#[derive(Debug)]
pub struct Words<'a, T: 'static> {
    /// The value.
    pub value: &'a mut T,
    /// All words.
    pub words: &'static [Word<T>],
}

/// An enumeration whose values are words, declared by [`words!`](crate::words).
pub trait Worded: Copy + PartialEq + 'static {
    /// All words.
    const WORDS: &'static [Word<Self>];
}

impl Worded for Direction {
    const WORDS: &'static [Word<Self>] = &[
        Word { name: Self::Upstream.as_str(), value: Self::Upstream, about: "from the subscriber" },
        Word { name: Self::Downstream.as_str(), value: Self::Downstream, about: "to the subscriber" },
    ];
}

impl Worded for Ecn {
    const WORDS: &'static [Word<Self>] = &[
        Word { name: "not-ect", value: Self::NotEct, about: "not ECN-capable" },
        Word { name: "ect0", value: Self::Ect0, about: "ECN-capable, classic" },
        Word { name: "ect1", value: Self::Ect1, about: "ECN-capable, L4S (RFC 9331)" },
        Word { name: "ce", value: Self::Ce, about: "marked before it enters the access link" },
    ];
}

impl<T: Worded> Value for T {
    fn read(&mut self, content: &Content, key: &Key) -> Result<(), Mismatch> {
        let words = T::WORDS;
        Words { value: self, words }.read(content, key)
    }

    fn print(&self) -> String {
        let mut value = *self;
        let words = T::WORDS;
        Words { value: &mut value, words }.print()
    }

    fn shape(&self) -> Shape {
        let mut value = *self;
        let words = T::WORDS;
        Words { value: &mut value, words }.shape()
    }

    fn compare(&self, _bound: &str) -> Option<Ordering> {
        None
    }
}

impl<T: Copy + PartialEq> Value for Words<'_, T> {
    fn read(&mut self, content: &Content, _key: &Key) -> Result<(), Mismatch> {
        let name = |place: usize| self.words.get(place).map(|word| word.name);
        let place = read_word(content, &name)?;
        *self.value = self.words[place].value;
        Ok(())
    }

    fn print(&self) -> String {
        let word = self.words.iter().find(|word| word.value == *self.value);
        quoted(word.map_or("", |word| word.name))
    }

    fn shape(&self) -> Shape {
        if !DESCRIBES {
            return Shape::Text;
        }
        Shape::Words(self.words.iter().map(|word| (word.name, word.about)).collect())
    }

    fn compare(&self, _bound: &str) -> Option<Ordering> {
        None
    }
}

/// Which of the words of these names stands there. There are dozens of kinds of words, and this is the same for all.
fn read_word(content: &Content, name: &dyn Fn(usize) -> Option<&'static str>) -> Result<usize, Mismatch> {
    let mut names = (0..).map_while(name);
    let Content::Text(text) = content else {
        let example = name(0).unwrap_or_default();
        return Err(Mismatch::kind(content, "a word", &quoted(example)));
    };
    let found = names.position(|name| name == text);
    found.ok_or_else(|| unknown_word(text, (0..).map_while(name)))
}

/// `text` is none of the `known` words.
pub fn unknown_word<'a>(text: &str, known: impl Iterator<Item = &'a str> + Clone) -> Mismatch {
    let hint = if let Some(near) = nearest(text, known.clone()) {
        format!("did you mean {}?", quoted(near))
    } else {
        let list: Vec<String> = known.map(quoted).collect();
        match list.as_slice() {
            [one] => format!("the only one is {one}"),
            list => format!("known are {}", list.join(", ")),
        }
    };
    Mismatch::new(format!("{} is not known here", shown(text)), hint)
}

/// A value, or the word that stands for its absence.
#[derive(Debug)]
pub struct Or<'a, T> {
    /// The value, if there is one.
    pub value: &'a mut Option<T>,
    /// The word, for instance `off` or `unlimited`.
    pub word: &'static str,
}

impl<T: Value + Default> Value for Or<'_, T> {
    fn read(&mut self, content: &Content, key: &Key) -> Result<(), Mismatch> {
        if matches!(content, Content::Text(text) if text == self.word) {
            *self.value = None;
            return Ok(());
        }
        let mut inner = T::default();
        inner.read(content, key).map_err(|mut mismatch| {
            mismatch.hint = format!("{}, or \"{}\"", mismatch.hint, self.word);
            mismatch
        })?;
        *self.value = Some(inner);
        Ok(())
    }

    fn print(&self) -> String {
        self.value.as_ref().map_or_else(|| quoted(self.word), Value::print)
    }

    fn shape(&self) -> Shape {
        Shape::WordOr(self.word, Box::new(T::default().shape()))
    }

    fn compare(&self, bound: &str) -> Option<Ordering> {
        self.value.as_ref()?.compare(bound)
    }
}

/// Most items of a list. chosen: above any list a person writes, below what slows the checks.
const LONGEST_LIST: usize = 10_000;

/// One value, or a list of them; never empty.
#[derive(Debug)]
pub struct OneOrMany<'a, T> {
    /// The values.
    pub values: &'a mut Vec<T>,
}

impl<T: Value + Default> Value for OneOrMany<'_, T> {
    fn read(&mut self, content: &Content, key: &Key) -> Result<(), Mismatch> {
        let items = match content {
            Content::List(items) => items.iter().map(|item| &item.content).collect(),
            single => vec![single],
        };
        if items.is_empty() || items.len() > LONGEST_LIST {
            return Err(Mismatch::new(
                format!("a list of {} values", items.len()),
                format!("one value, or a list of 1 to {LONGEST_LIST}"),
            ));
        }
        let mut values = Vec::with_capacity(items.len());
        for item in items {
            let mut value = T::default();
            value.read(item, key)?;
            values.push(value);
        }
        *self.values = values;
        Ok(())
    }

    fn print(&self) -> String {
        match self.values.as_slice() {
            [one] => one.print(),
            many => print_list(many),
        }
    }

    fn shape(&self) -> Shape {
        Shape::OneOrMany(Box::new(T::default().shape()))
    }

    fn compare(&self, _bound: &str) -> Option<Ordering> {
        None
    }

    fn check(&self, key: &Key) -> Result<(), Mismatch> {
        self.values.iter().try_for_each(|value| value.check(key))
    }
}

/// A list of values, possibly empty.
#[derive(Debug)]
pub struct ListOf<'a, T> {
    /// The values.
    pub values: &'a mut Vec<T>,
}

impl<T: Value + Default> Value for ListOf<'_, T> {
    fn read(&mut self, content: &Content, key: &Key) -> Result<(), Mismatch> {
        if let Content::List(items) = content
            && items.is_empty()
        {
            self.values.clear();
            return Ok(());
        }
        let Content::List(_) = content else {
            let example = match key.example {
                "" => format!("[{}]", T::default().print()),
                example => example.to_owned(),
            };
            return Err(Mismatch::kind(content, "a list", &example));
        };
        OneOrMany { values: self.values }.read(content, key)
    }

    fn print(&self) -> String {
        print_list(self.values)
    }

    fn shape(&self) -> Shape {
        Shape::List(Box::new(T::default().shape()))
    }

    fn compare(&self, _bound: &str) -> Option<Ordering> {
        None
    }

    fn check(&self, key: &Key) -> Result<(), Mismatch> {
        self.values.iter().try_for_each(|value| value.check(key))
    }
}

fn print_list<T: Value>(values: &[T]) -> String {
    let items: Vec<String> = values.iter().map(Value::print).collect();
    format!("[{}]", items.join(", "))
}
