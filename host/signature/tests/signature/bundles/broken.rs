//! Bundles that were altered or are malformed.

use serde_json::{Value, json};

use super::cases::Others::{Accept, Agree, PythonAgrees, Refuse};
use super::cases::{
    CERTIFICATE, Cases, ENTRIES, PROMISE, PROOF, SIGNATURES, TIME, TIMESTAMPS, mixed, with,
};
use crate::support::{CONTENTS, Maker};

pub(super) fn altered(cases: &mut Cases, maker: &Maker) {
    let bundle = maker.keyless("root", CONTENTS, &[]);
    let other = maker.keyless("root", CONTENTS, &[]);
    let mismatch = "does not match the contents and the signer";
    let time = "nothing proves when it was made";

    cases.add(
        "a swapped signature",
        &mixed(&bundle, &other, &[SIGNATURES]),
        Err(mismatch),
        Agree,
    );
    cases.add(
        "a swapped certificate",
        &mixed(&bundle, &other, &[CERTIFICATE]),
        Err(mismatch),
        Agree,
    );
    let swapped = mixed(&bundle, &other, &[ENTRIES]);
    cases.add(
        "an entry of another signature",
        &swapped,
        Err("about another signature"),
        Agree,
    );
    let swapped = mixed(&bundle, &other, &[SIGNATURES, ENTRIES]);
    cases.add(
        "a signature by another certificate",
        &swapped,
        Err(mismatch),
        Agree,
    );
    let none = with(&bundle, &[(ENTRIES, json!([]))]);
    cases.add(
        "in no log",
        &none,
        Err("it is in no transparency log"),
        Agree,
    );
    let none = with(&bundle, &[(PROMISE, Value::Null)]);
    cases.add("no promise", &none, Err(time), Agree);
    let none = with(&bundle, &[(PROOF, Value::Null)]);
    cases.add("no proof", &none, Err("has no proof"), Agree);
    cases.add(
        "a swapped proof",
        &mixed(&bundle, &other, &[PROOF]),
        Err("not trusted: "),
        Agree,
    );
    let swapped = mixed(&bundle, &other, &[PROMISE]);
    cases.add(
        "a swapped promise",
        &swapped,
        Err("invalid inclusion promise"),
        Agree,
    );
    let later = with(&bundle, &[(TIME, json!("1700000000"))]);
    cases.add("another time", &later, Err("not trusted: "), Agree);
    let checkpoint = format!("{PROOF}/checkpoint/envelope");
    let envelope = bundle.pointer(&checkpoint).unwrap().as_str().unwrap();
    let unsigned = envelope.split_inclusive("\n\n").next().unwrap();
    let unsigned = with(&bundle, &[(checkpoint.as_str(), json!(unsigned))]);
    cases.add("an unsigned checkpoint", &unsigned, Err(""), Agree);
    // A second entry that proves nothing adds nothing, but it must not seem to.
    let entry = bundle.pointer(&format!("{ENTRIES}/0")).unwrap();
    let bare = with(
        entry,
        &[
            ("/inclusionProof", Value::Null),
            ("/inclusionPromise", Value::Null),
        ],
    );
    let two = with(&bundle, &[(ENTRIES, json!([entry, bare]))]);
    cases.add(
        "an entry without a proof beside another",
        &two,
        Err("has no proof"),
        Refuse,
    );

    let bundle = maker.keyless("root", CONTENTS, &["--rekor2"]);
    let other = maker.keyless("root", CONTENTS, &["--rekor2"]);
    let swapped = mixed(&bundle, &other, &[TIMESTAMPS]);
    cases.add("a swapped timestamp", &swapped, Err("not trusted: "), Agree);
    let none = with(&bundle, &[(TIMESTAMPS, Value::Null)]);
    cases.add("no timestamp", &none, Err(time), Agree);
}

pub(super) fn malformed(cases: &mut Cases, maker: &Maker) {
    let bundle = maker.keyless("root", CONTENTS, &[]);
    let message = maker.keyless("root", CONTENTS, &["--message"]);
    let bytes = serde_json::to_vec(&bundle).unwrap();
    for (name, bytes) in [
        ("empty", Vec::new()),
        ("truncated", bytes[..bytes.len() / 2].to_vec()),
        ("cut at the end", bytes[..bytes.len() - 1].to_vec()),
        ("nested", "[".repeat(100_000).into_bytes()),
        ("not UTF-8", [&bytes[..], b"\xff"].concat()),
    ] {
        cases.add_bytes(
            name,
            bytes,
            Err("malformed signature: not a Sigstore bundle"),
            Refuse,
        );
    }
    cases.add_bytes(
        "padded",
        [&bytes[..], &[b' '; 1 << 20]].concat(),
        Err("the limit is"),
        Accept,
    );
    let media_type = json!("application/vnd.dev.sigstore.bundle.v0.9+json");
    let newer = with(&bundle, &[("/mediaType", media_type)]);
    cases.add(
        "a newer version",
        &newer,
        Err("unsupported signature: its media type"),
        PythonAgrees,
    );
    let none = with(&bundle, &[("/mediaType", Value::Null)]);
    cases.add("no version", &none, Err("missing field `mediaType`"), Agree);
    let both = with(
        &bundle,
        &[("/messageSignature", message["messageSignature"].clone())],
    );
    cases.add(
        "both kinds of signatures",
        &both,
        Err("expected a message signature or"),
        Refuse,
    );
    let hint = json!({"hint": ""});
    let both = with(&bundle, &[("/verificationMaterial/publicKey", hint)]);
    cases.add(
        "a certificate and a key",
        &both,
        Err("expected one certificate"),
        Refuse,
    );
    let signature = bundle.pointer(SIGNATURES).unwrap()[0].clone();
    let two = with(&bundle, &[(SIGNATURES, json!([signature, signature]))]);
    cases.add("two signatures", &two, Err("exactly one signature"), Agree);
}
