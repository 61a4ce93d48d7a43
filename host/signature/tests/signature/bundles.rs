//! Bundles that `tests/signature/make.mjs` makes, as they are and altered.

mod broken;
mod cases;

use serde_json::{Value, json};

use airlock_signature::{Digest, PublicKey, TrustRoot, verify_bundle};

use crate::support::{CONTENTS, IDENTITY, ISSUER, Maker};
use broken::{altered, malformed};
use cases::Others::{Accept, Agree, JavaScriptAgrees, PythonAgrees, Refuse};
use cases::{Case, Cases, ENTRIES, HINT, PROMISE, TIMESTAMPS, mixed, with};

fn good(cases: &mut Cases, maker: &Maker) {
    let ann = || Ok(format!("{IDENTITY} ({ISSUER})"));
    for (name, options) in [
        ("a statement", &[][..]),
        ("a message", &["--message"][..]),
        ("a statement of version 0.1", &["--bundle", "0.1"]),
        (
            "a message of version 0.2",
            &["--bundle", "0.2", "--message"],
        ),
        ("a statement in version 2 of the log", &["--rekor2"]),
        (
            "a message in version 2 of the log",
            &["--rekor2", "--message"],
        ),
        ("a statement with a timestamp", &["--timestamp"]),
    ] {
        cases.add(
            name,
            &maker.keyless("root", CONTENTS, options),
            ann(),
            Agree,
        );
    }
    for (name, options) in [
        ("provenance", &["--provenance"][..]),
        (
            "old provenance",
            &["--predicate", "https://slsa.dev/provenance/v0.2"][..],
        ),
    ] {
        let bundle = maker.keyless("root", CONTENTS, options);
        cases.add(name, &bundle, ann(), Agree);
    }
    for (name, options) in [
        ("a statement by a key", &[][..]),
        ("a message by a key", &["--message"][..]),
        ("a statement by a key, in the log", &["--log"]),
        ("a message by a key, in the log", &["--log", "--message"]),
        ("a statement by a key, with a timestamp", &["--timestamp"]),
    ] {
        let bundle = maker.by_key("ann", options);
        let signer = Ok(format!("the key {}", maker.key("ann").id()));
        cases.add(name, &bundle, signer, JavaScriptAgrees).keys = vec!["ann"];
    }
}

fn by_other_algorithms(cases: &mut Cases, maker: &Maker) {
    for (name, algorithm, others) in [
        ("ed25519", "ed25519", JavaScriptAgrees),
        ("rsa", "rsa", JavaScriptAgrees),
        // @sigstore/verify hashes with SHA-256 whatever the curve is.
        ("p384", "p384", Refuse),
    ] {
        let bundle = maker.by_key(name, &["--algorithm", algorithm]);
        let signer = Ok(format!("the key {}", maker.key(name).id()));
        cases.add(name, &bundle, signer, others).keys = vec![name];
    }
    // Without the contents, such a key verifies no message.
    let message = maker.by_key("ann", &["--message"]);
    let hint = json!(maker.key("ed25519").id().to_string());
    let message = with(&message, &[(HINT, hint)]);
    let problem = Err("only a statement about a digest can be verified");
    cases
        .add("a message by Ed25519", &message, problem, Refuse)
        .keys = vec!["ed25519"];
    // The digest in a message is a hint.
    let bundle = maker.keyless("root", CONTENTS, &["--message"]);
    let bundle = with(&bundle, &[("/messageSignature/messageDigest", Value::Null)]);
    let signer = Ok(format!("{IDENTITY} ({ISSUER})"));
    cases.add("a message without a digest", &bundle, signer, PythonAgrees);
    let bundle = maker.keyless("root", b"other", &["--message"]);
    let bundle = with(&bundle, &[("/messageSignature/messageDigest", Value::Null)]);
    let problem = Err("does not match the contents and the signer");
    cases.add("another message without a digest", &bundle, problem, Agree);
}

fn about_others(cases: &mut Cases, maker: &Maker) {
    let other = "not about this component";
    let bundle = maker.keyless("root", b"other", &[]);
    cases.add("another subject", &bundle, Err(other), Agree);
    let payload = maker.keyless("root", CONTENTS, &[])["dsseEnvelope"]["payload"].clone();
    let bundle = with(&bundle, &[("/dsseEnvelope/payload", payload)]);
    cases.add(
        "a swapped payload",
        &bundle,
        Err("does not match the contents"),
        Agree,
    );

    let bundle = maker.keyless("root", b"other", &["--message"]);
    cases.add("another message", &bundle, Err(other), Agree);
    let digest =
        maker.keyless("root", CONTENTS, &["--message"])["messageSignature"]["messageDigest"]
            .clone();
    let bundle = with(&bundle, &[("/messageSignature/messageDigest", digest)]);
    cases.add(
        "a swapped digest",
        &bundle,
        Err("does not match the contents"),
        Agree,
    );

    // They leave the type of a statement to their callers.
    let report = "https://cosign.sigstore.dev/attestation/vuln/v1";
    let bundle = maker.keyless("root", CONTENTS, &["--predicate", report]);
    cases.add(
        "a vulnerability report",
        &bundle,
        Err("a statement of the type https://cosign.sigstore.dev/attestation/vuln/v1 does not"),
        Accept,
    );
}

fn untrusted(cases: &mut Cases, maker: &Maker) {
    let bundle = maker.keyless("other", CONTENTS, &[]);
    cases.add("another root", &bundle, Err("not trusted: "), Agree);
    maker.copy("forged", &["rekor.key"]);
    let bundle = maker.keyless("forged", CONTENTS, &[]);
    cases.add(
        "another authority",
        &bundle,
        Err("no trusted authority issued"),
        Agree,
    );
    maker.copy("unlisted", &["rekor.key", "fulcio.key", "fulcio.der"]);
    let bundle = maker.keyless("unlisted", CONTENTS, &[]);
    cases.add(
        "another certificate log",
        &bundle,
        Err("certificate timestamp"),
        Agree,
    );
    maker.copy("unlogged", &["ctlog.key", "fulcio.key", "fulcio.der"]);
    let bundle = maker.keyless("unlogged", CONTENTS, &["--timestamp"]);
    cases.add(
        "another log and clock",
        &bundle,
        Err("not trusted: "),
        Agree,
    );

    let expired = "the certificate had expired when";
    for (name, options) in [
        ("expired", &["--expired"][..]),
        ("an expired message", &["--expired", "--message"][..]),
        ("expired by its timestamp", &["--expired", "--rekor2"]),
    ] {
        cases.add(
            name,
            &maker.keyless("root", CONTENTS, options),
            Err(expired),
            Agree,
        );
    }
}

fn by_keys(cases: &mut Cases, maker: &Maker) {
    let bundle = maker.by_key("ann", &[]);
    maker.by_key("bob", &[]);
    let ann = || Ok(format!("the key {}", maker.key("ann").id()));
    cases
        .add(
            "another key",
            &bundle,
            Err("by an unknown key: "),
            JavaScriptAgrees,
        )
        .keys = vec!["bob"];
    cases.add(
        "no keys",
        &bundle,
        Err("by an unknown key: "),
        JavaScriptAgrees,
    );
    let unnamed = with(&bundle, &[(HINT, json!("my key"))]);
    cases
        .add("an unknown name", &unnamed, ann(), JavaScriptAgrees)
        .keys = vec!["ann", "bob"];
    let named = with(&bundle, &[(HINT, json!(maker.key("bob").id().to_hex()))]);
    cases
        .add(
            "another key's name",
            &named,
            Err("is not by the key"),
            Refuse,
        )
        .keys = vec!["bob", "ann"];

    let bundle = maker.by_key("ann", &["--log"]);
    let other = maker.by_key("ann", &["--log"]);
    let swapped = mixed(&bundle, &other, &[ENTRIES]);
    let problem = Err("about another signature");
    cases
        .add(
            "an entry of another signature by the key",
            &swapped,
            problem,
            JavaScriptAgrees,
        )
        .keys = vec!["ann"];
    let swapped = mixed(&bundle, &other, &[PROMISE]);
    let problem = Err("invalid inclusion promise");
    cases
        .add(
            "a swapped promise of a key's entry",
            &swapped,
            problem,
            JavaScriptAgrees,
        )
        .keys = vec!["ann"];
    let bundle = maker.by_key("ann", &["--timestamp"]);
    let other = maker.by_key("ann", &["--timestamp"]);
    let swapped = mixed(&bundle, &other, &[TIMESTAMPS]);
    cases
        .add(
            "a swapped timestamp of a key",
            &swapped,
            Err("not trusted: "),
            JavaScriptAgrees,
        )
        .keys = vec!["ann"];
    // A certificate needs an authority, whichever keys there are.
    let bundle = maker.keyless("other", CONTENTS, &[]);
    cases
        .add(
            "another root beside a key",
            &bundle,
            Err("not trusted: "),
            Agree,
        )
        .keys = vec!["ann"];
}

#[test]
fn bundles_are_judged_as_by_other_verifiers() {
    let maker = Maker::new();
    let mut cases = Cases(Vec::new());
    good(&mut cases, &maker);
    by_other_algorithms(&mut cases, &maker);
    about_others(&mut cases, &maker);
    untrusted(&mut cases, &maker);
    altered(&mut cases, &maker);
    malformed(&mut cases, &maker);
    by_keys(&mut cases, &maker);

    let asked: Vec<_> = cases
        .0
        .iter()
        .map(|case| (case.bundle.clone(), case.keys.first().copied()))
        .collect();
    let [javascript, python] = maker.ask_others(&asked);
    let trust = maker.trust_root("root");
    let mut problems = Vec::new();
    for ((case, javascript), python) in cases.0.iter().zip(javascript).zip(python) {
        let keys: Vec<PublicKey> = case.keys.iter().map(|name| maker.key(name)).collect();
        if let Err(problem) = check(case, &trust, &keys, [&javascript, &python]) {
            problems.push(format!(
                "{}: {problem}\n  {javascript}\n  {python}",
                case.name
            ));
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

fn check(
    case: &Case,
    trust: &TrustRoot,
    keys: &[PublicKey],
    [javascript, python]: [&str; 2],
) -> Result<(), String> {
    let digests = [Digest::of(b"the manifest"), Digest::of(CONTENTS)];
    let actual = verify_bundle(&case.bundle, &digests, trust, keys);
    let as_expected = match (&actual, &case.expected) {
        (Ok(actual), Ok(expected)) => actual.to_string() == *expected,
        (Err(actual), Err(expected)) => actual.to_string().contains(expected),
        _ => false,
    };
    if !as_expected {
        return Err(format!("{actual:?}, expected {:?}", case.expected));
    }
    let [by_javascript, by_python] = [javascript, python].map(|line| line.starts_with("ok"));
    let alike = match case.others {
        Agree => by_javascript == actual.is_ok() && by_python == actual.is_ok(),
        JavaScriptAgrees => by_javascript == actual.is_ok(),
        PythonAgrees => by_javascript != actual.is_ok() && by_python == actual.is_ok(),
        Accept => by_javascript && by_python,
        Refuse => !by_javascript && !by_python,
    };
    // The signer is the same, too.
    let named = match (&actual, javascript.strip_prefix("ok ")) {
        (Ok(actual), Some(signer)) => signer == "key" || signer == actual.to_string(),
        _ => true,
    };
    if alike && named {
        Ok(())
    } else {
        Err(format!("others disagree with {actual:?}"))
    }
}
