//! Octets as hexadecimal digits.

/// Octets from text, with or without `0x` and with spaces or colons between them.
pub(crate) fn unhex(text: &str) -> Option<Vec<u8>> {
    let digits: Vec<u8> = text
        .strip_prefix("0x")
        .unwrap_or(text)
        .chars()
        .filter(|character| ![' ', ':', '_'].contains(character))
        .map(|character| character.to_digit(16).and_then(|digit| u8::try_from(digit).ok()))
        .collect::<Option<_>>()?;
    let pairs = digits.chunks_exact(2);
    pairs.remainder().is_empty().then(|| pairs.map(|pair| pair[0] << 4 | pair[1]).collect())
}
