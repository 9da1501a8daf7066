//! All paths here were printed by Nix for the derivation described.

use std::collections::HashMap;

use proptest::collection::{btree_map, btree_set, vec};
use proptest::prelude::*;

use super::*;
use crate::context::Element;
use crate::hash::parse_any;

fn store() -> StoreDir {
    StoreDir::default()
}

/// `derivation ({ name = "a"; system = "x"; builder = "b"; } // attributes)`, for strings.
fn draft(attributes: &[(&str, &str)]) -> Draft {
    let mut draft = Draft::new("a");
    draft.platform = "x".into();
    draft.builder = "b".into();
    let fixed = [("name", "a"), ("system", "x"), ("builder", "b")];
    for (key, value) in fixed.iter().chain(attributes) {
        draft.env.insert((*key).into(), (*value).into());
        match *key {
            "name" => draft.name = (*value).to_owned(),
            "system" => draft.platform = (*value).into(),
            "builder" => draft.builder = (*value).into(),
            "outputs" => draft.set_outputs(value.split(' ')).unwrap(),
            _ => {}
        }
    }
    draft
}

/// As [`draft`], with the attributes of a fixed output.
fn fixed(hash: &str, algorithm: &str, mode: &str, attributes: &[(&str, &str)]) -> Draft {
    let mut draft = draft(attributes);
    let hash_algorithm = (!algorithm.is_empty()).then(|| Algorithm::parse(algorithm.as_bytes()));
    draft.kind = OutputKind::Fixed {
        method: Method::parse(if mode.is_empty() { b"flat" } else { mode.as_bytes() }).unwrap(),
        hash: crate::hash::parse_allow_empty(hash.as_bytes(), hash_algorithm.transpose().unwrap())
            .unwrap()
            .hash(),
    };
    draft.env.insert("outputHash".into(), hash.into());
    draft.env.insert("outputHashAlgo".into(), algorithm.into());
    if !mode.is_empty() {
        draft.env.insert("outputHashMode".into(), mode.into());
    }
    draft
}

/// What an evaluator remembers.
#[derive(Default)]
struct Memo(HashMap<StorePath, (ModuloHash, Derivation)>);

impl Memo {
    fn finish(&mut self, draft: Draft) -> Finished {
        let finished = draft.finish(&store(), |path| self.lookup(path)).unwrap();
        self.0.insert(finished.drv_path.clone(), (finished.modulo, finished.derivation.clone()));

        // Whatever is finished can be read back, and is known by the same hash.
        let read = Derivation::from_bytes(&finished.text, &store());
        if !finished.derivation.platform.contains(&b'"') {
            assert_eq!(read.as_ref(), Ok(&finished.derivation));
        }
        assert_eq!(finished.derivation.to_bytes(), finished.text);
        let modulo = finished.derivation.hash_modulo(|path| self.lookup(path));
        assert_eq!(modulo, Ok(finished.modulo));
        finished
    }

    fn lookup(&self, path: &StorePath) -> Option<ModuloHash> {
        self.0.get(path).map(|&(hash, _)| hash)
    }

    /// Finishes the draft after adding `output` of `of` as the end of attribute `x`.
    fn using(&mut self, mut draft: Draft, of: &[(&Finished, &str)]) -> Finished {
        let mut x: Vec<&str> = Vec::new();
        for (finished, output) in of {
            x.push(finished.output(output).unwrap());
            add(&mut draft, &Element::built(finished.drv_path.clone(), output));
        }
        if let Some(first) = draft.env.get(bstr::BStr::new("x")).cloned() {
            let text = first.to_string();
            x.push(&text);
            draft.env.insert("x".into(), x.join(" ").into());
        } else {
            draft.env.insert("x".into(), x.join(" ").into());
        }
        self.finish(draft)
    }
}

fn add(draft: &mut Draft, element: &Element) {
    let asked = |_: &StorePath| -> Result<Node, ()> { panic!("no closure is needed") };
    draft.add_input(element, asked).unwrap();
}

#[track_caller]
fn check(finished: &Finished, drv: &str, out: &str) {
    let digest = |path: &str| path.strip_prefix("/nix/store/").unwrap_or(path).to_owned();
    assert_eq!(digest(&finished.drv_path), drv);
    assert_eq!(digest(finished.output("out").unwrap()), out);
}

const HELLO: &str = "5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03";

#[test]
fn input_addressed() {
    let mut memo = Memo::default();
    check(
        &memo.finish(draft(&[])),
        "nnqh7675wghd0xmrywqm2yh9psrkk13q-a.drv",
        "mx735vk17fbgvrjr0zk0wqfylg1i1996-a",
    );

    let mut escapes = draft(&[("x", "a\nb")]);
    escapes.args = vec!["-c".into(), "echo \"hi\"\n\t\r\\ ".into()];
    check(
        &memo.finish(escapes),
        "38px811hyfpfykkj1qxhygi4hly785n6-a.drv",
        "2x3xa6wrdq6q3wfk5vj8b1mxmpgb0bz3-a",
    );
    // The platform is written without escapes.
    check(
        &memo.finish(draft(&[("system", "a\"b")])),
        "v7vdh7i6s9c7wp6qvxksbbphigp0a218-a.drv",
        "18d91m5dmbqfb3f61a85kwfib65dj82p-a",
    );
    // Variables called like outputs are overridden.
    check(
        &memo.finish(draft(&[("out", "mine"), ("dev", "other"), ("outputs", "out dev")])),
        "cd4d25i83nm3pkrp869vbjan20b52ivf-a.drv",
        "mlfl4rh0hvn8x9n2a7p2a4l47271zq4j-a",
    );
    let two = memo.finish(draft(&[("outputs", "dev out")]));
    assert_eq!(two.output("dev"), Some("/nix/store/d5kb0hfirpfb7yqr506x4fr7jcjqq3pk-a-dev"));
    assert_eq!(two.output("bin"), None);
}

#[test]
fn structured_attributes() {
    let json = r#"{"builder":"b","name":"a","outputs":["out","bin"],"system":"x","x":[1,2]}"#;
    let mut structured = draft(&[("outputs", "out bin")]);
    structured.env.clear();
    structured.env.insert("__json".into(), json.into());
    let finished = Memo::default().finish(structured);
    check(
        &finished,
        "6ly4h6zcc37jzcrz1wky6wfky3iqi0yb-a.drv",
        "zqyjc839id0vryfsbzmqlczaygfcdcx3-a",
    );
    let text = r#"Derive([("bin","/nix/store/ak3f364gq4j1lk83h3ikl37h3ba253jv-a-bin","",""),("out","/nix/store/zqyjc839id0vryfsbzmqlczaygfcdcx3-a","","")],[],[],"x","b",[],[("__json","{\"builder\":\"b\",\"name\":\"a\",\"outputs\":[\"out\",\"bin\"],\"system\":\"x\",\"x\":[1,2]}"),("bin","/nix/store/ak3f364gq4j1lk83h3ikl37h3ba253jv-a-bin"),("out","/nix/store/zqyjc839id0vryfsbzmqlczaygfcdcx3-a")])"#;
    assert_eq!(bstr::BStr::new(&finished.text), text);
}

#[test]
fn fixed_outputs() {
    let sha512 = "sha512-58IrmUxZ2c8rSOVJseJGZmNgRZMNPafBrLKZ0cO3+TH5Sq5B7dosKyB6NuEPi8uNRSI+VIePWzFufOO2vAGWKQ==";
    for (hash, algorithm, mode, drv, out) in [
        (
            HELLO,
            "sha256",
            "",
            "94mwk3sl7xf4b5zlaga4vjl7xvhfimhq",
            "dsnln8dzp7a38dkfhk9p6pldgsb5jpr5",
        ),
        (
            "b1946ac92492d2347c6235b4d2611184",
            "md5",
            "flat",
            "sl2bcg4cy8mym2k8z2xpyknia6nyzh93",
            "b65n360zzwp7x2m9yvl661wijv4hm9g2",
        ),
        (
            HELLO,
            "sha256",
            "recursive",
            "iw0wzhyp36g4pckaflyad497yqg4hdkb",
            "n9r1g41fsc6dprdv9yiamxmdjd532z36",
        ),
        (
            "f572d396fae9206628714fb2ce00f72e94f2258f",
            "sha1",
            "recursive",
            "llnrvxlz9h8mixi3mww6aiqzrg7pjswj",
            "q82hy3wrmp8rd0skj785d0y236vg758k",
        ),
        (
            sha512,
            "",
            "recursive",
            "35s9kszk5xfp73qax7jd85y88a7rsasn",
            "5zrca3rsbl75y6vb92llkxwx10yalhy8",
        ),
        ("", "sha256", "", "kgx21z6pnc2bnbykjm2dss6xiqn42kl6", "19k94y693b5mi3rbb0f3y9c4zq1jc3z0"),
    ] {
        let finished = Memo::default().finish(fixed(hash, algorithm, mode, &[]));
        check(&finished, &format!("{drv}-a.drv"), &format!("{out}-a"));
        assert!(matches!(finished.modulo, ModuloHash::FixedOutput(_)));
    }
}

#[test]
fn inputs() {
    let mut memo = Memo::default();
    let a = memo.finish(draft(&[]));
    check(
        &memo.using(draft(&[("name", "b")]), &[(&a, "out")]),
        "i2hic16vkzk049sc3gh5nsrn06gll6ik-b.drv",
        "bd429nqjdksnrjvfdckrg5sc3mg6xp4q-b",
    );

    // Two ways to the same fixed output are the same input.
    let one_way = memo.finish(fixed(HELLO, "sha256", "", &[("name", "fo")]));
    let other_way =
        memo.finish(fixed(HELLO, "sha256", "", &[("name", "fo"), ("builder", "other")]));
    check(
        &one_way,
        "dwv2sr4a50dnnmdfy8x79rrp5ijggvnq-fo.drv",
        "09xxzzxfl30gihclrc0q5vfmj0iwipml-fo",
    );
    check(
        &other_way,
        "l8qlvdlsf7i0d98x0n8jgxniynj6hck6-fo.drv",
        "09xxzzxfl30gihclrc0q5vfmj0iwipml-fo",
    );
    assert_eq!(one_way.modulo, other_way.modulo);
    check(
        &memo.using(draft(&[("name", "c")]), &[(&one_way, "out"), (&other_way, "out")]),
        "qnxafff2s223jya5335x0ky7wmjc8kd7-c.drv",
        "ngcbbla47yjvbzcz0ydq508p1jhsfz1c-c",
    );

    let two = memo.finish(draft(&[("name", "two"), ("outputs", "out dev")]));
    let text = store().text_path("x", &sha256(&[b"hi"]), []).unwrap();
    let mut all = draft(&[("name", "c"), ("x", &text)]);
    add(&mut all, &Element::Opaque(text));
    check(
        &memo.using(all, &[(&two, "out"), (&two, "dev"), (&one_way, "out"), (&other_way, "out")]),
        "kndq9vyqnkh8vfvmzzqwhxnl04myqhrk-c.drv",
        "5v27s5h33hw5haf0msl83ajpcr3z4rk2-c",
    );
}

#[test]
fn outputs_known_after_building() {
    let (method, algorithm) = (Method::Recursive, Algorithm::Sha256);
    let floating = |attributes: &[(&str, &str)]| {
        let mut draft = draft(attributes);
        draft.kind = OutputKind::Floating { method, algorithm };
        draft.env.insert("outputHashAlgo".into(), "sha256".into());
        draft.env.insert("outputHashMode".into(), "recursive".into());
        draft
    };
    let mut memo = Memo::default();
    let plain = memo.finish(floating(&[]));
    check(
        &plain,
        "nib4ky4z374kc8n1x9q1wf9v4pmvrf9j-a.drv",
        "/1jgc3frv1z1i3k3928h80vhi9m7kcx618ipwmsjkz8z4gvlfpwm9",
    );
    assert_eq!(plain.modulo, ModuloHash::Deferred);

    let mut impure = draft(&[]);
    impure.kind = OutputKind::Impure { method, algorithm };
    check(
        &memo.finish(impure),
        "xl56ynqx54wih6nnn09fag6drd0yk8sv-a.drv",
        "/12zg42if67659p1411z826v9lbmif16w04zzds6b5hmxp6nvppzq",
    );

    let two = memo.finish(floating(&[("outputs", "out dev")]));
    check(
        &memo.using(draft(&[("name", "onca")]), &[(&two, "dev")]),
        "hw1vsfxyvjxrq9raa2nlqsnd3dw1jhyg-onca.drv",
        "/0kf1sf7g3dg4104qd8pm4s9y33crnvj0niwr35cd896fm36m1y7b",
    );
    assert_eq!(two.output("dev"), Some("/1wm2ay7p2y4gv2qw0hrn256ibmb43a10ipq98yk706asxd2yc7v8"));
}

/// `args = [ mid.drvPath ]` where `mid` uses `low.dev`, which uses two files.
#[test]
fn whole_closures() {
    let mut memo = Memo::default();
    let x = store().text_path("x", &sha256(&[b"hi"]), []).unwrap();
    let y = store().text_path("y", &sha256(&[b"see ", x.as_bytes()]), [&x]).unwrap();
    let mut low = draft(&[("name", "low"), ("outputs", "out dev"), ("src", &y)]);
    add(&mut low, &Element::Opaque(y.clone()));
    let low = memo.finish(low);
    let mut mid = draft(&[("name", "mid"), ("dep", low.output("dev").unwrap())]);
    add(&mut mid, &Element::built(low.drv_path.clone(), "dev"));
    let mid = memo.finish(mid);

    let mut top = draft(&[("name", "top")]);
    top.args.push(mid.drv_path.as_str().into());
    top.add_input(&Element::DrvDeep(mid.drv_path.clone()), |path| -> Result<Node, ()> {
        if let Some((_, derivation)) = memo.0.get(path) {
            let references = derivation.references().into_iter().cloned().collect();
            return Ok(Node { references, outputs: derivation.outputs.keys().cloned().collect() });
        }
        let references = if *path == y { vec![x.clone()] } else { Vec::new() };
        Ok(Node { references, outputs: Vec::new() })
    })
    .unwrap();
    check(
        &memo.finish(top),
        "ssbk5zsxqix93niv149lycvvsm1chl3h-top.drv",
        "552wcgmpqfqc10wf76qgp1wkrvds85bc-top",
    );
}

#[test]
fn mistakes() {
    let set = |edit: fn(&mut Draft)| {
        let mut draft = draft(&[]);
        edit(&mut draft);
        draft
    };
    let hash = parse_any(HELLO.as_bytes(), Some(Algorithm::Sha256)).unwrap();
    let mut two_fixed = draft(&[("outputs", "out dev")]);
    two_fixed.kind = OutputKind::Fixed { method: Method::Flat, hash };
    let mut other_fixed = draft(&[("outputs", "dev")]);
    other_fixed.kind = two_fixed.kind;
    let mut text = draft(&[]);
    text.kind =
        OutputKind::Fixed { method: Method::Text, hash: Hash::of(Algorithm::Sha1, b"hello\n") };
    let mut unknown = draft(&[]);
    let missing = Memo::default().finish(draft(&[("name", "missing")]));
    add(&mut unknown, &Element::built(missing.drv_path.clone(), "out"));

    const MULTIPLE: &str = "multiple outputs are not supported in fixed-output derivations";
    for (draft, message) in [
        (set(|draft| draft.builder = "".into()), "required attribute 'builder' missing"),
        (set(|draft| draft.platform = "".into()), "required attribute 'system' missing"),
        (
            set(|draft| draft.name = "a b".into()),
            "invalid derivation name: name 'a b' contains illegal character ' '. Please pass a different 'name'.",
        ),
        (
            set(|draft| draft.name = "a.drv".into()),
            "derivation names are allowed to end in '.drv' only if they produce a single derivation file",
        ),
        (set(|draft| draft.outputs.clear()), "derivation cannot have an empty set of outputs"),
        (two_fixed, MULTIPLE),
        (other_fixed, MULTIPLE),
        (text, "'a' is hashed as text with 'sha1', but only 'sha256' can be used for that"),
        (
            unknown,
            &format!(
                "cannot compute output paths: the hash of the input derivation '{}' is not known",
                missing.drv_path
            ),
        ),
    ] {
        let error = draft.finish(&store(), |_| None).unwrap_err();
        assert_eq!(error.to_string(), message);
    }

    // The file's name is four characters longer.
    let long = set(|draft| draft.name = "a".repeat(208)).finish(&store(), |_| None);
    assert!(matches!(long, Err(DerivationError::Name(NameError::TooLong(_)))));
}

#[test]
fn output_names() {
    for (names, message) in [
        (&[][..], "derivation cannot have an empty set of outputs"),
        (&["out", "out"], "duplicate derivation output 'out'"),
        (&["out", "drvPath"], "invalid derivation output name 'drvPath'"),
        (
            &["a/b"],
            "invalid derivation output name 'a/b': name 'a/b' contains illegal character '/'",
        ),
    ] {
        let error = Draft::new("a").set_outputs(names).unwrap_err();
        assert_eq!(error.to_string(), message);
    }
}

const TERM: &str = r#"Derive([("out","/nix/store/mx735vk17fbgvrjr0zk0wqfylg1i1996-a","","")],[("/nix/store/nnqh7675wghd0xmrywqm2yh9psrkk13q-a.drv",["dev","out"])],["/nix/store/pmif2b12nn699asgyhdxsbar2hi735fl-x"],"x","b",["-c"],[("a","\"\n")])"#;

#[test]
fn malformed_terms() {
    let read = |text: &str| Derivation::from_bytes(text.as_bytes(), &store());
    let good = read(TERM).unwrap();
    assert_eq!(bstr::BStr::new(&good.to_bytes()), TERM);

    for (from, to, message) in [
        ("Derive(", "derive(", "at byte 0: expected 'Derive('"),
        ("Derive(", "DrvWithVersion(\"xp-dyn-drv\",", "at byte 0: derivations with dynamic"),
        ("Derive([", "Derive([]", "at byte 9: expected ','"),
        ("-a.drv\"", "-a b\"", "at byte 73: path 'nnqh7675wghd0xmrywqm2yh9psrkk13q-a b' is not"),
        ("-x\"", "-x/y\"", "lies inside one"),
        ("\"dev\"", "\"out\"", "at byte 132: 'out' occurs twice"),
        ("\"dev\"", "\"\"", "bad output name: name must not be empty"),
        ("-a\",\"\",\"\")", "-a\",\"sha256\",\"\")", "hash of output 'out' do not go together"),
        ("-a\",\"\",\"\")", "-a\",\"sha257\",\"00\")", "unknown hash algorithm 'sha257'"),
        ("-a\",\"\",\"\")", "-a\",\"r:sha1\",\"00\")", "hash '00' has wrong length"),
        ("\"x\",", "x,", "expected '\"'"),
        ("\"\\\"\\n\")])", "\"\\\"\\n", "the string that begins here does not end"),
        ("\"\\\"\\n\")])", "\"\\", "the string that begins here does not end"),
        (")])", ")])\n", "expected the end of the file"),
    ] {
        let error = read(&TERM.replacen(from, to, 1)).unwrap_err().to_string();
        assert!(error.contains(message), "{from} -> {to}: {error}");
    }
}

fn store_path(extension: &'static str) -> impl Strategy<Value = StorePath> {
    ("[0-9a-df-np-sv-z]{32}", "[0-9a-zA-Z+_?=-]{1,12}").prop_map(move |(digest, name)| {
        store().parse_base_name(format!("{digest}-{name}{extension}").as_bytes()).unwrap()
    })
}

fn output() -> impl Strategy<Value = Output> {
    let method =
        prop::sample::select(vec![Method::Flat, Method::Recursive, Method::Text, Method::Git]);
    let algorithm =
        prop::sample::select(vec![Algorithm::Md5, Algorithm::Sha256, Algorithm::Blake3]);
    (0..5, store_path(""), method, algorithm).prop_map(|(kind, path, method, algorithm)| match kind
    {
        0 => Output::InputAddressed(path),
        1 => Output::Fixed { hash: Hash::of(algorithm, path.as_bytes()), path, method },
        2 => Output::Floating { method, algorithm },
        3 => Output::Impure { method, algorithm },
        _ => Output::Deferred,
    })
}

/// Strings in which the characters that need escapes are common.
fn string() -> impl Strategy<Value = BString> {
    let byte = prop_oneof![prop::sample::select(b"\"\\\n\r\tnrt,[()]".to_vec()), any::<u8>()];
    vec(byte, 0..100).prop_map(BString::from)
}

fn derivation() -> impl Strategy<Value = Derivation> {
    let name = || "[a-z]{1,4}";
    let plain = "[a-z0-9_-]{0,12}".prop_map(BString::from);
    (
        btree_map(name(), output(), 0..4),
        btree_map(store_path(".drv"), btree_set(name(), 0..3), 0..4),
        btree_set(store_path(""), 0..4),
        plain,
        string(),
        vec(string(), 0..4),
        btree_map(string(), string(), 0..6),
    )
        .prop_map(|(outputs, input_drvs, input_srcs, platform, builder, args, env)| {
            Derivation { outputs, input_drvs, input_srcs, platform, builder, args, env }
        })
}

proptest! {
    #[test]
    fn reading_undoes_writing(derivation in derivation()) {
        let text = derivation.to_bytes();
        prop_assert_eq!(Derivation::from_bytes(&text, &store()), Ok(derivation));
    }

    #[test]
    fn damaged_terms_never_panic(derivation in derivation(), at: prop::sample::Index, byte: u8, keep: bool) {
        let mut text = derivation.to_bytes();
        let at = at.index(text.len());
        if keep {
            text[at] = byte;
        } else {
            text.truncate(at);
        }
        let _ = Derivation::from_bytes(&text, &store());
    }

    #[test]
    fn reading_never_panics(text: Vec<u8>) {
        let _ = Derivation::from_bytes(&text, &store());
        let _ = Derivation::from_bytes(&[b"Derive(", &text[..]].concat(), &store());
    }
}
