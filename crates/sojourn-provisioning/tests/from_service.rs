//! A service is a file again, and that file is the same service.
#![expect(clippy::unwrap_used, reason = "a file that cannot be read fails the test")]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use sojourn_provisioning::{
    Choices, Docsis, File, Format, Secret, ServiceConfig, Style, Tables, examine, expand, from_service, seal, text,
};

fn tables() -> Tables {
    Tables::read(include_str!("tables.toml")).unwrap()
}

fn secret() -> Secret {
    Secret::new(b"SOJOURN")
}

fn corpus() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus");
    let mut files: Vec<PathBuf> = ["own", "encoder"]
        .iter()
        .flat_map(|folder| fs::read_dir(root.join(folder)).unwrap())
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "cm"))
        .collect();
    files.sort();
    files
}

fn service(file: &File, tables: &Tables) -> Option<ServiceConfig> {
    let choices = Choices { allow_bad_mic: true, ..Choices::default() };
    expand(file, tables, Some(&secret()), choices).service
}

/// The service of the file that a service is written as; `None` if the style cannot say it.
fn again(service_config: &ServiceConfig, style: Style, tables: &Tables) -> Option<ServiceConfig> {
    let mut file = from_service(service_config, style).ok()?;
    seal(&mut file, Some(&secret())).unwrap();
    let octets = file.octets().unwrap();
    let read = File::read(&octets, Format::Docsis31);
    let issues = examine(&read, Some(&secret()), false).issues;
    assert!(!issues.iter().any(sojourn_provisioning::Issue::is_error), "{issues:?}");
    Some(service(&read, tables).expect("what was written expands"))
}

#[test]
fn every_style_that_can_say_a_service_says_the_same_service() {
    let mut said: BTreeMap<&str, usize> = BTreeMap::new();
    let mut services = 0;
    for path in corpus() {
        let file = File::read(&fs::read(&path).unwrap(), Format::Docsis31);
        for (docsis, lld, profiles) in [
            (Docsis::D30, false, true),
            (Docsis::D31, false, true),
            (Docsis::D31, true, true),
            (Docsis::D31, true, false),
        ] {
            let mut tables = tables();
            if !profiles {
                tables = tables.without_profiles();
            }
            tables.cm_docsis = docsis;
            tables.cm_lld = lld;
            let Some(before) = service(&file, &tables) else {
                continue;
            };
            services += 1;
            for style in Style::ALL {
                if let Some(after) = again(&before, style, &tables) {
                    *said.entry(style.word()).or_default() += 1;
                    assert!(before.simulates_as(&after), "{}: {style}\n{before:#?}\n{after:#?}", path.display());
                }
            }
        }
    }
    // Ten are aggregates and eight have further service flows, which only an explicit file says; five come of names alone.
    let expected = BTreeMap::from([("explicit", 120), ("legacy", 102), ("names", 5)]);
    assert_eq!((services, said), (120, expected));
}

#[test]
fn names_are_the_vector_of_names() {
    let tables = Tables::read(
        "[[service_class]]\nname = 'gold-us'\ndirection = 'upstream'\nmax_sustained_rate = '5 Mb/s'\n\
         [[service_class]]\nname = 'gold-ds'\ndirection = 'downstream'\nmax_sustained_rate = '20 Mb/s'\n",
    )
    .unwrap();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus/own/v2-names-only.cm");
    let file = File::read(&fs::read(path).unwrap(), Format::Docsis31);
    let again = from_service(&service(&file, &tables).unwrap(), Style::Names).unwrap();
    // The vector also says how many computers there may be, which is no matter of the service.
    let flows = |file: &File| {
        let tlvs = file.all(24).chain(file.all(25)).cloned().collect();
        File { tlvs, ..File::default() }.octets().unwrap()
    };
    assert_eq!(flows(&again), flows(&file));
}

#[test]
fn rates_above_four_octets_take_a_unit_and_rates_without_one_are_refused() {
    let of = |rate: &str| {
        let tables = Tables::read(&format!(
            "[[service_class]]\nname = 'fast'\ndirection = 'upstream'\nmax_sustained_rate = '{rate}'\n"
        ))
        .unwrap();
        let mut file = text::read(
            "schema = 1\n[[tlv]]\nnetwork_access = 1\n\
             [[tlv]]\n[tlv.upstream_service_flow]\nservice_flow_reference = 1\nqos_parameter_set_type = 7\n\
             service_class_name = 'fast'\n\
             [[tlv]]\n[tlv.downstream_service_flow]\nservice_flow_reference = 2\nqos_parameter_set_type = 7\n",
        )
        .unwrap();
        seal(&mut file, Some(&secret())).unwrap();
        from_service(&service(&file, &tables).unwrap(), Style::Explicit)
    };
    let unit_and_rate = |rate: &str| {
        let file = of(rate).unwrap();
        let flow = file.all(24).next().unwrap().clone();
        (flow.last(41).and_then(sojourn_provisioning::Tlv::number), flow.last(8).unwrap().number())
    };
    assert_eq!(unit_and_rate("4294967295 b/s"), (None, Some(4_294_967_295)));
    assert_eq!(unit_and_rate("5 Gb/s"), (Some(1), Some(5_000_000)));
    let issues = of("4294967297 b/s").unwrap_err();
    assert_eq!((issues[0].code, issues[0].path.as_str()), ("E-STYLE", "24.41"));
}

#[test]
fn a_file_that_forbids_low_latency_stays_one_that_forbids_it() {
    let mut file = text::read(
        "schema = 1\n[[tlv]]\nnetwork_access = 1\nlow_latency_disable = 1\n\
         [[tlv]]\n[tlv.upstream_service_flow]\nservice_flow_reference = 1\nqos_parameter_set_type = 7\n\
         service_class_name = 'tier-20-us'\n\
         [[tlv]]\n[tlv.downstream_service_flow]\nservice_flow_reference = 2\nqos_parameter_set_type = 7\n\
         service_class_name = 'tier-100-ds'\n",
    )
    .unwrap();
    seal(&mut file, Some(&secret())).unwrap();
    let before = service(&file, &tables()).unwrap();
    let after = again(&before, Style::Names, &tables()).expect("names say it");
    assert!(before.simulates_as(&after), "{after:#?}");
}
