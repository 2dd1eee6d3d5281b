//! The golden vectors: files from an independent script and one from the public encoder `docsis`, and what
//! happens when they are damaged.
#![expect(clippy::unwrap_used, reason = "a vector that cannot be read fails the test")]

use sojourn_provisioning::{Digest, Examination, File, Format, Secret, Tlv, check_integrity, examine, seal, text};

/// W13 service (5/20 Mb/s, bursts of 10 MB, peaks of 20/50 Mb/s, upstream target buffer 31,250 B).
const V1: &str = "0301011824010200010601070804004c4b400904009896800f01021b0401312d\
    002306020400007a12191901020002060107080401312d000904009896801b04\
    02faf080120110061032b35da45c5face55a045bb70d9ba9d90710131e47584b\
    6f3717efaf6db7ed0a8d4cff";
/// Service class names only.
const V2: &str = "0301011811010200010601070408676f6c642d75730019110102000206010704\
    08676f6c642d6473001201100610b4e4f127cf3eef127fc335269f5db2550710\
    8481de41e4b2a1c3a6498ad990d22c61ff000000";
/// Explicit aggregate service flows.
const V3: &str = "030101180b010200010601072402000a1821010200020601072402000a0f0107\
    2807040203e80501132c0200872d04004c4b40190b0102000306010724020014\
    190b010200040601072402001446252402000a080402faf0800904000989681b\
    0405f5e1002a0d010200020501140601e6070101471f2402001408040bebc200\
    0904002625a01b0417d784002a07010200040601e61611010101030200020501\
    400905010301010116110101020302000205014009050103a8a8fc1201100610\
    0e293731b91bd2f6424fdd334f4da8dc07106ad78f0c7ebf5b761615d24bfc8c\
    fc68ff00";

fn octets(hex: &str) -> Vec<u8> {
    (0..hex.len() / 2).map(|at| u8::from_str_radix(&hex[2 * at..2 * at + 2], 16).unwrap()).collect()
}

fn sojourn() -> Secret {
    Secret::new(b"SOJOURN")
}

fn read(octets: &[u8]) -> File {
    File::read(octets, Format::Docsis31)
}

fn examined(octets: &[u8]) -> Examination {
    examine(&read(octets), Some(&sojourn()), false)
}

fn codes(examination: &Examination) -> Vec<&str> {
    examination.issues.iter().map(|issue| issue.code).collect()
}

fn number(tlv: &Tlv, path: &[u8]) -> u64 {
    path.iter().fold(tlv, |tlv, code| tlv.last(*code).unwrap()).number().unwrap()
}

#[test]
fn both_digests_of_the_vectors_are_right_and_all_octets_come_back() {
    for (vector, length) in [(V1, 108), (V2, 84), (V3, 228)] {
        let octets = octets(vector);
        assert_eq!(octets.len(), length);
        let file = read(&octets);
        assert_eq!(file.octets().unwrap(), octets);
        let integrity = check_integrity(&file, Some(&sojourn()));
        assert_eq!((integrity.cm_mic, integrity.cmts_mic), (Digest::Good, Digest::Good));
    }
}

#[test]
fn v1_and_v2_are_as_they_should_be_and_v3_is_not_protected() {
    assert_eq!(codes(&examined(&octets(V1))), [""; 0]);
    assert_eq!(codes(&examined(&octets(V2))), [""; 0]);
    assert_eq!(codes(&examined(&octets(V3))), ["W-ASF-UNPROTECTED"; 2]);
}

#[test]
fn v1_says_the_service_of_2013() {
    let file = read(&octets(V1));
    let up = file.all(24).next().unwrap();
    assert_eq!(number(up, &[8]), 5_000_000);
    assert_eq!(number(up, &[9]), 10_000_000);
    assert_eq!(number(up, &[27]), 20_000_000);
    assert_eq!(number(up, &[35, 2]), 31_250);
    let down = file.all(25).next().unwrap();
    assert_eq!((number(down, &[8]), number(down, &[27])), (20_000_000, 50_000_000));
}

#[test]
fn v3_says_aggregates_proactive_grants_and_classifiers() {
    let file = read(&octets(V3));
    let up = file.all(70).next().unwrap();
    assert_eq!(number(up, &[8]), 50_000_000);
    assert_eq!(number(up, &[42, 1]), 2);
    assert_eq!((number(up, &[42, 5]), number(up, &[42, 6]), number(up, &[42, 7])), (20, 230, 1));
    let flow = file.all(24).nth(1).unwrap();
    assert_eq!((number(flow, &[44]), number(flow, &[45])), (135, 5_000_000));
    let marks: Vec<_> = file.all(22).map(|tlv| tlv.last(9).unwrap().last(1).unwrap().value_octets().unwrap()).collect();
    assert_eq!(marks, [[1, 1, 1], [0xa8, 0xa8, 0xfc]]);
}

/// The content of V4 as text; the digests and the length are those of the public encoder.
const V4: &str = r#"schema = 1
[[tlv]]
network_access = 1
downstream_frequency = 681000000
software_upgrade_server = "10.50.50.50"
software_upgrade_filename = "SomeFile.bin"
max_cpe = 16
max_classifiers = 20
privacy_enable = 0
[[tlv]]
[tlv.upstream_service_flow]
service_flow_reference = 1
qos_parameter_set_type = 7
traffic_priority = 1
max_sustained_rate = 256000
scheduling_type = 2
request_transmission_policy = "0x0000008a"
[[tlv]]
[tlv.downstream_service_flow]
service_flow_reference = 101
qos_parameter_set_type = 7
traffic_priority = 1
max_sustained_rate = "1 Mb/s"
"#;

#[test]
fn v4_gets_the_digests_of_the_public_encoder() {
    let mut file = text::read(V4).unwrap();
    seal(&mut file, Some(&Secret::new(b"DOCSIS\n"))).unwrap();
    let sealed = file.octets().unwrap();
    assert_eq!(sealed.len(), 124);
    let digest = |code| file.all(code).next().unwrap().value_octets().unwrap().to_vec();
    assert_eq!(digest(6), octets("43f19c8d8b93b667a2bbb123a081ff6a"));
    assert_eq!(digest(7), octets("0d0bbbc6fa59c362cf894ac16834772d"));
}

#[test]
fn the_text_of_a_vector_is_the_vector() {
    for vector in [V1, V2, V3] {
        let octets = octets(vector);
        let text = text::write(&read(&octets));
        let again = text::read(&text).unwrap_or_else(|issues| panic!("{text}\n{issues:?}"));
        assert_eq!(again.octets().unwrap(), octets, "{text}");
    }
}

#[test]
fn a_flipped_bit_breaks_both_digests() {
    let mut damaged = octets(V1);
    damaged[20] ^= 1;
    let examination = examined(&damaged);
    let errors: Vec<_> = examination.issues.iter().filter(|issue| issue.is_error()).collect();
    assert_eq!(errors.iter().map(|issue| issue.code).collect::<Vec<_>>(), ["E-CM-MIC", "E-CMTS-MIC"]);
    assert_eq!((errors[0].offset, errors[0].path.as_str()), (Some(71), "6"));
}

#[test]
fn a_cut_file_is_truncated_where_it_was_cut() {
    let damaged = &octets(V1)[..60];
    let examination = examined(damaged);
    let first = &examination.issues[0];
    assert_eq!((first.code, first.offset, first.path.as_str()), ("E-TRUNCATED", Some(41), "25"));
    assert_eq!(first.message, "says 25 octets, and 17 are left");
    assert_eq!(read(damaged).octets().unwrap(), damaged);
}

#[test]
fn an_unknown_type_is_named_and_kept() {
    let mut longer = octets(V1);
    longer.splice(3..3, octets("c802aabb"));
    let mut file = read(&longer);
    seal(&mut file, Some(&sojourn())).unwrap();
    let sealed = file.octets().unwrap();
    assert_eq!(sealed[3..7], [0xc8, 2, 0xaa, 0xbb]);
    assert_eq!(read(&sealed).octets().unwrap(), sealed);
    let examination = examined(&sealed);
    assert_eq!(codes(&examination), ["W-UNKNOWN"]);
    assert_eq!((examination.issues[0].offset, examination.issues[0].path.as_str()), (Some(3), "200"));
}

#[test]
fn a_file_without_its_end_is_told() {
    let mut damaged = octets(V1);
    *damaged.last_mut().unwrap() = 0;
    let examination = examined(&damaged);
    assert_eq!(codes(&examination)[0], "E-NO-END");
    assert_eq!(read(&damaged).octets().unwrap(), damaged);
}

#[test]
fn sealing_twice_is_sealing_once() {
    let mut file = read(&octets(V3));
    seal(&mut file, Some(&sojourn())).unwrap();
    assert_eq!(file.octets().unwrap(), octets(V3));
}

#[test]
fn an_explicit_extended_digest_protects_aggregates() {
    let mut file = read(&octets(V3));
    let vendor = Tlv::octets(8, [0xff; 3]);
    let mic =
        Tlv::of(6, vec![Tlv::octets(1, [1]), Tlv::octets(2, octets("000000c00000000003")), Tlv::octets(3, [0; 16])]);
    file.tlvs.insert(0, Tlv::of(43, vec![vendor, mic]));
    seal(&mut file, Some(&sojourn())).unwrap();
    let sealed = file.octets().unwrap();
    let integrity = check_integrity(&read(&sealed), Some(&sojourn()));
    assert_eq!((integrity.extended, integrity.cmts_mic), (Digest::Good, Digest::Good));
    assert_eq!(codes(&examined(&sealed)), [""; 0]);
    // The rate of the upstream aggregate is covered, although the classic check leaves it out.
    let at = sealed.windows(6).position(|w| w == octets("080402faf080")).unwrap();
    let mut damaged = sealed;
    damaged[at + 5] ^= 1;
    let integrity = check_integrity(&read(&damaged), Some(&sojourn()));
    assert_eq!((integrity.extended, integrity.cm_mic), (Digest::Bad, Digest::Bad));
}

#[test]
fn all_that_is_wrong_is_told_with_octet_and_path() {
    let text = r#"schema = 1
[[tlv]]
network_access = 2
[[tlv]]
[tlv.upstream_service_flow]
service_flow_reference = 1
qos_parameter_set_type = 7
max_sustained_rate = 20000000
max_traffic_burst = 1000
peak_traffic_rate = 10000000
scheduling_type = 7
ip_tos_overwrite = "0xfc03"
buffer_control = { minimum = 5000, target = 4000 }
aqm = { latency_histogram = [10, 5] }
aggregate_service_flow_reference = 9
[[tlv]]
[tlv.upstream_service_flow]
service_flow_reference = 1
qos_parameter_set_type = "0x0007"
max_sustained_rate = 0
[[tlv]]
[tlv.upstream_classifier]
classifier_reference = 1
service_flow_reference = 5
tlv-99 = "0x01"
[[tlv]]
buffer = 3
"#;
    let issues = text::read(text).unwrap_err();
    assert_eq!(issues.len(), 1);
    assert_eq!((issues[0].line, issues[0].column, issues[0].path.as_str()), (27, 1, "buffer"));
    let text = text.replace("[[tlv]]\nbuffer = 3\n", "");
    let mut file = text::read(&text).unwrap();
    seal(&mut file, Some(&sojourn())).unwrap();
    let examination = examined(&file.octets().unwrap());
    let told: Vec<String> = examination
        .issues
        .iter()
        .map(|issue| format!("{} {} {}", issue.code, issue.offset.unwrap_or(0), issue.path))
        .collect();
    assert_eq!(
        told,
        [
            "W-RANGE 0 3",
            "W-LEN 69 24.6",
            "W-UNKNOWN 88 22.99",
            "W-MANDATORY 0 25",
            "E-REF 63 24",
            "E-REF 84 22.3",
            "E-REF 59 24.36",
            "W-BURST 18 24.9",
            "W-PEAK 24 24.27",
            "W-BUFFER 37 24.35",
            "W-TOS-ECN 33 24.23",
            "E-PGS-RATE 30 24.15",
            "W-HISTOGRAM 53 24.40.6",
            "W-RATE-ZERO 73 24.8",
        ]
    );
}

#[test]
fn a_fast_upstream_without_a_maximum_burst_is_told_and_no_other() {
    let told_of = |kind: &str, rate: u32, more: &str| {
        let text = format!("schema = 1\n[[tlv]]\n[tlv.{kind}]\nmax_sustained_rate = {rate}\n{more}");
        let examination = examine(&text::read(&text).unwrap(), None, false);
        let burst = examination.issues.iter().find(|i| i.code == "W-BURST");
        burst.map(|issue| (issue.path.clone(), issue.message.clone()))
    };
    let told = |rate, more: &str| told_of("upstream_service_flow", rate, more);
    // 3044 octets in 2 ms are 12.176 Mb/s.
    let message = "no maximum traffic burst: with the default of 3044 octets and MAPs 2 ms apart, 12.2 of 50 Mb/s";
    assert_eq!(told(50_000_000, ""), Some(("24.8".into(), message.to_owned())));
    assert!(told(12_176_001, "").is_some());
    assert_eq!(told(12_176_000, ""), None);
    assert_eq!(told(50_000_000, "max_traffic_burst = 250000\n"), None);
    assert_eq!(told(50_000_000, "service_class_name = \"gold\"\n"), None);
    let member = "aggregate_service_flow_reference = 1\n";
    assert_eq!(told(50_000_000, member), None);
    assert_eq!(told_of("downstream_service_flow", 50_000_000, ""), None);
    let aggregate = told_of("upstream_aggregate_service_flow", 50_000_000, member);
    assert_eq!(aggregate.map(|(path, _)| path), Some("70.8".into()));
}

#[test]
fn a_file_of_a_telephone_adapter_is_refused() {
    let octets = [254, 1, 1, 254, 1, 255];
    assert_eq!(codes(&examined(&octets)), ["E-MTA"]);
    assert_eq!(read(&octets).octets().unwrap(), octets);
    assert_eq!(codes(&examined(&[])), ["E-EMPTY"]);
}

#[test]
fn lengths_of_two_octets_are_read_for_docsis_4_only() {
    let octets = [103, 0, 2, 0xaa, 0xbb, 255, 0, 0];
    let wide = File::read(&octets, Format::Docsis40);
    assert_eq!(wide.tlvs[0].value_octets(), Some(&[0xaa, 0xbb][..]));
    assert_eq!(wide.octets().unwrap(), octets);
    assert_eq!(text::read(&text::write(&wide)).unwrap(), wide);
    assert_eq!(read(&octets).tlvs[0].value_octets(), Some(&[][..]));
}

#[test]
fn secrets_lose_their_line_end_and_are_not_printed() {
    assert_eq!(Secret::new(b"SOJOURN\r\n"), sojourn());
    assert_eq!(Secret::new(&[7; 80]), Secret::new(&[7; 64]));
    assert_eq!(format!("{:?}", sojourn()), "Secret(…)");
}
