//! Signatures of installed plugins, and requirements on their signers.

mod later;

use std::fs;
use std::path::PathBuf;

use airlock_host::digest::Digest;
use serde_json::{Value, json};

use super::registry::{Registry, serve};
use super::signing::{Minisign, Sigstore};
use super::{Place, SAY};

const ISSUER: &str = "https://issuer.example.com";
const ANN: &str = "ann@example.com";
const BOB: &str = "bob@example.com";

/// A publisher's file, with a Sigstore of its own that the operator trusts.
struct Publisher {
    place: Place,
    sigstore: Sigstore,
}

impl Publisher {
    fn new() -> Self {
        let (place, sigstore) = (Place::new(), Sigstore::new());
        let root = sigstore.root();
        fs::copy(root, place.path("etc/trusted_root.json")).unwrap();
        let publisher = Self { place, sigstore };
        publisher.require("");
        publisher.build(SAY);
        publisher
    }

    /// Sets the requirements of the operator.
    fn require(&self, text: &str) {
        let text = format!("trust-root = 'trusted_root.json'\n{text}");
        fs::write(self.place.config(), text).unwrap();
    }

    fn require_identity(&self, identity: &str) {
        self.require(&format!(
            "[[require]]\nsigned-by = [{{ identity = '{identity}', issuer = '{ISSUER}' }}]\n"
        ));
    }

    /// The component's file.
    fn file(&self) -> PathBuf {
        self.place.path("tools/say.wasm")
    }

    fn name(&self) -> String {
        self.file().to_str().unwrap().to_owned()
    }

    /// Builds a component with these tools, and removes the signatures of the one before.
    fn build(&self, tools: &str) {
        let (made, file) = (self.place.tools("made", tools), self.name());
        self.place.done(&["build", &made, "--output", &file]);
        for ending in ["sigstore.json", "minisig"] {
            let _ = fs::remove_file(self.signature(ending));
        }
    }

    /// Publishes the component and its signatures, and returns the registry and the reference.
    fn publish(&self) -> (Registry, String) {
        let registry = Registry::start();
        let reference = format!("{}/ann/say:1", registry.host);
        self.place.done(&["push", &reference, &self.name()]);
        (registry, reference)
    }

    fn signature(&self, ending: &str) -> PathBuf {
        PathBuf::from(format!("{}.{ending}", self.name()))
    }

    fn digest(&self) -> Digest {
        Digest::of(&fs::read(self.file()).unwrap())
    }

    /// Signs the component with a certificate for this identity.
    fn sign(&self, identity: &str, options: &[&str]) {
        let bundle = self.signature("sigstore.json");
        self.sigstore
            .keyless(identity, ISSUER, self.digest(), &bundle, options);
    }

    /// The reported state, after a command that must succeed.
    #[track_caller]
    fn state(&self, args: &[&str]) -> Value {
        self.place.json(args)["plugins"][0]["state"].clone()
    }

    /// Checks that an installation fails with these words and leaves nothing.
    #[track_caller]
    fn check_refused(&self, says: &[&str]) {
        let ran = self
            .place
            .airlock(&["install", &self.name(), "--yes"])
            .run();
        assert_eq!(ran.code, 3, "{says:?}: {ran:#?}");
        for part in says {
            assert!(ran.stderr.contains(part), "no {part:?} in {}", ran.stderr);
        }
        assert!(!self.place.lock().contains("[[plugin]]"), "{says:?}");
        assert_eq!(self.place.components(), [""; 0], "{says:?}");
    }
}

/// The signers, as the command lists them.
#[track_caller]
fn signers(place: &Place, args: &[&str]) -> Value {
    let told = place.json(args);
    match &told["plugins"] {
        Value::Null => told["signers"].clone(),
        plugins => plugins.as_array().unwrap().last().unwrap()["signers"].clone(),
    }
}

#[test]
fn a_signed_plugin_is_installed_from_each_kind_of_place() {
    let publisher = Publisher::new();
    let place = &publisher.place;
    publisher.sign(ANN, &[]);
    publisher.require_identity(ANN);
    let registry = Registry::start();
    let reference = format!("{}/ann/say:1", registry.host);
    let pushed = place.json(&["push", &reference, &publisher.name()]);
    let attached = pushed["signatures"][0].as_str().unwrap();
    assert!(attached.ends_with("say.wasm.sigstore.json"), "{attached}");
    let folder = place.path("tools");
    let host = serve(move |path| match fs::read(folder.join(&path[1..])) {
        Ok(bytes) => (200, bytes),
        Err(_) => (404, Vec::new()),
    });
    let ann = json!([{ "identity": ANN, "issuer": ISSUER }]);
    let check = |reference: &str, name: &str| {
        place.done(&["install", reference, "--as", name, "--yes"]);
        assert_eq!(signers(place, &["inspect", name]), ann, "{reference}");
        place.check_says(name);
    };
    check(&reference, "registry");
    check(&format!("http://{host}/say.wasm"), "web");
    check(&publisher.name(), "file");
    let lock = place.lock();
    assert!(lock.contains("signed-by"), "{lock}");
}

#[test]
fn a_signature_of_something_else_is_not_pushed() {
    let publisher = Publisher::new();
    let place = &publisher.place;
    publisher.sign(ANN, &[]);
    let old = fs::read(publisher.signature("sigstore.json")).unwrap();
    publisher.build(&SAY.replace("Says", "Shouts"));
    fs::write(publisher.signature("sigstore.json"), old).unwrap();
    let ran = place
        .airlock(&["push", "127.0.0.1:1/ann/say:1", &publisher.name()])
        .run();
    assert_eq!(ran.code, 2, "{ran:#?}");
    let says = "say.wasm.sigstore.json is about other contents than";
    assert!(ran.stderr.contains(says), "{ran:#?}");
}

#[test]
fn unsigned_is_said_on_every_surface() {
    let publisher = Publisher::new();
    let place = &publisher.place;
    let said = "none (unsigned)";
    let shown = place.done(&["install", &publisher.name(), "--yes"]).stdout;
    assert!(shown.contains(said), "{shown}");
    for (args, text) in [
        (&["list"][..], said),
        (&["inspect", "say"], said),
        (&["plugins"], "(unsigned)"),
    ] {
        let shown = place.done(args).stdout;
        assert!(shown.contains(text), "{args:?}: {shown}");
        assert_eq!(signers(place, args), json!([]), "{args:?}");
    }
    let updated = place.json(&["update", "--yes"]);
    assert_eq!(updated["plugins"][0]["signers"], json!([]));
    // A signature by somebody whom nobody knows isn't mentioned.
    let stranger = Sigstore::new();
    let bundle = publisher.signature("sigstore.json");
    stranger.keyless(ANN, ISSUER, publisher.digest(), &bundle, &[]);
    place.done(&["update", "--yes"]);
    assert_eq!(signers(place, &["list"]), json!([]));
}

#[test]
fn what_is_not_signed_as_required_is_not_installed() {
    let publisher = Publisher::new();
    publisher.require_identity(ANN);
    publisher.check_refused(&["say is unsigned, and must be signed by ann@example.com"]);

    publisher.sign(BOB, &[]);
    publisher.check_refused(&["say is signed by bob@example.com", "must be signed by ann"]);

    let bundle = publisher.signature("sigstore.json");
    let digest = publisher.digest();
    let other = "https://other.example.com";
    publisher.sigstore.keyless(ANN, other, digest, &bundle, &[]);
    publisher.check_refused(&["signed by ann@example.com (https://other.example.com)"]);

    publisher.sign(ANN, &["--expired"]);
    publisher.check_refused(&["say is unsigned", "a signature doesn't count", "expired"]);

    // Somebody else's Sigstore gives anybody any name.
    let stranger = Sigstore::new();
    stranger.keyless(ANN, ISSUER, digest, &bundle, &[]);
    publisher.check_refused(&["say is unsigned", "a signature doesn't count"]);

    let others = Digest::of(b"another component");
    publisher
        .sigstore
        .keyless(ANN, ISSUER, others, &bundle, &[]);
    publisher.check_refused(&["say is unsigned", "a signature doesn't count"]);

    // It says that somebody looked for faults, not that anybody vouches for it.
    let scan = "https://cosign.sigstore.dev/attestation/vuln/v1";
    publisher.sign(ANN, &["--predicate", scan]);
    publisher.check_refused(&["say is unsigned", scan]);

    fs::write(&bundle, "{}").unwrap();
    publisher.check_refused(&["say is unsigned", "a signature doesn't count"]);

    for options in [&["--provenance"][..], &["--message"], &[]] {
        publisher.sign(ANN, options);
        assert_eq!(
            publisher.state(&["install", &publisher.name(), "--yes"]),
            match options {
                ["--provenance"] => "installed",
                _ => "unchanged",
            },
        );
    }
}

#[test]
fn a_signature_by_a_key_counts_if_the_operator_names_the_key() {
    let publisher = Publisher::new();
    let place = &publisher.place;
    let bundle = publisher.signature("sigstore.json");
    let key = publisher.sigstore.key("ann", publisher.digest(), &bundle);
    fs::copy(key, place.path("etc/ann.pub")).unwrap();
    // Without a requirement that names it, the key means nothing.
    place.done(&["install", &publisher.name(), "--yes"]);
    assert_eq!(signers(place, &["list"]), json!([]));
    place.done(&["uninstall", "say"]);

    publisher.require("[[require]]\nplugins = ['say']\nsigned-by = [{ key = 'ann.pub' }]\n");
    place.done(&["install", &publisher.name(), "--yes"]);
    let listed = signers(place, &["list"]);
    let id = listed[0]["key"].as_str().unwrap();
    assert!(id.starts_with("sha256:"), "{listed}");
    place.check_says("say");
    place.done(&["uninstall", "say"]);

    publisher.sigstore.key("bob", publisher.digest(), &bundle);
    publisher.check_refused(&["say is unsigned, and must be signed by the key sha256:"]);
}

#[test]
fn a_signature_of_minisign_counts_if_the_operator_names_the_key() {
    let publisher = Publisher::new();
    let place = &publisher.place;
    let (ann, bob) = (Minisign::new(), Minisign::new());
    publisher.require(&format!(
        "[[require]]\nsigned-by = [{{ minisign = '{}' }}]\n",
        ann.public()
    ));
    publisher.check_refused(&["say is unsigned", &ann.public()]);
    bob.sign(&publisher.file());
    publisher.check_refused(&["say is unsigned", "a signature doesn't count"]);
    ann.sign(&publisher.file());
    let (_registry, reference) = publisher.publish();
    place.done(&["install", &reference, "--yes"]);
    let expected = json!([{ "minisign": ann.public() }]);
    assert_eq!(signers(place, &["list"]), expected);
    // Another component with the same signature.
    let signature = fs::read(publisher.signature("minisig")).unwrap();
    publisher.build(&SAY.replace("Says", "Shouts"));
    fs::write(publisher.signature("minisig"), signature).unwrap();
    place.done(&["push", &reference, &publisher.name()]);
    let ran = place.airlock(&["update", "--yes"]).run();
    assert_eq!(ran.code, 3, "{ran:#?}");
    assert!(ran.stderr.contains("say is unsigned"), "{ran:#?}");
    place.check_says("say");
}

#[test]
fn errors_in_requirements_stop_everything_with_their_file() {
    let publisher = Publisher::new();
    let place = &publisher.place;
    fs::write(place.path("etc/no.pub"), "no key").unwrap();
    let check = |text: &str, says: &[&str]| {
        fs::write(place.config(), text).unwrap();
        for line in [
            &["config", "check"][..],
            &["install", &publisher.name(), "--yes"],
        ] {
            let ran = place.airlock(line).run();
            assert_eq!(ran.code, 2, "{text}: {ran:#?}");
            for part in [&["airlock-host.toml:"], says].concat() {
                assert!(ran.stderr.contains(part), "no {part:?} in {}", ran.stderr);
            }
        }
        assert_eq!(place.lock(), "", "{text}");
    };
    let signed_by = |signer: &str| format!("[[require]]\nsigned-by = [{signer}]\n");
    check("[[require]]\n", &["missing field `signed-by`"]);
    check(&signed_by(""), &["names no signer"]);
    check(&signed_by("{ }"), &["`identity` and an `issuer`"]);
    check(
        &signed_by("{ identity = 'x' }"),
        &["`identity` and an `issuer`"],
    );
    check(&signed_by("{ key = 'gone.pub' }"), &["gone.pub"]);
    check(&signed_by("{ key = 'no.pub' }"), &["no.pub"]);
    check(&signed_by("{ minisign = 'RWQ' }"), &["RWQ"]);
    check(&signed_by("{ keys = 'x' }"), &["unknown field `keys`"]);
    check("trust-root = 'gone.json'\n", &["gone.json"]);
    check("trust-root = 'no.pub'\n", &["no.pub"]);
    let from = signed_by("").replace("signed", "from = ['ghcr.io/ann/*']\nsigned");
    check(&from, &["airlock-host.toml:2:", "ghcr.io/ann/*"]);
}

#[test]
fn what_a_tool_could_change_vouches_for_nothing() {
    let publisher = Publisher::new();
    let place = &publisher.place;
    publisher.sign(ANN, &[]);
    publisher.require_identity(ANN);
    place.done(&["install", &publisher.name(), "--yes"]);
    let refused = |says: &str| {
        let ran = place.say("say");
        assert_eq!(ran.code, 2, "{ran:#?}");
        assert!(ran.stderr.contains(says), "no {says:?} in {}", ran.stderr);
    };
    let root = place.path("etc/trusted_root.json");
    fs::copy(&root, place.path("ws/docs/root.json")).unwrap();
    fs::write(place.config(), "trust-root = '../ws/docs/root.json'\n").unwrap();
    refused("lies in the workspace");
    publisher.require("");
    let own = |text: &str| fs::write(place.path("ws/airlock-host.toml"), text).unwrap();
    own("trust-root = '../etc/trusted_root.json'\n");
    refused("chooses whose plugins are trusted");
    own("[[require]]\nsigned-by = [{ minisign = 'RWQ' }]\n");
    refused("chooses whose plugins are trusted");
}
