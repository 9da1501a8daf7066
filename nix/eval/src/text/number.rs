//! Numbers as text: the three formats a float has, and reading number literals.
//!
//! A float is written with six decimals by `toString`, with six significant digits by the
//! printers and XML, and as the shortest exact text in JSON.

/// Writes `value` with six decimals, as `toString` does.
pub fn float_fixed(value: f64) -> String {
    not_finite(value).unwrap_or_else(|| format!("{value:.6}"))
}

/// Writes `value` with six significant digits (`%g`), as printed values and XML have it.
pub fn float_general(value: f64) -> String {
    if let Some(text) = not_finite(value) {
        return text;
    }
    let text = format!("{value:.5e}");
    let (sign, digits, exponent) = decimal(&text);
    if !(-4..6).contains(&exponent) {
        scientific(sign, digits.trim_end_matches('0'), exponent)
    } else {
        let decimals = (5 - exponent) as usize;
        let text = format!("{value:.decimals$}");
        if decimals == 0 {
            return text;
        }
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    }
}

/// Writes `value` as JSON: the shortest digits that read back exactly, always recognisable as a
/// float; `null` if it is not finite.
pub fn float_json(value: f64) -> String {
    if !value.is_finite() {
        return "null".to_owned();
    }
    let text = format!("{value:e}");
    let (sign, digits, exponent) = decimal(&text);
    let length = digits.len() as i32;
    // Digits before the decimal point.
    let point = exponent + 1;
    if (length..=15).contains(&point) {
        let zeros = "0".repeat((point - length) as usize);
        format!("{sign}{digits}{zeros}.0")
    } else if (1..=15).contains(&point) {
        let (whole, fraction) = digits.split_at(point as usize);
        format!("{sign}{whole}.{fraction}")
    } else if (-3..=0).contains(&point) {
        let zeros = "0".repeat(-point as usize);
        format!("{sign}0.{zeros}{digits}")
    } else {
        scientific(sign, &digits, exponent)
    }
}

fn not_finite(value: f64) -> Option<String> {
    let text = match (value.is_nan(), value.is_infinite(), value.is_sign_negative()) {
        (true, _, false) => "nan",
        (true, _, true) => "-nan",
        (_, true, false) => "inf",
        (_, true, true) => "-inf",
        _ => return None,
    };
    Some(text.to_owned())
}

/// Takes `-1.25e3` apart into sign, digits and exponent.
fn decimal(text: &str) -> (&str, String, i32) {
    let (sign, text) = text.split_at(usize::from(text.starts_with('-')));
    let (mantissa, exponent) = text.split_once('e').unwrap_or((text, "0"));
    let digits = mantissa.chars().filter(|&digit| digit != '.').collect();
    // The text was written by the formatter, so its exponent is a small number.
    (sign, digits, exponent.parse().unwrap_or(0))
}

fn scientific(sign: &str, digits: &str, exponent: i32) -> String {
    let (first, rest) = digits.split_at(digits.len().min(1));
    let dot = if rest.is_empty() { "" } else { "." };
    let exponent_sign = if exponent < 0 { '-' } else { '+' };
    format!("{sign}{first}{dot}{rest}e{exponent_sign}{:02}", exponent.abs())
}

/// Reads an integer literal, decimal digits only; `None` if it does not fit.
pub fn parse_integer(text: &[u8]) -> Option<i64> {
    if text.is_empty() {
        return None;
    }
    text.iter().try_fold(0i64, |value, byte| {
        let digit = byte.is_ascii_digit().then(|| i64::from(byte - b'0'))?;
        value.checked_mul(10)?.checked_add(digit)
    })
}

/// Reads a float literal; `None` if it is malformed, or too large or too small to represent.
pub fn parse_float(text: &[u8]) -> Option<f64> {
    let text = std::str::from_utf8(text).ok()?;
    if !text.bytes().next()?.is_ascii_digit() && !text.starts_with('.') {
        return None;
    }
    let value: f64 = text.parse().ok()?;
    let mantissa = text.split(['e', 'E']).next().unwrap_or(text);
    let is_zero = mantissa.bytes().all(|byte| matches!(byte, b'0' | b'.'));
    (is_zero || value.is_normal()).then_some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writes_floats() {
        for (value, fixed, general, json) in [
            (0.0, "0.000000", "0", "0.0"),
            (-0.0, "-0.000000", "-0", "-0.0"),
            (1.0, "1.000000", "1", "1.0"),
            (1.5, "1.500000", "1.5", "1.5"),
            (-2.5, "-2.500000", "-2.5", "-2.5"),
            (0.1, "0.100000", "0.1", "0.1"),
            (0.1 + 0.2, "0.300000", "0.3", "0.30000000000000004"),
            (1e6, "1000000.000000", "1e+06", "1000000.0"),
            (999_999.5, "999999.500000", "1e+06", "999999.5"),
            (100_000.0, "100000.000000", "100000", "100000.0"),
            (123_456_789.0, "123456789.000000", "1.23457e+08", "123456789.0"),
            (1e-4, "0.000100", "0.0001", "0.0001"),
            (1e-5, "0.000010", "1e-05", "1e-05"),
            (1.5e-6, "0.000002", "1.5e-06", "1.5e-06"),
            (1e14, "100000000000000.000000", "1e+14", "100000000000000.0"),
            (1e15, "1000000000000000.000000", "1e+15", "1e+15"),
            (1e20, "100000000000000000000.000000", "1e+20", "1e+20"),
            (f64::INFINITY, "inf", "inf", "null"),
            (f64::NEG_INFINITY, "-inf", "-inf", "null"),
            (f64::NAN, "nan", "nan", "null"),
        ] {
            assert_eq!(float_fixed(value), fixed);
            assert_eq!(float_general(value), general);
            assert_eq!(float_json(value), json);
        }
        assert_eq!(float_general(1e300), "1e+300");
        assert_eq!(float_json(1e300), "1e+300");
        assert_eq!(float_json(1.25e-100), "1.25e-100");
        assert_eq!(float_fixed(1e300).len(), 308);
    }

    #[test]
    fn reads_literals() {
        for (text, value) in [
            ("007", Some(7)),
            ("9223372036854775807", Some(i64::MAX)),
            ("9223372036854775808", None),
            ("", None),
            ("-1", None),
        ] {
            assert_eq!(parse_integer(text.as_bytes()), value, "{text}");
        }
        for (text, value) in [
            ("1.", Some(1.0)),
            (".5", Some(0.5)),
            ("1.e3", Some(1000.0)),
            ("0.0", Some(0.0)),
            ("1.0e400", None),
            ("1.0e-400", None),
            ("inf", None),
            ("", None),
        ] {
            assert_eq!(parse_float(text.as_bytes()), value, "{text}");
        }
    }
}
