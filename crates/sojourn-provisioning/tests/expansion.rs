//! Services of files: the migration table, overrides, defaults, and refusals.
//!
//! `SOJOURN_WRITE_DOCS=1` writes the table into the documentation.
#![expect(clippy::unwrap_used, reason = "a file that cannot be read fails the test")]

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use sojourn_provisioning::{
    AggregateServiceFlow, Choices, Docsis, Expansion, File, Format, Origin, Parameter, Role, Secret, Service, Setting,
    Style, Tables, expand, from_service, seal, text,
};

const TABLES: &str = include_str!("tables.toml");
const DOCUMENT: &str = "../../docs/reference/migration-table.md";

fn tables() -> Tables {
    Tables::read(TABLES).unwrap()
}

fn secret() -> Secret {
    Secret::new(b"SOJOURN")
}

fn corpus(name: &str) -> File {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus").join(name);
    File::read(&fs::read(path).unwrap(), Format::Docsis31)
}

fn written(content: &str) -> File {
    let mut file = text::read(&format!("schema = 1\n[[tlv]]\nnetwork_access = 1\n{content}")).unwrap();
    seal(&mut file, Some(&secret())).unwrap();
    file
}

fn expanded(file: &File, tables: &Tables) -> Expansion {
    expand(file, tables, Some(&secret()), Choices::default())
}

fn codes(expansion: &Expansion) -> Vec<&str> {
    expansion.issues.iter().map(|issue| issue.code).collect()
}

fn upstream(file: &File, tables: &Tables) -> AggregateServiceFlow {
    let expansion = expanded(file, tables);
    match expansion.service.unwrap_or_else(|| panic!("{:?}", expansion.issues)).upstream {
        Service::Aggregate(aggregate) => *aggregate,
        Service::Single(flow) => panic!("one service flow: {flow:?}"),
    }
}

/// Configuration files of the migration table.
const FILES: [(&str, &str); 5] = [
    ("class of service (TLV 4)", "own/class-of-service-100-20.cm"),
    ("plain service flows (24, 25)", "own/plain-100-20.cm"),
    ("service class names", "own/names-100-20.cm"),
    ("aggregate by profile name (70.4, 71.4)", "own/aqp-100-20.cm"),
    ("explicit aggregate (70, 71)", "own/explicit-100-20.cm"),
];

/// Modems of the migration table.
const MODEMS: [(&str, Docsis, bool); 3] =
    [("3.0", Docsis::D30, false), ("3.1", Docsis::D31, false), ("3.1 with LLD", Docsis::D31, true)];

/// Returns the summaries of both directions of a cell.
fn cell(file: &str, docsis: Docsis, lld: bool, profiles: bool) -> [String; 2] {
    let mut tables = if profiles { tables() } else { tables().without_profiles() };
    tables.cm_docsis = docsis;
    tables.cm_lld = lld;
    let expansion = expanded(&corpus(file), &tables);
    if let Some(service) = &expansion.service {
        return [service.upstream.summary(), service.downstream.summary()];
    }
    let errors: Vec<_> = expansion.issues.iter().filter(|issue| issue.is_error()).map(|issue| issue.code).collect();
    let refused = format!("refused: {}", errors.join(", "));
    [refused.clone(), refused]
}

#[test]
fn each_file_gives_each_modem_what_the_migration_table_says() {
    let one = |aqm: &str| [format!("1 SF, {aqm}, 20 Mb/s"), "1 SF, docsis-pie, 100 Mb/s".to_owned()];
    let aggregate = [
        "ASF of classic (docsis-pie) and low-latency (immediate + proactive grants) SF, 20 Mb/s".to_owned(),
        "ASF of classic (docsis-pie) and low-latency (immediate) SF, 100 Mb/s".to_owned(),
    ];
    let unknown =
        ["refused: E-AQP-UNKNOWN, E-AQP-UNKNOWN".to_owned(), "refused: E-AQP-UNKNOWN, E-AQP-UNKNOWN".to_owned()];
    for (kind, file) in FILES {
        for (modem, docsis, lld) in MODEMS {
            for profiles in [false, true] {
                let expected = match (kind, modem, profiles) {
                    ("aggregate by profile name (70.4, 71.4)", _, false) => unknown.clone(),
                    ("service class names" | "aggregate by profile name (70.4, 71.4)", "3.1 with LLD", true)
                    | ("explicit aggregate (70, 71)", "3.1 with LLD", _) => aggregate.clone(),
                    (_, "3.0", _) => one("none"),
                    _ => one("docsis-pie"),
                };
                let found = cell(file, docsis, lld, profiles);
                assert_eq!(found, expected, "{kind}, {modem}, profiles {profiles}");
            }
        }
    }
}

#[test]
fn the_migration_table_of_the_documentation_is_this() {
    let mut page = String::from(
        "# Migration table\n\nWhat a configuration file for 20 Mb/s up and 100 Mb/s down gives to which modem, with and \
         without entries of the same names in the CMTS's table of Aggregate QoS Profiles (White 2019 §5.3). Generated \
         and checked by `cargo test -p sojourn-provisioning --test main expansion` (`SOJOURN_WRITE_DOCS=1` writes it). SF: \
         service flow; ASF: aggregate service flow.\n\n| file | modem | profiles | upstream | downstream |\n|---|---|---|---|---|\n",
    );
    for (kind, file) in FILES {
        for (modem, docsis, lld) in MODEMS {
            for profiles in [false, true] {
                let [up, down] = cell(file, docsis, lld, profiles);
                let present = if profiles { "yes" } else { "no" };
                writeln!(page, "| {kind} | {modem} | {present} | {up} | {down} |").unwrap();
            }
        }
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(DOCUMENT);
    if std::env::var_os("SOJOURN_WRITE_DOCS").is_some() {
        fs::write(&path, &page).unwrap();
    }
    assert_eq!(fs::read_to_string(path).unwrap(), page);
}

#[test]
fn migration_keeps_an_override_and_fills_the_rest_from_the_profile() {
    let aggregate = upstream(&corpus("own/names-with-target.cm"), &tables());
    let leaf = &aggregate.parameters[&Parameter::MaxSustainedRate];
    assert_eq!(leaf.value, Setting::Number(20_000_000));
    assert_eq!(
        leaf.origin,
        Origin::Table { table: "aqp", name: "tier-20-us".into(), key: "max_sustained_rate".into() }
    );
    // Buffer and AQM of the service flow go to the classic one.
    let classic = &aggregate.classic;
    assert_eq!(classic.buffer.as_ref().unwrap().value, Setting::Number(125_000));
    assert_eq!(classic.number(Parameter::ClassicLatencyTarget), Some(15));
    assert_eq!(aggregate.low_latency.number(Parameter::ClassicLatencyTarget), Some(10));
    // Neither of the two is shaped by itself.
    for flow in [classic, &aggregate.low_latency] {
        assert_eq!(flow.number(Parameter::MaxSustainedRate), Some(0));
    }
    let service = expanded(&corpus("own/names-with-target.cm"), &tables()).service.unwrap();
    assert_eq!(service.downstream.rate(), 80_000_000);
}

#[test]
fn an_explicit_aggregate_overrides_its_profile() {
    let aggregate = upstream(&corpus("own/aqp-override.cm"), &tables());
    assert_eq!(aggregate.number(Parameter::MaxSustainedRate), Some(25_000_000));
    assert_eq!(aggregate.number(Parameter::PeakTrafficRate), Some(40_000_000));
    assert_eq!(aggregate.number(Parameter::SchedulingWeight), Some(200));
    assert_eq!(aggregate.number(Parameter::QueueProtection), Some(0));
    assert_eq!(aggregate.number(Parameter::CouplingFactor), Some(20));
    assert_eq!(aggregate.low_latency.number(Parameter::GuaranteedGrantRate), Some(5_000_000));
}

#[test]
fn defaults_are_those_of_the_documents() {
    let aggregate = upstream(&corpus("own/aqp-100-20.cm"), &tables());
    let low = &aggregate.low_latency;
    assert_eq!(low.number(Parameter::ImmediateMaxThreshold), Some(1000));
    assert_eq!(low.number(Parameter::ImmediateRangeExponent), Some(19));
    assert_eq!(aggregate.number(Parameter::QueueProtectionLatencyThreshold), Some(1000));
    assert_eq!(aggregate.number(Parameter::QueueProtectionScoreThreshold), Some(4000));
    assert_eq!(aggregate.number(Parameter::QueueProtectionDrainRateExponent), Some(19));
    // 10 ms at 20 Mb/s are 25,000 B, less than 40,000 B; 100 ms are 250,000 B.
    assert_eq!(low.buffer.as_ref().unwrap().value, Setting::Number(40_000));
    assert_eq!(aggregate.classic.buffer.as_ref().unwrap().value, Setting::Number(250_000));
    // ECT(1), CE and the mark of non-queue-building traffic; not ECT(0), EF or nothing.
    let goes = |tos: u8| aggregate.classifiers.iter().find(|rule| rule.matches(tos)).map(|rule| rule.to);
    for tos in [0b01, 0b11, 0x2a << 2, (0x2a << 2) | 2] {
        assert_eq!(goes(tos), Some(Role::LowLatency), "{tos:#x}");
    }
    for tos in [0, 0b10, 46 << 2] {
        assert_eq!(goes(tos), None, "{tos:#x}");
    }
}

#[test]
fn classifiers_of_the_file_replace_the_default_ones() {
    let file = corpus("encoder/13-low-latency-explicit.cm");
    // Its upstream flow is of a type that this encoder does not know better: UGS.
    assert!(codes(&expanded(&file, &tables())).contains(&"W-LEFT-OUT"));
    let mut text = text::write(&file).replace("scheduling_type = 6", "scheduling_type = 7");
    text = text.lines().filter(|line| !line.contains("_mic")).collect::<Vec<_>>().join("\n");
    let mut file = text::read(&text).unwrap();
    seal(&mut file, Some(&secret())).unwrap();
    let aggregate = upstream(&file, &tables());
    assert_eq!(aggregate.classifiers.len(), 3);
    assert!(aggregate.classifiers.iter().all(|rule| matches!(rule.origin, Origin::File { .. })));
}

#[test]
fn low_latency_downstream_needs_the_modem_unless_it_is_chosen_not_to() {
    let mut tables = tables();
    tables.cm_docsis = Docsis::D30;
    tables.cm_lld = false;
    let choices = Choices { downstream_without_modem: true, ..Choices::default() };
    let expansion = expand(&corpus("own/names-100-20.cm"), &tables, Some(&secret()), choices);
    let service = expansion.service.unwrap();
    assert!(matches!(service.upstream, Service::Single(_)));
    assert!(matches!(service.downstream, Service::Aggregate(_)));
}

#[test]
fn aqm_is_off_where_the_modem_or_the_flow_says_so() {
    for (file, up, down) in
        [("own/aqm-off-in-modem.cm", "none", "docsis-pie"), ("own/histograms.cm", "docsis-pie", "none")]
    {
        let service = expanded(&corpus(file), &tables()).service.unwrap();
        assert!(service.upstream.summary().contains(up), "{}", service.upstream.summary());
        assert!(service.downstream.summary().contains(down), "{}", service.downstream.summary());
    }
    // Default target of the modem: 250 ms at 20 Mb/s.
    let service = expanded(&corpus("own/aqm-off-in-modem.cm"), &tables()).service.unwrap();
    let Service::Single(flow) = service.upstream else { panic!("an aggregate") };
    assert_eq!(flow.buffer.unwrap().value, Setting::Number(625_000));
}

#[test]
fn rates_are_scaled_by_their_unit() {
    let service = expanded(&corpus("own/plain-unit-kilobit.cm"), &tables()).service.unwrap();
    assert_eq!((service.upstream.rate(), service.downstream.rate()), (20_000_000, 2_500_000_000));
}

#[test]
fn names_that_lead_nowhere_are_refused_with_those_that_exist() {
    let expansion = expanded(&corpus("own/v2-names-only.cm"), &tables());
    assert_eq!(expansion.service, None);
    let unknown: Vec<_> = expansion.issues.iter().filter(|issue| issue.code == "E-SCN-UNKNOWN").collect();
    assert_eq!(unknown.len(), 2);
    assert_eq!(unknown[0].hint, "known: tier-20-us, tier-20-us-ll");
}

#[test]
fn a_wrong_mic_is_refused_unless_it_is_allowed_and_then_told() {
    let mut file = corpus("own/plain-100-20.cm");
    file.tlvs.remove(3);
    assert!(expanded(&file, &tables()).service.is_none());
    let choices = Choices { allow_bad_mic: true, ..Choices::default() };
    let expansion = expand(&file, &tables(), Some(&secret()), choices);
    assert!(expansion.service.unwrap().bad_mic);
}

#[test]
fn proactive_grants_above_their_share_are_told() {
    let file = written(
        "[[tlv]]\n[tlv.upstream_service_flow]\nservice_flow_reference = 1\naggregate_service_flow_reference = 1\n\
         scheduling_type = 7\nguaranteed_grant_rate = \"15 Mb/s\"\n[[tlv]]\n[tlv.downstream_service_flow]\n\
         service_flow_reference = 2\nmax_sustained_rate = \"100 Mb/s\"\n[[tlv]]\n[tlv.upstream_aggregate_service_flow]\n\
         aggregate_service_flow_reference = 1\nmax_sustained_rate = \"16 Mb/s\"\n\
         low_latency = { low_latency_service_flow_reference = 1 }\n",
    );
    assert!(codes(&expanded(&file, &tables())).contains(&"W-GGR-HIGH"));
    let mut collapsed = tables();
    collapsed.cm_lld = false;
    assert!(codes(&expanded(&file, &collapsed)).contains(&"W-ASF-COLLAPSED"));
}

/// A service flow as text; `more` are further settings.
fn flow(kind: &str, reference: u8, more: &str) -> String {
    format!(
        "[[tlv]]\n[tlv.{kind}_service_flow]\nservice_flow_reference = {reference}\nmax_sustained_rate = \"9 Mb/s\"\n{more}\n"
    )
}

/// A classifier to a service flow as text.
fn rule(kind: &str, flow: u8, more: &str) -> String {
    format!(
        "[[tlv]]\n[tlv.{kind}_classifier]\nclassifier_reference = {flow}\nservice_flow_reference = {flow}\n{more}\n"
    )
}

#[test]
fn what_a_modem_is_not_simulated_with_is_told() {
    let alone = flow("upstream", 1, "") + &flow("downstream", 2, "");
    assert!(!codes(&expanded(&written(&alone), &tables())).contains(&"W-LEFT-OUT"));
    // Unsolicited grants; a second aggregate by name is not left out.
    let file = written(
        &(alone
            + &flow("upstream", 3, "scheduling_type = 6")
            + &flow("downstream", 4, "service_class_name = \"tier-100-ds\"")),
    );
    let expansion = expanded(&file, &tables());
    let offsets: Vec<usize> =
        expansion.issues.iter().filter(|issue| issue.code == "W-LEFT-OUT").filter_map(|issue| issue.offset).collect();
    assert_eq!(offsets.len(), 1, "{:?}", expansion.issues);
    let service = expansion.service.unwrap();
    assert_eq!(offsets, service.others);
    assert_eq!(service.beside_downstream.summary(), " + 1 ASF beside it");
}

#[test]
fn further_service_flows_and_their_classifiers_are_expanded() {
    let file = written(
        &(flow("upstream", 1, "")
            + &flow("upstream", 3, "traffic_priority = 5")
            + &flow("downstream", 2, "")
            + &rule(
                "upstream",
                3,
                "rule_priority = 7\nip = { protocol = 17, destination_port_start = 6000, destination_port_end = 6010, \
                 destination_address = \"203.0.113.0\", destination_mask = \"255.255.255.0\" }",
            )
            + &rule("upstream", 1, "rule_priority = 9\nip = { source_mask = \"255.0.255.0\" }")),
    );
    let expansion = expanded(&file, &tables());
    assert!(codes(&expansion).contains(&"W-CRITERIA"), "a mask without an address");
    let service = expansion.service.unwrap();
    assert_eq!(service.upstream.summary(), "1 SF, docsis-pie, 9 Mb/s");
    assert_eq!(service.beside_upstream.summary(), " + 1 SF beside it");
    let further = &service.beside_upstream.flows[0];
    assert_eq!((further.flow.reference, further.member), (Some(3), false));
    assert_eq!(further.flow.number(Parameter::TrafficPriority), Some(5));
    let rules = &service.beside_upstream.classifiers;
    assert_eq!(rules.len(), 2);
    assert_eq!((rules[0].to, rules[0].others.len()), (Role::Only, 1));
    let criteria = &rules[1].criteria;
    assert_eq!((rules[1].to, rules[1].flow), (Role::Further, Some(3)));
    assert_eq!(criteria.protocol, Some(17));
    assert_eq!(criteria.destination.as_deref(), Some("203.0.113.0/24"));
    assert_eq!(criteria.destination_port, Some([6000, 6010]));
    assert_eq!(criteria.source, None);
    // As a file again it stands for the same service.
    let again = from_service(&service, Style::Explicit).unwrap();
    let again = expanded(&sealed(again), &tables()).service.unwrap();
    assert!(service.simulates_as(&again), "{again:?}");
    for style in [Style::Names, Style::Legacy] {
        let refused = from_service(&service, style).unwrap_err();
        assert!(refused.iter().any(|issue| issue.path == "24"), "{style}");
    }
}

fn sealed(mut file: File) -> File {
    seal(&mut file, Some(&secret())).unwrap();
    file
}

#[test]
fn a_plain_aggregate_is_its_first_member_and_those_beside_it() {
    let of = "aggregate_service_flow_reference = 1";
    let file = written(
        &(flow("upstream", 1, of)
            + &flow("upstream", 3, of)
            + &flow("downstream", 2, "")
            + "[[tlv]]\n[tlv.upstream_aggregate_service_flow]\naggregate_service_flow_reference = 1\n\
               max_sustained_rate = \"16 Mb/s\"\n"),
    );
    let service = expanded(&file, &tables()).service.unwrap();
    assert_eq!(service.upstream.rate(), 16_000_000);
    let further = &service.beside_upstream.flows;
    assert_eq!(further.len(), 1);
    assert!(further[0].member);
}

#[test]
fn further_aggregates_are_expanded_with_their_members() {
    let of = |aggregate: u8| format!("aggregate_service_flow_reference = {aggregate}");
    let aggregate = |reference: u8, more: &str| {
        format!(
            "[[tlv]]\n[tlv.upstream_aggregate_service_flow]\n{}\nmax_sustained_rate = \"{reference} Mb/s\"\n{more}\n",
            of(reference)
        )
    };
    let low_latency = "low_latency = { low_latency_service_flow_reference = 6 }";
    let content = flow("upstream", 1, &of(20))
        + &flow("upstream", 3, &of(30))
        + &flow("upstream", 4, &of(30))
        + &flow("upstream", 5, &of(40))
        + &flow("upstream", 6, &of(40))
        + &flow("downstream", 2, "")
        + &aggregate(20, "")
        + &aggregate(30, "")
        + &aggregate(40, low_latency)
        + &rule("upstream", 4, "ip = { protocol = 17 }")
        + &rule("upstream", 6, "ip = { protocol = 6 }");
    let expansion = expanded(&written(&content), &tables());
    let service = expansion.service.unwrap();
    assert_eq!(service.others, Vec::<usize>::new());
    assert_eq!(service.upstream.rate(), 20_000_000);
    let beside = &service.beside_upstream;
    assert_eq!(beside.summary(), " + 1 SF beside it + 2 ASF beside it");
    let rates: Vec<_> = beside.aggregates.iter().map(|it| (it.aggregate, it.service.rate())).collect();
    assert_eq!(rates, [(Some(30), 30_000_000), (Some(40), 40_000_000)]);
    let [Service::Single(of_thirty), Service::Aggregate(of_forty)] =
        [&beside.aggregates[0].service, &beside.aggregates[1].service]
    else {
        panic!("a plain aggregate, and one of two queues")
    };
    assert_eq!(of_thirty.reference, Some(3));
    assert_eq!((of_forty.classic.reference, of_forty.low_latency.reference), (Some(5), Some(6)));
    let further = &beside.flows[0];
    assert_eq!((further.flow.reference, further.member, further.aggregate), (Some(4), true, Some(30)));
    let rules: Vec<_> = beside.classifiers.iter().map(|rule| (rule.to, rule.flow)).collect();
    assert_eq!(rules, [(Role::Further, Some(4)), (Role::Further, Some(6))]);
    let refused = from_service(&service, Style::Explicit).unwrap_err();
    assert!(refused.iter().any(|issue| issue.path == "70"));
}

#[test]
fn a_request_interval_and_activity_detection_are_expanded() {
    let file = written(
        &(flow(
            "upstream",
            1,
            "scheduling_type = 7\nguaranteed_grant_rate = \"2 Mb/s\"\nguaranteed_request_interval = 1500\n\
             pgs_activity_detection_disable = 1",
        ) + &flow("downstream", 2, "")),
    );
    let Service::Single(flow) = expanded(&file, &tables()).service.unwrap().upstream else {
        panic!("one service flow")
    };
    assert_eq!(flow.number(Parameter::GuaranteedRequestInterval), Some(1500));
    assert_eq!(flow.number(Parameter::ActivityDetectionDisable), Some(1));
}

#[test]
fn tables_are_read_with_everything_that_is_wrong() {
    let issues = Tables::read(
        "[cm]\nlldd = true\n[[aqp]]\nname = \"a name too long for this\"\n[[service_class]]\nname = \"a\"\n\
         direction = \"upstream\"\nmax_sustained_rate = \"fast\"\nmax_traffic_brust = 1\n[[service_class]]\nname = \"a\"\n\
         direction = \"upstream\"\n",
    )
    .unwrap_err();
    let told: Vec<String> = issues.iter().map(|issue| format!("{} {}", issue.line, issue.path)).collect();
    assert_eq!(told.len(), 5, "{told:?}");
    for part in ["2 cm.lldd", "service_class.a.max_sustained_rate", "service_class.a.max_traffic_brust"] {
        assert!(told.iter().any(|line| line.ends_with(part) || line == part), "{told:?}");
    }
}

#[test]
fn a_buffer_of_a_rate_in_exabits_is_as_large_as_the_rate_says() {
    let file = written(
        "[[tlv]]\n[tlv.upstream_service_flow]\nservice_flow_reference = 1\nqos_parameter_set_type = 7\n\
         max_sustained_rate = 2147503648\ndata_rate_unit = 3\n\
         [[tlv]]\n[tlv.downstream_service_flow]\nservice_flow_reference = 2\nqos_parameter_set_type = 7\n",
    );
    let service = expanded(&file, &tables()).service.unwrap();
    let Service::Single(flow) = service.upstream else { panic!("one service flow") };
    // 100 ms at 2147503648 Gb/s.
    let bytes = Setting::Number(26_843_795_600_000_000);
    assert_eq!(flow.buffer.unwrap().value, bytes);
}

#[test]
fn a_buffer_that_a_limit_holds_is_from_that_limit() {
    let of = |control: &str| {
        let file = written(&format!(
            "[[tlv]]\n[tlv.upstream_service_flow]\nservice_flow_reference = 1\nqos_parameter_set_type = 7\n\
             max_sustained_rate = 8000000\nbuffer_control = {control}\n\
             [[tlv]]\n[tlv.downstream_service_flow]\nservice_flow_reference = 2\nqos_parameter_set_type = 7\n"
        ));
        let service = expanded(&file, &tables()).service.unwrap();
        let Service::Single(flow) = service.upstream else { panic!("one service flow") };
        let buffer = flow.buffer.unwrap();
        let path = match buffer.origin {
            Origin::File { path, .. } => path,
            _ => String::from("default"),
        };
        (buffer.value, path)
    };
    // 100 ms at 8 Mb/s are 100,000 B.
    let from = |bytes, path: &str| (Setting::Number(bytes), path.to_owned());
    assert_eq!(of("{ minimum = 50000 }"), from(100_000, "default"));
    assert_eq!(of("{ minimum = 200000 }"), from(200_000, "24.35.1"));
    assert_eq!(of("{ target = 300000, maximum = 250000 }"), from(250_000, "24.35.3"));
}

#[test]
fn unsolicited_grants_of_unknown_size_are_left_out_wherever_they_stand() {
    let flow = |content: &str| format!("[[tlv]]\n[tlv.upstream_service_flow]\nqos_parameter_set_type = 7\n{content}\n");
    let ugs = flow("service_flow_reference = 1\nscheduling_type = 6");
    let best_effort = flow("service_flow_reference = 2\nmax_sustained_rate = \"5 Mb/s\"");
    let down = "[[tlv]]\n[tlv.downstream_service_flow]\nservice_flow_reference = 9\nqos_parameter_set_type = 7\n";
    let reference = |flows: &str| {
        let found = expanded(&written(&format!("{flows}{down}")), &tables());
        assert!(codes(&found).contains(&"W-LEFT-OUT"), "{:?}", found.issues);
        match found.service.unwrap_or_else(|| panic!("{:?}", found.issues)).upstream {
            Service::Single(flow) => flow.reference,
            Service::Aggregate(_) => panic!("one service flow"),
        }
    };
    assert_eq!(reference(&format!("{ugs}{best_effort}")), Some(2));
    assert_eq!(reference(&format!("{best_effort}{ugs}")), Some(2));
    assert_eq!(reference(&ugs), Some(1), "as best effort");
}

#[test]
fn unsolicited_grants_and_polls_are_expanded() {
    let grants = "unsolicited_grant_size = 150\nnominal_grant_interval = 2000";
    let content = flow("upstream", 1, "")
        + &flow("upstream", 3, &format!("scheduling_type = 6\n{grants}\ngrants_per_interval = 2"))
        + &flow("upstream", 4, &format!("scheduling_type = 5\n{grants}\nnominal_polling_interval = 3000"))
        + &flow("upstream", 5, "scheduling_type = 4\nnominal_polling_interval = 4000")
        + &flow("upstream", 6, "scheduling_type = 3\nnominal_polling_interval = 4000")
        + &flow("downstream", 2, "");
    let service = expanded(&written(&content), &tables()).service.unwrap();
    assert_eq!(service.others.len(), 1, "non-real-time polls");
    let flows = &service.beside_upstream.flows;
    let said: Vec<_> = flows.iter().map(|it| it.flow.number(Parameter::Scheduling)).collect();
    assert_eq!(said, [Some(6), Some(5), Some(4)]);
    assert_eq!(flows[0].flow.number(Parameter::UnsolicitedGrantSize), Some(150));
    assert_eq!(flows[0].flow.number(Parameter::GrantsPerInterval), Some(2));
    assert_eq!(flows[1].flow.number(Parameter::NominalGrantInterval), Some(2000));
    assert_eq!(flows[2].flow.number(Parameter::NominalPollingInterval), Some(4000));
    let again = from_service(&service, Style::Explicit).unwrap();
    let again = expanded(&sealed(again), &tables()).service.unwrap();
    assert!(service.simulates_as(&again), "{again:?}");
}
