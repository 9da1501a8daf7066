//! Hashes in all spellings, and what is not one.

use super::*;

/// The digest of "hello\n" in all spellings, as Nix prints them.
const SPELLINGS: &[(Algorithm, &str, &str, &str)] = &[
    (
        Algorithm::Md5,
        "b1946ac92492d2347c6235b4d2611184",
        "4425hx5d1mc9y39llj4k4nm55i",
        "sZRqySSS0jR8YjW00mERhA==",
    ),
    (
        Algorithm::Sha1,
        "f572d396fae9206628714fb2ce00f72e94f2258f",
        "iwjz551fyw0cxcjgf4l6c879zabd6wpm",
        "9XLTlvrpIGYocU+yzgD3LpTyJY8=",
    ),
    (
        Algorithm::Sha256,
        "5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03",
        "00xyyr3fi8l6hb839bv3f7yb86yjv7xi1cgh1xnhipym4asvb4aq",
        "WJG1tSLV3whtD/CxEPvZ0hu0/HFjrzTQgoai6Eb2vgM=",
    ),
    (
        Algorithm::Sha512,
        "e7c22b994c59d9cf2b48e549b1e24666636045930d3da7c1acb299d1c3b7f931\
         f94aae41edda2c2b207a36e10f8bcb8d45223e54878f5b316e7ce3b6bc019629",
        "0lrc0dwnvipqviibf7qfm1y492qvjwb1zhkcyi05cndmva1mr5gjcgrnz1x36djmk0sfg8djd2n0qv68vib2jg590mwznar\
         9jcjphp7",
        "58IrmUxZ2c8rSOVJseJGZmNgRZMNPafBrLKZ0cO3+TH5Sq5B7dosKyB6NuEPi8uNRSI+VIePWzFufOO2vAGWKQ==",
    ),
];

#[test]
fn spellings() {
    for &(algorithm, base16, nix32, base64) in SPELLINGS {
        let hash = Hash::of(algorithm, b"hello\n");
        let sri = format!("{algorithm}-{base64}");
        let spellings = [
            (Format::Base16, base16),
            (Format::Nix32, nix32),
            (Format::Base64, base64),
            (Format::Sri, &sri),
        ];
        for (format, text) in spellings {
            assert_eq!(hash.to_text(format), text);
            assert_eq!(parse_any(text.as_bytes(), Some(algorithm)), Ok(hash));
            assert_eq!(parse_any(hash.to_prefixed(format).as_bytes(), None), Ok(hash));
            for (other, expected) in spellings {
                let converted = convert_hash(text.as_bytes(), Some(algorithm), other);
                assert_eq!(converted.as_deref(), Ok(expected));
            }
        }
        assert_eq!(parse_sri(sri.as_bytes()), Ok(hash));
        assert_eq!(parse_any(base16.to_uppercase().as_bytes(), Some(algorithm)), Ok(hash));
    }
}

/// Base 64 is read as leniently as Nix reads it.
#[test]
fn lenient_base64() {
    let hash = Hash::of(Algorithm::Sha256, b"hello\n");
    for text in [
        "sha256-WJG1tSLV3whtD/CxEPvZ0hu0/HFjrzTQgoai6Eb2vgM",
        "sha256-WJG1tSLV3whtD/CxEPvZ0hu0/HFjrzTQgoai6Eb2vgN=",
        "sha256-WJG1tSLV3wht\nD/CxEPvZ0hu0/HFjrzTQgoai6Eb2vgM=\n",
        "sha256-WJG1tSLV3whtD/CxEPvZ0hu0/HFjrzTQgoai6Eb2vgM=A!",
    ] {
        assert_eq!(parse_any(text.as_bytes(), None), Ok(hash), "{text}");
    }
}

#[test]
fn errors() {
    const UNKNOWN: &str =
        "unknown hash algorithm 'foo', expect 'blake3', 'md5', 'sha1', 'sha256', or 'sha512'";
    let sha256 = Some(Algorithm::Sha256);
    for (text, algorithm, message) in [
        (
            "abc",
            None,
            "hash 'abc' does not include a type, nor is the type otherwise known from context",
        ),
        ("foo-abc", None, UNKNOWN),
        ("foo:abc", sha256, UNKNOWN),
        ("md5:abc", sha256, "hash 'md5:abc' should have type 'sha256'"),
        ("sha1-abc", sha256, "hash 'sha1-abc' should have type 'sha256'"),
        ("abc", sha256, "hash 'abc' has wrong length for hash algorithm 'sha256'"),
        ("", sha256, "hash '' has wrong length for hash algorithm 'sha256'"),
        ("sha256-", None, "invalid SRI hash '', length 0 != expected length 32"),
        ("sha256-AAAA", sha256, "invalid SRI hash 'AAAA', length 3 != expected length 32"),
        ("sha256-AAAAA", sha256, "invalid SRI hash 'AAAAA', length 3 != expected length 32"),
        (
            "md5:g1946ac92492d2347c6235b4d2611184",
            None,
            "invalid character in Base16 string: 'g'\n \
             while decoding hash 'g1946ac92492d2347c6235b4d2611184'",
        ),
        (
            "md5:e425hx5d1mc9y39llj4k4nm55i",
            None,
            "invalid character in Nix32 string: 'e'\n while decoding hash 'e425hx5d1mc9y39llj4k4nm55i'",
        ),
        (
            "md5:z425hx5d1mc9y39llj4k4nm55i",
            None,
            "invalid base-32 hash 'z425hx5d1mc9y39llj4k4nm55i'",
        ),
        (
            "md5-sZRqySSS0jR8YjW0!mERhA==",
            None,
            "invalid character in Base64 string: '!'\n while decoding hash 'sZRqySSS0jR8YjW0!mERhA=='",
        ),
        (
            "md5-AAAA!",
            None,
            "invalid character in Base64 string: '!'\n while decoding hash 'AAAA!'",
        ),
    ] {
        let error = parse_any(text.as_bytes(), algorithm).unwrap_err();
        assert_eq!(error.to_string(), message, "{text}");
    }
    assert_eq!(parse_sri(b"abc").unwrap_err().to_string(), "hash 'abc' is not SRI");
}

#[test]
fn empty_hashes() {
    let parsed = parse_allow_empty(b"", Some(Algorithm::Sha256)).unwrap();
    assert_eq!(parsed.hash(), Hash::zero(Algorithm::Sha256));
    assert_eq!(
        parsed.warning().as_deref(),
        Some("found empty hash, assuming 'sha256-AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA='")
    );
    assert_eq!(parse_allow_empty(b"", None), Err(HashError::EmptyWithoutAlgorithm));
    let given = parse_allow_empty(b"md5-sZRqySSS0jR8YjW00mERhA==", None).unwrap();
    assert_eq!(given, AllowEmpty::Given(Hash::of(Algorithm::Md5, b"hello\n")));
    assert_eq!(given.warning(), None);
}

#[test]
fn names() {
    for algorithm in
        [Algorithm::Md5, Algorithm::Sha1, Algorithm::Sha256, Algorithm::Sha512, Algorithm::Blake3]
    {
        assert_eq!(Algorithm::parse(algorithm.name().as_bytes()), Ok(algorithm));
        assert_eq!(Hash::of(algorithm, b"").as_bytes().len(), algorithm.size());
    }
    for (name, format) in [
        ("base16", Format::Base16),
        ("nix32", Format::Nix32),
        ("base32", Format::Nix32),
        ("base64", Format::Base64),
        ("sri", Format::Sri),
    ] {
        assert_eq!(Format::parse(name.as_bytes()), Ok(format));
    }
    assert_eq!(
        Format::parse(b"base8").unwrap_err().to_string(),
        "unknown hash format 'base8', expect 'base16', 'base32', 'base64', or 'sri'"
    );
}

#[test]
fn blake3_of_nothing() {
    assert_eq!(
        Hash::of(Algorithm::Blake3, b"").to_text(Format::Base16),
        "af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262"
    );
}

proptest::proptest! {
    #[test]
    fn reading_never_panics(text: Vec<u8>, prefix in "(md5|sha1|sha256|sha512|blake3|)[:-]?") {
        let text = [prefix.as_bytes(), &text].concat();
        let _ = parse_any(&text, None);
        let _ = parse_any(&text, Some(Algorithm::Md5));
        let _ = parse_sri(&text);
    }

    /// Texts of the right length reach the decoders.
    #[test]
    fn reading_right_lengths_never_panics(text in "[0-9a-z=+/\n]{22,44}") {
        for algorithm in [Algorithm::Md5, Algorithm::Sha1, Algorithm::Sha256] {
            let _ = parse_any(text.as_bytes(), Some(algorithm));
        }
    }

    #[test]
    fn pieces_do_not_matter(a: Vec<u8>, b: Vec<u8>) {
        let mut hasher = Hasher::new(Algorithm::Sha256);
        hasher.update(&a);
        hasher.update(&b);
        proptest::prop_assert_eq!(hasher.finish(), Hash::of(Algorithm::Sha256, &[&a[..], &b].concat()));
        proptest::prop_assert_eq!(Hash::from(sha256(&[&a, &b])).sha256(), Some(sha256(&[&a, &b])));
    }
}
