//! Derivations: the paths that real Nix computes, and what it complains about.

mod support;

use raddle_nix::Settings;
use support::{check, check_frames, check_messages, check_with};

/// Checks the paths of `derivation { name = "n"; system = "x86_64-linux"; builder = "/bin/sh"; … }`:
/// attributes, the file's path and the first output's, both without the store directory.
#[track_caller]
fn check_paths(settings: &Settings, cases: &[(&str, &str, &str)]) {
    let texts: Vec<(String, String)> = cases
        .iter()
        .map(|(attrs, drv, out)| {
            let base = r#"name = "n"; system = "x86_64-linux"; builder = "/bin/sh";"#;
            let expression =
                format!("let d = derivation {{ {base} {attrs} }}; in [ d.drvPath d.outPath ]");
            let out =
                if out.starts_with('/') { (*out).to_owned() } else { format!("/nix/store/{out}") };
            (expression, format!(r#"[ "/nix/store/{drv}" "{out}" ]"#))
        })
        .collect();
    let cases: Vec<(&str, &str)> = texts.iter().map(|(a, b)| (a.as_str(), b.as_str())).collect();
    check_with(settings.clone(), &cases);
}

fn with_features(features: &[&str]) -> Settings {
    let experimental_features = features.iter().map(|&feature| feature.to_owned()).collect();
    Settings { experimental_features, ..Settings::default() }
}

#[test]
fn paths() {
    let settings = with_features(&["ca-derivations", "impure-derivations"]);
    check_paths(
        &settings,
        &[
            ("", "4asl03mzzhh6hj3ylg6jxf9c4wh25dz8-n.drv", "dgd4d4979i4g3fc25y4f3067gzhfaa03-n"),
            (
                "a = 1;",
                "zjd41s3fd4r0k7i9cbns0xi8d80jic98-n.drv",
                "xbwfk7zl4pnb18755nhla48fvhi4z30a-n",
            ),
            (
                "a = 1.5; b = true; c = false; d = null;",
                "mjwaa872rnkvqr0lbfqhszrqxx1igkrh-n.drv",
                "axzg7w06skdd9p3whyqlw06m5yrpdkfm-n",
            ),
            (
                r#"a = [ 1 [ 2 3 ] [ ] "x" null true ];"#,
                "zvcl3k28il2nkv88yx3aplqfn61cncph-n.drv",
                "zzizb1kyw74r1nzbfnhf7i3nbah0dhkk-n",
            ),
            (
                r#"a = "q\"b\\n\n\r\t$x";"#,
                "2h3ivlykwl083w6v75c859g9vf07ssyg-n.drv",
                "pmlmqy0vsarxhqqm9axkisq9ifg8kda9-n",
            ),
            (
                r#"args = [ "-c" "echo \"hi\"" 1 null true [ "a" "b" ] ];"#,
                "nh2jk3krb9gl8x7c9hdw51xkb33gf9pa-n.drv",
                "dnppa208jmb9k4y3yz07z22bmdr7jmr4-n",
            ),
            (
                r#"outputs = [ "out" "dev" ];"#,
                "vs6sqszb234i3dlyk4dml1q8mp5f3gcn-n.drv",
                "wsgyx4gz29l5chkrkmdnfqp4w63bwihr-n",
            ),
            (
                r#"outputs = [ "dev" "out" "lib" ];"#,
                "llb0s0py9ngpl6zmjy2xffygx20j7hpl-n.drv",
                "9cjixa659phz1mskhda805ksqvbwb4vp-n-dev",
            ),
            (
                r#"__ignoreNulls = true; a = null; b = "x";"#,
                "z3rfy2g4317fwjysv1sal3y90lafch5v-n.drv",
                "0qlpjxvkmdnjai6qpzz94i23grfpda2y-n",
            ),
            (
                "__ignoreNulls = false; a = null;",
                "nwh81j8xjz7wwydah8y754c3dq5zan1w-n.drv",
                "k8ssfsa95b9h3i93j1wcd2cv50j7czai-n",
            ),
            (
                r#"__structuredAttrs = false; a = "x";"#,
                "g34nibp99wj0m69b74c3pa0fw7q96q2i-n.drv",
                "7plmgvdpm85zs3vs63zfhqfnkf161msb-n",
            ),
            (
                r#"__structuredAttrs = true; a = { b = [ 1 2.5 null true ]; c = "x"; };"#,
                "5x11r92jzc9k7mlmrxq8ixc7r21bf8i8-n.drv",
                "xsdrw1vrgsdgkp1nr9nzmp1yd162k76n-n",
            ),
            (
                r#"__structuredAttrs = true; outputs = [ "out" "man" ]; args = [ "x" ];"#,
                "9bdnhh48frkkps7rllj9855k2fgv5701-n.drv",
                "6bwayf8xssci847lkr1mykg05a7x4hdp-n",
            ),
            (
                "__structuredAttrs = true; __ignoreNulls = true; a = null; b = { c = null; };",
                "jnnv6ng3b92h2c9z5yq2v8sb8wbyrr3m-n.drv",
                "cndia1v82nsdd5z5jxxffz36qp3ajx2d-n",
            ),
            (
                r#"__structuredAttrs = true; outputHash = "0000000000000000000000000000000000000000000000000000"; outputHashAlgo = "sha256"; outputHashMode = "recursive";"#,
                "505skq4mbjpg6qhshjj4h2cpw4jbzgnd-n.drv",
                "qn0rq9k5vwhs4fslk9hm4lpv35kljrfs-n",
            ),
            (
                r#"outputHash = "0000000000000000000000000000000000000000000000000000"; outputHashAlgo = "sha256";"#,
                "m88bqjys2g736aaq715p1bs8sxfj7mi6-n.drv",
                "sqfqwal2rr559hnjxbns9zz67h9yq8va-n",
            ),
            (
                r#"outputHash = "0000000000000000000000000000000000000000000000000000"; outputHashAlgo = "sha256"; outputHashMode = "recursive";"#,
                "qmnm3gddyv5fwxy65nva74nh9dbxzv3k-n.drv",
                "qn0rq9k5vwhs4fslk9hm4lpv35kljrfs-n",
            ),
            (
                r#"outputHash = "sha256-AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=";"#,
                "yhbjgz5qp9d7zdsbvvkd2288ykc2sip5-n.drv",
                "sqfqwal2rr559hnjxbns9zz67h9yq8va-n",
            ),
            (
                r#"outputHash = "sha256-AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="; outputHashAlgo = "sha256";"#,
                "wmzwdxwbmwng7hr8gmqb3vy22hj1w92a-n.drv",
                "sqfqwal2rr559hnjxbns9zz67h9yq8va-n",
            ),
            (
                r#"outputHash = "sha256-AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="; outputHashAlgo = null;"#,
                "2bbgbki1hkpvgknnavdxh6wq8i85plvb-n.drv",
                "sqfqwal2rr559hnjxbns9zz67h9yq8va-n",
            ),
            (
                r#"outputHash = "da39a3ee5e6b4b0d3255bfef95601890afd80709"; outputHashAlgo = "sha1"; outputHashMode = "flat";"#,
                "ipyyjyjcj0zccylrz71ikmsh518rc1bf-n.drv",
                "agrcq9hgqdvxrp4whnga2vkh430dgz3v-n",
            ),
            (
                r#"outputHash = "d41d8cd98f00b204e9800998ecf8427e"; outputHashAlgo = "md5"; outputHashMode = "recursive";"#,
                "626gcbfmrkb3qhdp31mygykm63smm2bw-n.drv",
                "pxhj7k52wi4v30szi4zrnngsipnrmrln-n",
            ),
            (
                r#"outputHash = "sha512-AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA==";"#,
                "ss5c56aizq21hfak5ia5wdnbm98q54bd-n.drv",
                "blzxphzmh7z2caj5xyc0kqhpf6kf4cfj-n",
            ),
            (
                r#"outputHash = ""; outputHashAlgo = "sha256";"#,
                "v30pzlq48aaxvcfw0m3kxk2b1dngs2va-n.drv",
                "sqfqwal2rr559hnjxbns9zz67h9yq8va-n",
            ),
            (
                r#"outputHash = ""; outputHashAlgo = "sha512"; outputHashMode = "recursive";"#,
                "bzms2hzzm859aa6dshr9r0kgxdk7m8bk-n.drv",
                "5ykvgwllk97vj3jm6dzb3kycln7h7cc9-n",
            ),
            (
                r#"outputHash = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"; outputHashAlgo = "sha256";"#,
                "h3z6rhysvmvjz189f24imy7yjrdis8pj-n.drv",
                "znps1q33ssycby4w7qb3y0rpvjggn3a9-n",
            ),
            (
                r#"outputHash = "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="; outputHashAlgo = "sha256";"#,
                "qgrzrzn0225r3p79yf4106bap7k0n044-n.drv",
                "znps1q33ssycby4w7qb3y0rpvjggn3a9-n",
            ),
            (
                r#"a = builtins.toFile "f" "hello";"#,
                "443bnnrvfrjrm3vfsj7rapg898z8rgg3-n.drv",
                "iyapqpvchh7dxpwyipq8xdmsgp7rnq0l-n",
            ),
            (
                r#"a = builtins.toFile "f" "see ${builtins.toFile "g" "x"}";"#,
                "k8lrkvq0cvl96j02izwp8k96hmmgbp53-n.drv",
                "bfwzf2ahscmh8nihbdr360p9jm0dm6x9-n",
            ),
            (
                r#"out = "hm"; dev = "x"; outputs = [ "out" "dev" ];"#,
                "vs6sqszb234i3dlyk4dml1q8mp5f3gcn-n.drv",
                "wsgyx4gz29l5chkrkmdnfqp4w63bwihr-n",
            ),
            (
                r#"a = { outPath = "/x"; }; b = { __toString = s: "str"; };"#,
                "6vilzn92kph5pr88vm8dx7zvq9v6p69b-n.drv",
                "xidy1m4yd8kxq829y23gxjyp7j65iwkl-n",
            ),
            (
                r#"name2 = builtins.placeholder "out";"#,
                "yi5hwy15zx59j2x8lkn398h83pnwai30-n.drv",
                "5zkw0barlallrd8fnv7i0rqbq25r8bq0-n",
            ),
            (
                "__contentAddressed = false; __impure = false;",
                "4asl03mzzhh6hj3ylg6jxf9c4wh25dz8-n.drv",
                "dgd4d4979i4g3fc25y4f3067gzhfaa03-n",
            ),
            (
                "__contentAddressed = true;",
                "fr88b717nyxgfzjpwz1habqs87acls8r-n.drv",
                "/1hwpksjmlggv6i1yaq4yv4dkcqjx5qx217jg58ag6lrjq44azjzh",
            ),
            (
                r#"__contentAddressed = true; outputHashMode = "recursive"; outputHashAlgo = "sha256";"#,
                "nwgfgmilyvy6js72ix5kk4kyn5bxjs3n-n.drv",
                "/15sba9lkbv2l43049pgi0gj5gm5azvvq7kiwcglwnp2dlv41mi7s",
            ),
            (
                r#"__contentAddressed = true; outputHashMode = "flat"; outputHashAlgo = "sha512"; outputs = [ "out" "dev" ];"#,
                "vci8frsklk40f3fswsg5kpabpdlrd631-n.drv",
                "/1gwp1w15mpqmz5apc7bkn2viyy9gy7w1r1ba50psvkv4fgmx0gs4",
            ),
            (
                "__impure = true;",
                "7czngcxk9qn4i6c02ml2n5gd2j4hjx3s-n.drv",
                "/0q8hgr62930yqqz01fk9cbmf92h4cvyvsciw99vcbsd1f7fm1d8y",
            ),
            (
                r#"__impure = true; outputHashMode = "flat"; outputHashAlgo = "sha1";"#,
                "lx6xvpxb3y41j4qwcprj3k9b2r53qklj-n.drv",
                "/1ghvhd57d5kwvmhr4nlq8wbxa18js46zh9yirrcrlfhhcw2wlxr4",
            ),
            (
                r#"__contentAddressed = true; outputHash = "0000000000000000000000000000000000000000000000000000"; outputHashAlgo = "sha256";"#,
                "m88bqjys2g736aaq715p1bs8sxfj7mi6-n.drv",
                "sqfqwal2rr559hnjxbns9zz67h9yq8va-n",
            ),
        ],
    );
}

/// What other derivations need of these: two outputs, and a fixed one that can be made in two ways.
const INPUTS: &str = r#"
  dep = derivation { name = "dep"; system = "s"; builder = "b"; outputs = [ "out" "dev" ]; };
  hash = "0000000000000000000000000000000000000000000000000000";
  fixed = system: derivation {
    name = "fod"; inherit system; builder = "b"; outputHash = hash; outputHashAlgo = "sha256";
  };
"#;

#[test]
fn inputs() {
    let cases = [
        (
            "a = dep;",
            "zbkxhxksqgf6cm0qxfm8iw61y9n7jcqh-n.drv",
            "9d9w3v0p3fri00qh3xpj56dawvhxnf6h-n",
        ),
        (
            "a = dep.dev;",
            "jq9x62pmbwfi54di4d07n3nnkap16xji-n.drv",
            "4sipx4z35mnq2wflhhj46fwksfkf49cc-n",
        ),
        (
            "a = [ dep dep.dev ];",
            "h16034nmjxsh3avp1jh5vf91ladgvq7k-n.drv",
            "4kxrmfmqldfg5q6n4n4szjzgqxaw0j3h-n",
        ),
        (
            "a = dep.all;",
            "h16034nmjxsh3avp1jh5vf91ladgvq7k-n.drv",
            "4kxrmfmqldfg5q6n4n4szjzgqxaw0j3h-n",
        ),
        (
            r#"a = fixed "s"; b = fixed "s2";"#,
            "97ggkabmcgvcc82nv8i0waj4jms784r6-n.drv",
            "bqxkmkjqpk7yxyr5nn7b3vd9mkzaiiag-n",
        ),
        (
            "builder = dep;",
            "2x3r951vcbrf8anb2v659khzfsiqx5qn-n.drv",
            "svngxlcyfg21ikraqfl4qpgfqb1kr5vl-n",
        ),
        (
            "a = builtins.unsafeDiscardOutputDependency dep.drvPath;",
            "i0km1x998vljgwv6hkn2myy745q1sp76-n.drv",
            "qx10hq1s9xgfcdj7ca4yvahwxl0zy71d-n",
        ),
        (
            "a = builtins.unsafeDiscardStringContext dep;",
            "hj5ifaw900zixjjigqrzbm7v1p0nbxvj-n.drv",
            "2kiicdgj7j698z8p9zc1060pfvy8kv7r-n",
        ),
        (
            r#"args = [ dep "${dep.dev}/x" ];"#,
            "9cgz49x87j5x1gcb0091k7rwhhp071yi-n.drv",
            "zv91l3ryf4f795xli2vhvz4a8cxg2l6j-n",
        ),
        (
            r#"a = derivation { name = "mid"; system = "s"; builder = "b"; x = dep; y = fixed "s"; };"#,
            "f6wpmbkqhbc2vwfklvmxypgxfq1l98ad-n.drv",
            "38jvx5acfxyabgnyi6a21flcsq5768ip-n",
        ),
        (
            r#"a = builtins.appendContext "x" (builtins.getContext (toString [ dep dep.dev ]));"#,
            "4dhq5cwfkl4igbg91drngswng30mdv0z-n.drv",
            "9g6b8ggdxs4iy14qcvmyna5wga6qq199-n",
        ),
    ];
    let texts: Vec<(String, String)> = cases
        .iter()
        .map(|(attrs, drv, out)| {
            let base = r#"name = "n"; system = "x86_64-linux"; builder = "/bin/sh";"#;
            (
                format!("let {INPUTS} d = derivation ({{ {base} }} // {{ {attrs} }}); in [ d.drvPath d.outPath ]"),
                format!(r#"[ "/nix/store/{drv}" "/nix/store/{out}" ]"#),
            )
        })
        .collect();
    let cases: Vec<(&str, &str)> = texts.iter().map(|(a, b)| (a.as_str(), b.as_str())).collect();
    check(&cases);
}

#[test]
fn closures() {
    check(&[(
        r#"let
             dep = derivation {
               name = "dep"; system = "s"; builder = "b"; outputs = [ "out" "dev" ];
               src = builtins.toFile "f" "see ${builtins.toFile "g" "x"}";
             };
             d = derivation { name = "n"; system = "s"; builder = "b"; a = dep.drvPath; };
           in
           [ d.drvPath d.outPath ]"#,
        r#"[ "/nix/store/928h7vwj72qja2gm7iflnk1lgh36qbwv-n.drv" "/nix/store/723yw93yknqrgm2x97xg0vnl7ddffjlq-n" ]"#,
    )]);
}

#[test]
fn unknown_paths_of_inputs() {
    check_with(
        with_features(&["ca-derivations"]),
        &[(
            r#"let
                 c = derivation {
                   name = "n"; system = "x86_64-linux"; builder = "/bin/sh"; __contentAddressed = true;
                 };
                 d = derivation { name = "user"; system = "s"; builder = "b"; x = c; outputs = [ "out" "doc" ]; };
                 e = derivation { name = "user2"; system = "s"; builder = "b"; y = d.doc; z = d; };
               in
               [ d.drvPath d.outPath d.doc.outPath e.drvPath e.outPath ]"#,
            r#"[ "/nix/store/yfwmcklhcydhipi1fkh95qpng6k4nppj-user.drv" "/14smmq9651mhk9172ayg5zannwsax410jj8dsgslajv3vwxqc6f4" "/1b7qlkh4rwxf6mfb9n7wp04k8vp4pdib8jwzi3hgc8s46hcy7my1" "/nix/store/ddm3vwn1c8hwkwz91sbwiw5m4q4640bi-user2.drv" "/0lnbbm0zvr16rr6y7ibi1qfab3f8lpzyic9gy8vnjxdz24w9vr6c" ]"#,
        )],
    );
}

#[test]
fn known_paths() {
    check(&[
        (
            r#"(derivation { name = "a"; system = "x"; builder = "b"; }).drvPath"#,
            r#""/nix/store/nnqh7675wghd0xmrywqm2yh9psrkk13q-a.drv""#,
        ),
        (
            r#""${derivation { name = "a"; system = "x"; builder = "b"; }}""#,
            r#""/nix/store/mx735vk17fbgvrjr0zk0wqfylg1i1996-a""#,
        ),
        (
            r#""${derivation { name = "a"; system = "x"; builder = "b"; outputs = [ "dev" "out" ]; }}""#,
            r#""/nix/store/d5kb0hfirpfb7yqr506x4fr7jcjqq3pk-a-dev""#,
        ),
        (r#"builtins.toFile "x" "hi""#, r#""/nix/store/pmif2b12nn699asgyhdxsbar2hi735fl-x""#),
    ]);
}

#[test]
fn importing_a_derivation() {
    check(&[(
        r#"let
             d = derivation { name = "dep"; system = "s"; builder = "b"; outputs = [ "out" "dev" ]; };
             i = import d.drvPath;
           in
           [
             (i.out.outPath == d.outPath) (i.dev.outPath == d.dev.outPath) (i.drvPath == d.drvPath)
             i.name i.type i.outputName i.dev.outputName (map (x: x.outputName) i.all)
             (builtins.getContext "${i}" == builtins.getContext "${d.dev}")
             (builtins.attrNames i)
           ]"#,
        r#"[ true true true "dep" "derivation" "dev" "dev" [ "dev" "out" ] true [ "all" "dev" "drvPath" "name" "out" "outPath" "outputName" "type" ] ]"#,
    )]);
}

#[test]
fn mistakes() {
    let base = r#"name = "n"; system = "s"; builder = "b";"#;
    let cases = [
        ("outputs = [ ];", "derivation cannot have an empty set of outputs"),
        (r#"outputs = "";"#, "derivation cannot have an empty set of outputs"),
        (r#"outputs = [ "out" "out" ];"#, "duplicate derivation output 'out'"),
        (r#"outputs = [ "drvPath" ];"#, "invalid derivation output name 'drvPath'"),
        (
            r#"outputs = [ "out" "dev" ]; outputHash = "x"; outputHashAlgo = "sha256";"#,
            "multiple outputs are not supported in fixed-output derivations",
        ),
        (
            r#"outputHash = "x"; outputHashAlgo = "sha256";"#,
            "has wrong length for hash algorithm 'sha256'",
        ),
        (r#"outputHash = "x";"#, "does not include a type"),
        (r#"outputHash = "";"#, "empty hash requires explicit hash algorithm"),
        (
            r#"outputHash = "0000000000000000000000000000000000000000000000000000"; outputHashAlgo = "foo";"#,
            "does not include a type",
        ),
        (r#"outputHashMode = "foo";"#, "invalid value 'foo' for 'outputHashMode' attribute"),
        (
            r#"outputHashMode = "text";"#,
            "experimental Nix feature 'dynamic-derivations' is disabled",
        ),
        ("__contentAddressed = true;", "experimental Nix feature 'ca-derivations' is disabled"),
        (r#"__impure = "x";"#, "expected a Boolean but found a string"),
        (r#"a = throw "first"; b = throw "second";"#, "first"),
        (r#"__structuredAttrs = true; outputs = "out";"#, "expected a list but found a string"),
        ("__structuredAttrs = true; a = x: x;", "cannot convert a function to JSON"),
    ];
    let texts: Vec<(String, String)> = cases
        .iter()
        .map(|(attrs, message)| {
            (format!("builtins.derivationStrict {{ {base} {attrs} }}"), format!("error: {message}"))
        })
        .collect();
    let cases: Vec<(&str, &str)> = texts.iter().map(|(a, b)| (a.as_str(), b.as_str())).collect();
    check(&cases);
    check(&[
        ("builtins.derivationStrict { }", "error: attribute 'name' missing"),
        (
            r#"builtins.derivationStrict { name = "x"; }"#,
            "error: required attribute 'builder' missing",
        ),
        (
            r#"builtins.derivationStrict { name = "x"; builder = "b"; system = ""; }"#,
            "error: required attribute 'system' missing",
        ),
        (
            r#"builtins.derivationStrict { name = "x.drv"; builder = "b"; system = "s"; }"#,
            "error: derivation names are allowed to end in '.drv' only if",
        ),
        (
            r#"builtins.derivationStrict { name = "~"; }"#,
            "error: invalid derivation name: name '~' contains illegal character '~'. Please pass a different 'name'.",
        ),
    ]);
}

#[test]
fn frames() {
    check_frames(&[
        (
            "builtins.derivationStrict { name = 1; }",
            &[
                "while calling the 'derivationStrict' builtin",
                "while evaluating the derivation attribute 'name'",
                "while evaluating the `name` attribute passed to builtins.derivationStrict",
                "expected a string but found an integer: 1",
            ],
        ),
        (
            r#"builtins.derivationStrict { name = "foo"; builder = 1; system = 1; args = [ { } ]; }"#,
            &[
                "while calling the 'derivationStrict' builtin",
                "while evaluating derivation 'foo'\n  whose name attribute is located at «string»:1:29",
                "while evaluating attribute 'args' of derivation 'foo'",
                "while evaluating an element of the argument list",
                "cannot coerce a set to a string: { }",
            ],
        ),
    ]);
}

#[test]
fn messages() {
    let derivation = |attrs: &str| {
        format!(
            r#"builtins.derivationStrict {{ name = "n"; system = "s"; builder = "b"; {attrs} }}"#
        )
    };
    check_messages(
        &Settings::default(),
        &[
            (
                &derivation(r#"outputHash = ""; outputHashAlgo = "sha256";"#),
                &[
                    "warning: found empty hash, assuming 'sha256-AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA='",
                ],
            ),
            (
                &derivation("__structuredAttrs = true; maxSize = 1;"),
                &[
                    "warning: In a derivation named 'n', 'structuredAttrs' disables the effect of the derivation attribute 'maxSize'; use 'outputChecks.<output>.maxSize' instead",
                ],
            ),
        ],
    );
}
