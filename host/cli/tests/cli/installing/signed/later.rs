//! Installed plugins whose signatures, lock or requirements change later.

use std::fs;

use serde_json::json;

use super::super::SAY;
use super::super::signing::Sigstore;
use super::{ANN, BOB, ISSUER, Publisher, signers};

#[test]
fn the_signers_of_a_lock_from_elsewhere_are_verified() {
    let publisher = Publisher::new();
    let place = &publisher.place;
    publisher.sign(ANN, &[]);
    publisher.require_identity(ANN);
    let (_registry, reference) = publisher.publish();
    place.done(&["install", &reference, "--yes"]);
    let lock = place.lock();
    let elsewhere = |lock: String| {
        fs::write(place.path("etc/airlock.lock"), lock).unwrap();
        let _ = fs::remove_dir_all(place.path("etc/airlock-plugins"));
        place.airlock(&["install"]).run()
    };
    assert_eq!(elsewhere(lock.clone()).code, 0);
    place.check_says("say");
    // Somebody edits the lock.
    publisher.require_identity(BOB);
    let ran = elsewhere(lock.replace(ANN, BOB));
    assert_eq!(ran.code, 3, "{ran:#?}");
    let says = "differs from";
    assert!(ran.stderr.contains(says), "{ran:#?}");
    assert!(
        ran.stderr.contains("it is no longer signed by bob@"),
        "{ran:#?}"
    );
    assert_eq!(place.say("say").code, 3);
    assert_eq!(place.components(), [""; 0]);
    // Another entry has the same component, and says so truly.
    let (head, entry) = lock.split_once("[[plugin]]").unwrap();
    let other = entry.replace("\"say\"", "\"also\"");
    let forged = entry.replace(ANN, BOB);
    let ran = elsewhere(format!("{head}[[plugin]]{other}\n[[plugin]]{forged}"));
    assert!(ran.stderr.contains("say differs from"), "{ran:#?}");
    assert_eq!(place.say("say").code, 3);
    let unsigned = lock.split("[[plugin.signed-by]]").next().unwrap().len();
    let grant = lock.find("[plugin.grant]").unwrap();
    let unsigned = format!("{}{}", &lock[..unsigned], &lock[grant..]);
    let ran = elsewhere(unsigned);
    assert_eq!(ran.code, 3, "{ran:#?}");
    assert!(
        ran.stderr.contains("say is unsigned, and must be"),
        "{ran:#?}"
    );
}

#[test]
fn a_signature_that_is_new_or_gone_is_a_difference_of_the_same_component() {
    let publisher = Publisher::new();
    let place = &publisher.place;
    place.done(&["install", &publisher.name(), "--yes"]);
    publisher.sign(ANN, &[]);
    let ran = place.airlock(&["update"]).run();
    assert_eq!(ran.code, 2, "{ran:#?}");
    let says = "say was not updated: it is now signed by ann@example.com";
    assert!(ran.stderr.contains(says), "{ran:#?}");
    assert_eq!(signers(place, &["list"]), json!([]));
    assert_eq!(publisher.state(&["update", "--yes"]), "updated");
    // Another trust root doesn't know her.
    let other = Sigstore::new();
    fs::copy(other.root(), place.path("etc/trusted_root.json")).unwrap();
    let ran = place.airlock(&["update"]).run();
    assert!(
        ran.stderr.contains("it is no longer signed by ann"),
        "{ran:#?}"
    );
    assert!(
        ran.stderr.contains("a signature of say doesn't count"),
        "{ran:#?}"
    );
    assert_eq!(publisher.state(&["update", "--yes"]), "updated");
    assert_eq!(signers(place, &["list"]), json!([]));
}

#[test]
fn the_trust_root_of_a_stricter_file_counts() {
    let publisher = Publisher::new();
    let place = &publisher.place;
    let system = place.path("system.toml");
    let require =
        format!("[[require]]\nsigned-by = [{{ identity = '{ANN}', issuer = '{ISSUER}' }}]\n");
    fs::write(&system, &require).unwrap();
    publisher.sign(ANN, &[]);
    let install = || {
        place
            .airlock(&["install", &publisher.name(), "--yes"])
            .env("AIRLOCK_SYSTEM_CONFIG", &system)
            .run()
    };
    let ran = install();
    assert_eq!(ran.code, 2, "{ran:#?}");
    assert!(ran.stderr.contains("`trust-root` is for"), "{ran:#?}");
    fs::write(place.config(), "").unwrap();
    let ran = install();
    assert_eq!(ran.code, 3, "{ran:#?}");
    assert!(ran.stderr.contains("say is unsigned"), "{ran:#?}");
    let root = "trust-root = 'etc/trusted_root.json'\n";
    fs::write(&system, format!("{root}{require}")).unwrap();
    assert_eq!(install().code, 0);
    // What a broken file requires isn't known.
    fs::write(&system, "[[require]]\nsigned = 1\n").unwrap();
    for line in [&["inspect", "say"][..], &["run", "say", "--help"]] {
        let ran = place
            .airlock(line)
            .env("AIRLOCK_SYSTEM_CONFIG", &system)
            .run();
        assert!(
            ran.stdout.is_empty() || !ran.stdout.contains("--text"),
            "{ran:#?}"
        );
    }
}

#[test]
fn an_update_by_another_signer_waits_and_says_who() {
    let publisher = Publisher::new();
    let place = &publisher.place;
    publisher.sign(ANN, &[]);
    place.done(&["install", &publisher.name(), "--yes"]);
    let lock = place.lock();
    let check_waits = |says: &[&str]| {
        let ran = place.airlock(&["update"]).run();
        assert_eq!(ran.code, 2, "{ran:#?}");
        for part in says {
            assert!(ran.stderr.contains(part), "no {part:?} in {}", ran.stderr);
        }
        assert_eq!(place.lock(), lock);
        place.check_says("say");
    };
    let lost = "it is no longer signed by ann@example.com (https://issuer.example.com)";
    publisher.build(&SAY.replace("args = [\"say\"", "args = [\"say\", \"say\""));
    check_waits(&[lost]);
    publisher.sign(BOB, &[]);
    check_waits(&[lost, "it is now signed by bob@example.com"]);

    // Where Ann's signature is required, nobody can agree to that.
    publisher.require_identity(ANN);
    for consent in [&[][..], &["--yes"], &["--grant", "read=docs/"]] {
        let ran = place.airlock(&[&["update", "say"], consent].concat()).run();
        assert_eq!(ran.code, 3, "{consent:?}: {ran:#?}");
        let says = "say is signed by bob@example.com";
        assert!(ran.stderr.contains(says), "{ran:#?}");
        assert_eq!(place.lock(), lock);
        place.check_says("say");
    }
    publisher.sign(ANN, &[]);
    assert_eq!(publisher.state(&["update", "--yes"]), "updated");
}

#[test]
fn a_requirement_that_is_new_stops_what_is_installed_until_it_is_signed() {
    let publisher = Publisher::new();
    let place = &publisher.place;
    let (_registry, reference) = publisher.publish();
    place.done(&["install", &reference, "--yes"]);
    publisher.require_identity("*@example.com");
    let lines = [
        &["run", "say", "say", "--text", "x"][..],
        &["serve", "say"],
        &["inspect", "say"],
        &["update", "--yes"],
        &["install", &reference, "--yes"],
    ];
    for line in lines {
        let ran = place.airlock(line).run();
        assert_eq!(ran.code, 3, "{line:?}: {ran:#?}");
        let says = "say is unsigned, and must be signed by *@example.com";
        assert!(ran.stderr.contains(says), "{line:?}: {ran:#?}");
    }
    let checked = place.airlock(&["doctor", "--json"]).run();
    assert_eq!(checked.code, 1, "{checked:#?}");
    assert!(checked.stdout.contains("say is unsigned"), "{checked:#?}");

    publisher.sign(ANN, &[]);
    place.done(&["push", &reference, &publisher.name()]);
    assert_eq!(publisher.state(&["update", "--yes"]), "updated");
    place.check_says("say");
    // Other plugins and other places have nothing to do with these.
    for other in ["plugins = ['dedupe']", "from = ['ghcr.io']"] {
        publisher.require(&format!(
            "[[require]]\n{other}\nsigned-by = [{{ identity = '{BOB}', issuer = '{ISSUER}' }}]\n"
        ));
        place.check_says("say");
    }
    publisher.require_identity(BOB);
    assert_eq!(place.say("say").code, 3);
}
