//! Properties of any file.
#![expect(clippy::unwrap_used, reason = "a generated file is well-formed")]

use proptest::prelude::*;
use sojourn_provisioning::{Digest, File, Format, Secret, Tlv, Value, check_integrity, diff, examine, seal, text, tlv};

/// Octets that look like a file: known and unknown types, right and wrong lengths.
fn octets() -> impl Strategy<Value = Vec<u8>> {
    let tlv = (any::<prop::sample::Index>(), prop::collection::vec(any::<u8>(), 0..12), 0..20_u8).prop_map(
        |(which, value, slip)| {
            let tops: Vec<u8> = tlv::all().filter(|(path, _)| path.len() == 1).map(|(path, _)| path[0]).collect();
            let mut octets = vec![*which.get(&tops), u8::try_from(value.len()).unwrap()];
            if slip == 0 {
                octets[1] = octets[1].wrapping_add(1);
            }
            octets.extend(value);
            octets
        },
    );
    prop_oneof![
        prop::collection::vec(any::<u8>(), 0..200),
        (prop::collection::vec(tlv, 0..12), any::<bool>()).prop_map(|(tlvs, end)| {
            let mut octets = tlvs.concat();
            octets.extend(end.then_some(255));
            octets
        }),
    ]
}

/// A value of the form that the table gives.
fn value(path: &[u8]) -> BoxedStrategy<Value> {
    let entry = tlv::of(path).unwrap();
    let of = |octets: usize| prop::collection::vec(any::<u8>(), octets).prop_map(Value::Octets).boxed();
    match entry.kind {
        tlv::Kind::Number(octets) => of(octets),
        tlv::Kind::Text => "[ -~]{1,15}".prop_map(|text| Value::Octets(text.into())).boxed(),
        tlv::Kind::TextZ => "[ -~]{1,15}".prop_map(|text| Value::Octets((text + "\0").into())).boxed(),
        tlv::Kind::Hex => of(entry.octets.unwrap_or(5)),
        tlv::Kind::NumberList | tlv::Kind::Mac => of(6),
        tlv::Kind::Ipv4 => of(4),
        tlv::Kind::Ipv6 => of(16),
        tlv::Kind::Aggregate if path == [43] => Just(Value::Octets(vec![8, 3, 0, 1, 2])).boxed(),
        tlv::Kind::Aggregate => prop::collection::vec(below(path), 0..5).prop_map(Value::Tlvs).boxed(),
    }
}

/// A TLV below a path, none of the digests.
fn below(path: &[u8]) -> BoxedStrategy<Tlv> {
    let children: Vec<Vec<u8>> = tlv::all()
        .filter(|(child, _)| child.len() == path.len() + 1 && child.starts_with(path))
        .map(|(child, _)| child.to_vec())
        .filter(|child| ![[6], [7]].map(Vec::from).contains(child))
        .collect();
    prop::sample::select(children)
        .prop_flat_map(|path| value(&path).prop_map(move |value| Tlv { code: *path.last().unwrap(), value, offset: 0 }))
        .boxed()
}

fn file() -> impl Strategy<Value = File> {
    prop::collection::vec(below(&[]), 0..10).prop_map(|tlvs| {
        let mut file = File { tlvs, ..File::default() };
        seal(&mut file, Some(&secret())).unwrap();
        file
    })
}

fn secret() -> Secret {
    Secret::new(b"a secret")
}

fn read(octets: &[u8]) -> File {
    File::read(octets, Format::Docsis31)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn any_octets_come_back_and_so_do_they_through_text(octets in octets()) {
        for format in [Format::Docsis31, Format::Docsis40] {
            let file = File::read(&octets, format);
            prop_assert_eq!(file.octets().unwrap(), octets.clone());
            let text = text::write(&file);
            let again = text::read(&text).unwrap_or_else(|issues| panic!("{text}\n{issues:?}"));
            prop_assert_eq!(again.octets().unwrap(), octets.clone(), "{}", text);
            let _ = examine(&file, Some(&secret()), true);
        }
    }

    #[test]
    fn what_is_built_is_read_as_it_was_built(file in file()) {
        let octets = file.octets().unwrap();
        let again = read(&octets);
        prop_assert_eq!(again.octets().unwrap(), octets);
        prop_assert_eq!(diff(&file, &again), []);
        let integrity = check_integrity(&again, Some(&secret()));
        prop_assert_eq!((integrity.cm_mic, integrity.cmts_mic), (Digest::Good, Digest::Good));
    }

    #[test]
    fn sealing_twice_is_sealing_once_and_any_flipped_bit_before_shows(
        file in file(),
        at in any::<prop::sample::Index>(),
        bit in 0..8_u8,
    ) {
        let mut again = file.clone();
        seal(&mut again, Some(&secret())).unwrap();
        prop_assert_eq!(&again, &file);
        let mut octets = file.octets().unwrap();
        let settings = file.octets().unwrap().len() - 37 - file.tail.len();
        prop_assume!(settings > 0);
        octets[at.index(settings)] ^= 1 << bit;
        let damaged = check_integrity(&read(&octets), Some(&secret()));
        prop_assert_ne!(damaged.cm_mic, Digest::Good);
    }

    #[test]
    fn changing_one_setting_changes_no_other(file in file(), at in any::<prop::sample::Index>()) {
        prop_assume!(file.tlvs.len() > 2);
        let at = at.index(file.tlvs.len() - 2);
        let mut changed = file.clone();
        changed.tlvs[at].value = Value::Octets(vec![1, 2, 3]);
        let (before, after) = (read(&file.octets().unwrap()), read(&changed.octets().unwrap()));
        for (other, (before, after)) in before.tlvs.iter().zip(&after.tlvs).enumerate() {
            if other != at {
                prop_assert_eq!((before.code, &before.value.clone()), (after.code, &strip(&after.value, before)));
            }
        }
    }

    #[test]
    fn any_text_is_a_file_or_has_issues(text in "(\\[\\[tlv\\]\\]|[a-z_]{1,8} = [0-9\"x{}]{0,8}|\n){0,12}") {
        if let Err(issues) = text::read(&text) {
            prop_assert!(!issues.is_empty());
        }
    }
}

/// A value with the offsets of another TLV, which is the same apart from where it stands.
fn strip(value: &Value, like: &Tlv) -> Value {
    match (value, &like.value) {
        (Value::Tlvs(inside), Value::Tlvs(others)) => Value::Tlvs(
            inside
                .iter()
                .zip(others)
                .map(|(tlv, other)| Tlv { code: tlv.code, value: strip(&tlv.value, other), offset: other.offset })
                .collect(),
        ),
        (value, _) => value.clone(),
    }
}
