//! Nix's own base 32.
//!
//! The alphabet is the digits and the lower-case letters without e, o, u and t. The bytes are read
//! as one little-endian number whose *last* digit is written first, so that the text of `n` bytes
//! always has `ceil(8 n / 5)` characters.

/// The 32 digits in order of value.
pub const ALPHABET: &[u8; 32] = b"0123456789abcdfghijklmnpqrsvwxyz";

/// What a text in base 32 cannot be decoded for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DecodeError {
    /// A character outside the alphabet.
    #[error("invalid character in Nix32 (Nix's Base32 encoding) string: '{}'", char::from(*.0))]
    BadCharacter(u8),
    /// No number of bytes has a text of this length.
    #[error("no whole number of bytes has {0} characters in base 32")]
    BadLength(usize),
    /// The first digit has bits set beyond the last byte.
    #[error("the first digit in base 32 is too large for the number of bytes")]
    Overflow,
}

/// Returns how many characters `bytes` bytes are written with.
pub const fn encoded_len(bytes: usize) -> usize {
    (bytes * 8).div_ceil(5)
}

/// Returns the text for `bytes`.
pub fn encode(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(encoded_len(bytes.len()));
    encode_into(bytes, &mut text);
    text
}

/// Appends the text for `bytes` to `text`.
pub fn encode_into(bytes: &[u8], text: &mut String) {
    for digit in (0..encoded_len(bytes.len())).rev() {
        let bit = digit * 5;
        let (byte, shift) = (bit / 8, bit % 8);
        let low = u16::from(bytes[byte]);
        let high = bytes.get(byte + 1).map_or(0, |&b| u16::from(b));
        let value = ((high << 8 | low) >> shift) & 31;
        text.push(char::from(ALPHABET[usize::from(value)]));
    }
}

/// Returns whether `c` is one of the 32 digits.
pub fn is_digit(c: u8) -> bool {
    VALUES[usize::from(c)] != NONE
}

/// Returns the bytes that `text` stands for.
pub fn decode(text: &[u8]) -> Result<Vec<u8>, DecodeError> {
    let len = text.len() * 5 / 8;
    if encoded_len(len) != text.len() {
        return Err(DecodeError::BadLength(text.len()));
    }
    let mut bytes = vec![0u8; len];
    for (digit, &c) in text.iter().rev().enumerate() {
        let value = VALUES[usize::from(c)];
        if value == NONE {
            return Err(DecodeError::BadCharacter(c));
        }
        let bit = digit * 5;
        let (byte, shift) = (bit / 8, bit % 8);
        let wide = u16::from(value) << shift;
        bytes[byte] |= wide as u8;
        let carry = (wide >> 8) as u8;
        match bytes.get_mut(byte + 1) {
            Some(next) => *next |= carry,
            None if carry != 0 => return Err(DecodeError::Overflow),
            None => {}
        }
    }
    Ok(bytes)
}

const NONE: u8 = 0xff;

const VALUES: [u8; 256] = {
    let mut values = [NONE; 256];
    let mut i = 0;
    while i < ALPHABET.len() {
        values[ALPHABET[i] as usize] = i as u8;
        i += 1;
    }
    values
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_texts() {
        for (bytes, text) in [
            (&b""[..], ""),
            (&[0], "00"),
            (&[0x1f], "0z"),
            (&[0xff], "7z"),
            (&[0, 1], "0080"),
            (&[0xff; 5], "zzzzzzzz"),
            (&[1, 2, 3, 4, 5], "0l2060h1"),
        ] {
            assert_eq!(encode(bytes), text);
            assert_eq!(decode(text.as_bytes()).as_deref(), Ok(bytes));
        }
    }

    #[test]
    fn bad_texts() {
        for (text, error) in [
            ("0", DecodeError::BadLength(1)),
            ("000", DecodeError::BadLength(3)),
            ("0e", DecodeError::BadCharacter(b'e')),
            ("A0", DecodeError::BadCharacter(b'A')),
            ("80", DecodeError::Overflow),
            ("z0", DecodeError::Overflow),
        ] {
            assert_eq!(decode(text.as_bytes()), Err(error), "{text}");
        }
    }

    proptest::proptest! {
        #[test]
        fn round_trip(bytes: Vec<u8>) {
            proptest::prop_assert_eq!(decode(encode(&bytes).as_bytes()), Ok(bytes));
        }

        #[test]
        fn decoding_never_panics(text: Vec<u8>) {
            let _ = decode(&text);
        }
    }
}
