use super::*;

#[test]
fn multiple_outputs() {
    let mut draft = Draft::new("a");
    draft.platform = "x".into();
    draft.builder = "b".into();
    draft.set_outputs(["dev", "out"]).unwrap();
    for (key, value) in [("name", "a"), ("system", "x"), ("builder", "b"), ("outputs", "dev out")] {
        draft.env.insert(key.into(), value.into());
    }
    let finished = draft.finish(&StoreDir::default(), |_| None).unwrap();
    assert_eq!(finished.output("dev"), Some("/nix/store/d5kb0hfirpfb7yqr506x4fr7jcjqq3pk-a-dev"));
}
