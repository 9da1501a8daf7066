use super::*;

/// One digest in all spellings; the texts were printed by `nix hash`.
const SPELLINGS: &[(Algorithm, &str, &str, &str)] = &[];

#[test]
fn spellings() {
    for &(algorithm, base16, nix32, base64) in SPELLINGS {
        let hash = Hash::of(algorithm, b"hello\n");
        let sri = format!("{algorithm}-{base64}");
        for (format, text) in [
            (Format::Base16, base16),
            (Format::Nix32, nix32),
            (Format::Base64, base64),
            (Format::Sri, &sri),
        ] {
            assert_eq!(hash.to_text(format), text);
            assert_eq!(parse_any(text.as_bytes(), Some(algorithm)), Ok(hash));
            assert_eq!(parse_any(hash.to_prefixed(format).as_bytes(), None), Ok(hash));
            for (other, expected) in [
                (Format::Base16, base16),
                (Format::Nix32, nix32),
                (Format::Base64, base64),
                (Format::Sri, &sri),
            ] {
                let converted = convert_hash(text.as_bytes(), Some(algorithm), other);
                assert_eq!(converted.as_deref(), Ok(expected));
            }
        }
    }
}
