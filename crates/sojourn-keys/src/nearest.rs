//! The known word nearest to a misspelt one.
//!
//! Source: optimal string alignment distance (edit distance with adjacent transpositions).
//! Deviations: none known.

/// The word of `known` that is most likely meant by `word`, if one is near.
pub fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let folded = fold(word);
    // A word of three letters may have one wrong, one of nine may have three.
    let near = (folded.len() / 3).clamp(1, 3);
    known
        .into_iter()
        .map(|candidate| (distance(&folded, &fold(candidate)), candidate))
        .filter(|(distance, _)| *distance <= near)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// Longest word that is compared, in characters; longer ones are nobody's misspelling.
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
    fn near_words_are_found_and_far_ones_are_not() {
        let known = ["target", "interval", "limit", "rate"];
        assert_eq!(nearest("Target", known), Some("target"));
        assert_eq!(nearest("intervall", known), Some("interval"));
        assert_eq!(nearest("rat", known), Some("rate"));
        assert_eq!(nearest("colour", known), None);
        assert_eq!(
            nearest("map interval", ["map_interval"]),
            Some("map_interval")
        );
    }
}
