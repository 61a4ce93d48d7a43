//! Signatures by Debian's `minisign`.

use std::fs;
use std::path::{Path, PathBuf};

use airlock_signature::{MinisignKey, SignatureError, verify_minisign};
use tempfile::TempDir;

use crate::support::{CONTENTS, programs, run};

/// A folder with keys, contents and a signature.
struct Files {
    folder: TempDir,
    minisign: PathBuf,
}

impl Files {
    fn path(&self, name: &str) -> String {
        self.folder.path().join(name).display().to_string()
    }

    fn write(&self, name: &str, contents: &[u8]) {
        fs::write(self.path(name), contents).unwrap();
    }

    /// Signs the contents with a key, which is made if it is missing.
    fn sign(&self, key: &str, options: &[&str]) -> Vec<u8> {
        let secret = self.path(&format!("{key}.key"));
        if !Path::new(&secret).exists() {
            let public = self.path(&format!("{key}.pub"));
            run(&self.minisign, &["-G", "-W", "-p", &public, "-s", &secret]).unwrap();
        }
        let (contents, out) = (self.path("contents"), self.path("signature"));
        let arguments = ["-S", "-s", &secret, "-m", &contents, "-x", &out];
        run(&self.minisign, &[&arguments[..], options].concat()).unwrap();
        fs::read(out).unwrap()
    }

    /// Asks minisign about the contents and the signature.
    fn judge(&self, key: &str) -> Result<String, String> {
        let public = self.path(&format!("{key}.pub"));
        let (contents, file) = (self.path("contents"), self.path("signature"));
        run(
            &self.minisign,
            &["-V", "-p", &public, "-m", &contents, "-x", &file],
        )
    }

    fn key(&self, name: &str) -> MinisignKey {
        let text = fs::read_to_string(self.path(&format!("{name}.pub"))).unwrap();
        MinisignKey::parse(&text).unwrap()
    }
}

#[test]
fn signatures_are_judged_as_by_minisign() {
    let files = Files {
        folder: TempDir::new().unwrap(),
        minisign: programs().join("bin/minisign"),
    };
    files.write("contents", CONTENTS);
    let good = files.sign("ann", &[]);
    let by_bob = files.sign("bob", &[]);
    let legacy = files.sign("ann", &["-l"]);
    let text = String::from_utf8(good.clone()).unwrap();
    let comment = text.replace("timestamp:", "timestamp:1");
    let untrusted = text.replacen("signature from", "signature by", 1);
    let lines = text.lines().count();
    assert_eq!(lines, 4, "{text}");

    let (ann, bob) = (files.key("ann"), files.key("bob"));
    let signer = Ok(format!("the minisign key {ann}"));
    let malformed = "malformed signature: not a signature by minisign";
    for (name, signature, contents, expected, same) in [
        ("good", good.clone(), CONTENTS, signer.clone(), true),
        (
            "another untrusted comment",
            untrusted.into(),
            CONTENTS,
            signer,
            true,
        ),
        (
            "altered contents",
            good.clone(),
            b"other",
            Err("does not match the contents"),
            true,
        ),
        (
            "no contents",
            good.clone(),
            b"",
            Err("does not match the contents"),
            true,
        ),
        (
            "another comment",
            comment.into(),
            CONTENTS,
            Err("its comment was changed"),
            true,
        ),
        (
            "another key",
            by_bob,
            CONTENTS,
            Err("by an unknown key: minisign key "),
            true,
        ),
        // minisign still accepts it.
        (
            "legacy",
            legacy,
            CONTENTS,
            Err("minisign's legacy format"),
            false,
        ),
        (
            "truncated",
            good[..good.len() / 2].to_vec(),
            CONTENTS,
            Err(malformed),
            true,
        ),
        ("empty", Vec::new(), CONTENTS, Err(malformed), true),
        ("binary", vec![0xff; 100], CONTENTS, Err(malformed), true),
        (
            "large",
            vec![b'a'; 20_000],
            CONTENTS,
            Err("the limit is 16384"),
            true,
        ),
    ] {
        let actual = verify_minisign(&signature, contents, std::slice::from_ref(&ann));
        match (&actual, &expected) {
            (Ok(actual), Ok(expected)) => assert_eq!(actual.to_string(), *expected),
            (Err(actual), Err(expected)) => {
                assert!(actual.to_string().contains(expected), "{name}: {actual}");
            }
            _ => panic!("{name}: {actual:?}, expected {expected:?}"),
        }
        files.write("contents", contents);
        files.write("signature", &signature);
        let judged = files.judge("ann");
        assert_eq!(judged.is_ok() == actual.is_ok(), same, "{name}: {judged:?}");
    }
    let by_either = verify_minisign(&good, CONTENTS, &[bob.clone(), ann.clone()]).unwrap();
    assert_eq!(by_either.to_string(), format!("the minisign key {ann}"));
    let unknown = verify_minisign(&good, CONTENTS, &[bob]).unwrap_err();
    assert!(
        matches!(unknown, SignatureError::UnknownKey(_)),
        "{unknown}"
    );
}
