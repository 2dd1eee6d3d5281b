//! The known word nearest to a misspelt one.
//!
//! Source: optimal string alignment distance (edit distance with adjacent transpositions).
//! Deviations: none known.

use alloc::vec;
use alloc::vec::Vec;

/// Words of users, and the words that files have for them. `sojourn keys WORD` searches by them, too.
pub const SYNONYMS: &[(&str, &[&str])] = &[
    ("aqm", &["codel", "fq-codel", "pie", "queue"]),
    ("bandwidth", &["rate"]),
    ("browser", &["web"]),
    ("browsing", &["web"]),
    ("buffer", &["limit", "queue"]),
    ("bufferbloat", &["limit", "queue"]),
    ("cable", &["docsis30-single", "docsis30-cascade"]),
    ("call", &["voice"]),
    ("cbr", &["constant-rate"]),
    ("cubic", &["linux-cubic", "windows-cubic", "ns2-linux-cubic", "controller"]),
    ("docsis", &["docsis30-single", "docsis30-cascade"]),
    ("download", &["bulk", "direction", "downstream"]),
    ("dsl", &["serial"]),
    ("ethernet", &["serial"]),
    ("fair", &["fq-codel", "sfq-codel", "sfq"]),
    ("fiber", &["serial"]),
    ("fibre", &["serial"]),
    ("fifo", &["drop-tail"]),
    ("file", &["bulk", "file"]),
    ("fq", &["fq-codel"]),
    ("ftp", &["bulk"]),
    ("gaming", &["game"]),
    ("http", &["web"]),
    ("latency", &["rtt", "delay"]),
    ("modem", &["docsis30-single", "docsis30-cascade", "serial"]),
    ("ping", &["rtt", "constant-rate"]),
    ("probe", &["constant-rate"]),
    ("propagation", &["rtt", "delay"]),
    ("queueing", &["queue"]),
    ("red", &["pie"]),
    ("reno", &["linux-reno", "bsd-reno", "ns2-reno"]),
    ("runtime", &["duration"]),
    ("shaper", &["shaped"]),
    ("speed", &["rate"]),
    ("tail-drop", &["drop-tail"]),
    ("taildrop", &["drop-tail"]),
    ("tcp", &["stack", "bulk", "linux-cubic"]),
    ("udp", &["constant-rate"]),
    ("uplink", &["upstream"]),
    ("upload", &["bulk", "direction"]),
    ("vdsl", &["serial"]),
    ("video", &["constant-rate", "bulk"]),
    ("voip", &["voice"]),
    ("wait", &["pause", "think"]),
    ("wan", &["access"]),
];

/// Returns the word of `known` that `word` most likely means: one of similar spelling, or of the same meaning.
pub fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str, IntoIter: Clone>) -> Option<&'a str> {
    let known = known.into_iter();
    let folded = fold(word);
    if let Some((_, meant)) = SYNONYMS.iter().find(|(said, _)| fold(said) == folded)
        && let Some(found) = meant.iter().find_map(|meant| known.clone().find(|candidate| candidate == meant))
        && !known.clone().any(|candidate| fold(candidate) == folded)
    {
        return Some(found);
    }
    // A word of three letters may have one wrong, one of nine may have three.
    let near = (folded.len() / 3).clamp(1, 3);
    known
        .map(|candidate| (distance(&folded, &fold(candidate)), candidate))
        .filter(|(distance, _)| *distance <= near)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// Longest word that is compared, in characters; longer ones are no misspellings.
const LONGEST: usize = 64;

fn fold(word: &str) -> Vec<char> {
    word.chars()
        .take(LONGEST)
        .map(|c| match c {
            '_' | ' ' => '-',
            c => c.to_ascii_lowercase(),
        })
        .collect()
}

fn distance(a: &[char], b: &[char]) -> usize {
    let mut two_ago = vec![0; b.len() + 1];
    let mut previous: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut current = vec![i; b.len() + 1];
        for j in 1..=b.len() {
            let substitution = previous[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            current[j] = substitution.min(previous[j] + 1).min(current[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                current[j] = current[j].min(two_ago[j - 2] + 1);
            }
        }
        two_ago = previous;
        previous = current;
    }
    previous[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_worked_out_by_hand() {
        for (a, b, expected) in [
            ("", "", 0),
            ("rate", "rate", 0),
            ("rate", "", 4),
            ("durration", "duration", 1),
            ("taregt", "target", 1),
            ("kitten", "sitting", 3),
        ] {
            assert_eq!(distance(&fold(a), &fold(b)), expected, "{a} {b}");
        }
    }

    #[test]
    fn what_people_say_leads_to_the_word_of_the_file() {
        assert_eq!(nearest("DSL", ["shaped", "serial"]), Some("serial"));
        assert_eq!(nearest("cubic", ["linux-cubic"]), Some("linux-cubic"));
        assert_eq!(nearest("voip", ["game", "voice"]), Some("voice"));
        assert_eq!(nearest("buffer", ["target", "limit"]), Some("limit"));
        assert_eq!(nearest("call", ["call", "voice"]), Some("call"));
        assert!(SYNONYMS.is_sorted_by_key(|(said, _)| *said));
    }

    #[test]
    fn near_words_are_found_and_far_ones_are_not() {
        let known = ["target", "interval", "limit", "rate"];
        assert_eq!(nearest("Target", known), Some("target"));
        assert_eq!(nearest("intervall", known), Some("interval"));
        assert_eq!(nearest("rat", known), Some("rate"));
        assert_eq!(nearest("colour", known), None);
        assert_eq!(nearest("map interval", ["map_interval"]), Some("map_interval"));
    }
}
