//! `toXML`.

use crate::{check_errors, check_text};

fn document(body: &[&str]) -> String {
    let mut text = String::from("<?xml version='1.0' encoding='utf-8'?>\n<expr>\n");
    for line in body {
        text.push_str("  ");
        text.push_str(line);
        text.push('\n');
    }
    text + "</expr>\n"
}

#[test]
fn writes() {
    let cases: &[(&str, &[&str])] = &[
        ("1", &["<int value=\"1\" />"]),
        ("1.5", &["<float value=\"1.5\" />"]),
        ("1000000.0", &["<float value=\"1e+06\" />"]),
        ("true", &["<bool value=\"true\" />"]),
        ("null", &["<null />"]),
        ("/a/b", &["<path value=\"/a/b\" />"]),
        ("\"<a b='c'>&\\\"\\n\"", &["<string value=\"&lt;a b='c'&gt;&amp;&quot;&#xA;\" />"]),
        ("[ ]", &["<list>", "</list>"]),
        ("{ }", &["<attrs>", "</attrs>"]),
        (
            "{ b = [ 1 ]; a = null; }",
            &[
                "<attrs>",
                "  <attr name=\"a\">",
                "    <null />",
                "  </attr>",
                "  <attr name=\"b\">",
                "    <list>",
                "      <int value=\"1\" />",
                "    </list>",
                "  </attr>",
                "</attrs>",
            ],
        ),
        ("builtins.map", &["<unevaluated />"]),
        ("x: x", &["<function>", "  <varpat name=\"x\" />", "</function>"]),
        (
            "a@{ y, x ? 1, ... }: x",
            &[
                "<function>",
                "  <attrspat ellipsis=\"1\" name=\"a\">",
                "    <attr name=\"x\" />",
                "    <attr name=\"y\" />",
                "  </attrspat>",
                "</function>",
            ],
        ),
        ("{ }: 1", &["<function>", "  <attrspat>", "  </attrspat>", "</function>"]),
        (
            r#"let d = { type = "derivation"; drvPath = "D"; outPath = "O"; }; in [ d d ]"#,
            &[
                "<list>",
                "  <derivation drvPath=\"D\" outPath=\"O\">",
                "    <attr name=\"drvPath\">",
                "      <string value=\"D\" />",
                "    </attr>",
                "    <attr name=\"outPath\">",
                "      <string value=\"O\" />",
                "    </attr>",
                "    <attr name=\"type\">",
                "      <string value=\"derivation\" />",
                "    </attr>",
                "  </derivation>",
                "  <derivation drvPath=\"D\" outPath=\"O\">",
                "    <repeated />",
                "  </derivation>",
                "</list>",
            ],
        ),
        (r#"{ type = "derivation"; }"#, &["<derivation>", "  <repeated />", "</derivation>"]),
    ];
    for (value, body) in cases {
        check_text(&[(&format!("builtins.toXML ({value})"), &document(body))]);
    }
    check_errors(&[(r#"builtins.toXML { a = throw "no"; }"#, &["no"])]);
}

#[test]
fn says_where_and_leaves_parts_unevaluated() {
    use raddle_nix::print::xml::{XmlOptions, to_xml};
    use raddle_nix_syntax::Pos;

    let evaluator = raddle_nix::Evaluator::new(raddle_nix::Settings::default(), |_| {}).unwrap();
    let cases: [(&str, &[&str]); 2] = [
        ("x: x", &["<function column=\"1\" line=\"1\">", "  <varpat name=\"x\" />", "</function>"]),
        (
            r#"{ a = 1; t = throw "no"; }"#,
            &[
                "<attrs>",
                "  <attr column=\"3\" line=\"1\" name=\"a\">",
                "    <int value=\"1\" />",
                "  </attr>",
                "  <attr column=\"10\" line=\"1\" name=\"t\">",
                "    <unevaluated />",
                "  </attr>",
                "</attrs>",
            ],
        ),
    ];
    for (expression, body) in cases {
        let text = evaluator.run(|cx| {
            let value = cx.eval_string(expression.as_bytes(), b"/")?;
            let options = XmlOptions { strict: false, locations: true };
            to_xml(cx, value, Pos::NONE, options).map(|(text, _)| String::from_utf8(text))
        });
        assert_eq!(text.unwrap().unwrap(), document(body), "{expression}");
    }
}
