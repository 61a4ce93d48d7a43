//! Bundles by Sigstore's public instance, from the tests of `sigstore-verify`.

use std::fs;

use airlock_signature::{Digest, PublicKey, TrustRoot, verify_bundle};

fn read(name: &str) -> String {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/signature/real");
    fs::read_to_string(format!("{folder}/{name}")).unwrap()
}

#[test]
fn bundles_of_the_public_instance_are_verified() {
    let trust = TrustRoot::public_good();
    let keys = [PublicKey::from_pem(&read("key.pub")).unwrap()];
    let by_key = format!("the key {}", keys[0].id());
    let about = |digest: &str| digest.parse::<Digest>().unwrap();
    let cosign = about("sha256:e194b99df6639501325c5f44da79fe3a8efae6f239bd79443a19787e06fb1764");
    let github = about("sha256:c4e92e9ecc828bef2aa7dba1de8ac983511f7532a0df11c770d39099a25cf201");
    let key = about("sha256:a0cfc71271d6e278e57cd332ff957c3f7043fdda354c4cbb190a30d56efa01bf");
    for (name, digest, expected) in [
        (
            "cosign.json",
            cosign,
            Ok("(https://github.com/login/oauth)"),
        ),
        (
            "github.json",
            github,
            Ok("(https://token.actions.githubusercontent.com)"),
        ),
        ("key.json", key, Ok(by_key.as_str())),
        ("cosign.json", github, Err("not about this component")),
        ("github.json", key, Err("not about this component")),
        ("key.json", cosign, Err("not about this component")),
        // npm's provenance names a SHA-512.
        ("npm.json", cosign, Err("it is about no SHA-256 digest")),
    ] {
        match (
            verify_bundle(read(name).as_bytes(), &[digest], &trust, &keys),
            expected,
        ) {
            (Ok(actual), Ok(expected)) => {
                assert!(actual.to_string().ends_with(expected), "{}", actual);
            }
            (Err(actual), Err(expected)) => assert!(actual.to_string().contains(expected)),
            (actual, _) => panic!("{name}: {actual:?}, expected {expected:?}"),
        }
    }
}
