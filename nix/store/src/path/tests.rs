use super::*;
use crate::hash::sha256;

#[test]
fn text_paths() {
    let store = StoreDir::default();
    assert_eq!(
        store.text_path("x", &sha256(&[b"hi"]), []).unwrap().as_str(),
        "/nix/store/pmif2b12nn699asgyhdxsbar2hi735fl-x"
    );
}

#[test]
fn placeholders() {
    assert_eq!(placeholder(b"out"), "/1rz4g4znpzjwh1xymhjpm42vipw92pr73vdgl6xs1hycac8kf2n9");
}
