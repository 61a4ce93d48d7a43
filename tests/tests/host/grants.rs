//! Grants for paths and variables, and a component's wants.

use std::fs;
use std::path::Path;
use std::sync::{Arc, Mutex};

use airlock_host::event::{Event, Refusal};
use airlock_host::load::LoadError;
use airlock_host::policy::{Pattern, VariableName};
use airlock_host::{Plugin, Policy, Resolution};
use airlock_tests::{Puppet, durable, engine, plugin, puppet_with_section};
use serde_json::{Value, json};

fn fill(workspace: &Path) {
    for path in ["docs/a.md", "docs/deep/b.md", "notes/c.md", "secret/d.md"] {
        let path = workspace.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, "old").unwrap();
    }
    std::os::unix::fs::symlink("../secret/d.md", workspace.join("docs/link")).unwrap();
}

fn paths(read: &[&str], change: &[&str]) -> Policy {
    let patterns = |texts: &[&str]| -> Vec<Pattern> {
        texts.iter().map(|it| Pattern::new(*it).unwrap()).collect()
    };
    Policy::default().with_paths(&patterns(read), &patterns(change))
}

fn name(text: &str) -> VariableName {
    VariableName::try_from(text.to_owned()).unwrap()
}

fn step(op: &str, path: &str) -> Value {
    match op {
        "write" => json!({"do": "fs", "op": op, "path": path, "text": "new"}),
        "rename" => json!({"do": "fs", "op": op, "path": path, "to": "docs/moved"}),
        "symlink" => json!({"do": "fs", "op": op, "path": path, "target": "a.md"}),
        _ => json!({"do": "fs", "op": op, "path": path}),
    }
}

/// The error of a path that was not granted.
const DENIED: &str = "error: Permission denied (os error 2)";

#[tokio::test]
async fn a_preview_reads_only_what_is_granted() {
    let puppet = Puppet::granted(paths(&["notes/"], &["docs/"])).await;
    fill(puppet.workspace());
    for (op, path, expected) in [
        ("read", "notes/c.md", "ok old"),
        // What can be changed can be read.
        ("read", "docs/deep/b.md", "ok old"),
        ("read", "secret/d.md", DENIED),
        ("read", "secret/missing.md", DENIED),
        ("read", "docs/link", DENIED),
        ("read", "docs/../secret/d.md", DENIED),
        ("stat", "secret", DENIED),
        ("ls", "secret", DENIED),
        ("ls", "/workspace", r#"ok ["docs/","notes/"]"#),
        ("ls", "docs", r#"ok ["a.md","deep/","link@"]"#),
        ("write", "/scratch/mine", "ok"),
    ] {
        let text = puppet.text(json!([step(op, path)])).await;
        assert_eq!(text, expected, "{op} {path}");
    }
}

#[tokio::test]
async fn an_apply_changes_only_what_is_granted() {
    let puppet = Puppet::granted(paths(&["notes/"], &["docs/"])).await;
    fill(puppet.workspace());
    let steps = [
        ("write", "docs/a.md", "ok"),
        (
            "write",
            "docs/new/../e.md",
            "error: No such file or directory (os error 44)",
        ),
        ("mkdir", "docs/new", "ok"),
        ("write", "notes/c.md", DENIED),
        ("write", "other.md", DENIED),
        ("mkdir", "other", DENIED),
        ("unlink", "notes/c.md", DENIED),
        ("unlink", "secret/d.md", DENIED),
        ("rename", "notes/c.md", DENIED),
        ("symlink", "notes/link", DENIED),
        ("write", "docs/link", DENIED),
        ("rmtree", "secret", DENIED),
    ];
    let all = steps.iter().map(|(op, path, _)| step(op, path));
    let applied = puppet.apply(Value::Array(all.collect())).await.unwrap();
    let expected: Vec<_> = steps.iter().map(|(.., expected)| *expected).collect();
    assert_eq!(applied.text().lines().collect::<Vec<_>>(), expected);
    let contents = |path| fs::read_to_string(puppet.workspace().join(path)).unwrap();
    assert_eq!(contents("docs/a.md"), "new");
    assert_eq!(contents("notes/c.md"), "old");
    assert_eq!(contents("secret/d.md"), "old");
}

#[tokio::test]
async fn a_plugin_gets_what_is_wanted_and_granted_and_no_more() {
    let check = async |wants: &str, granted: Policy, path: &str, expected: &str| {
        let puppet = Puppet::wanting(wants, granted).await;
        fill(puppet.workspace());
        let text = puppet.text(json!([step("read", path)])).await;
        assert_eq!(text, expected, "{wants} {path}");
    };
    let everything = Policy::default();
    let wants = r#"{"read":["*.md"],"change":["docs/"]}"#;
    check(wants, everything.clone(), "secret/d.md", "ok old").await;
    check(wants, paths(&["docs/"], &[]), "secret/d.md", DENIED).await;
    check(wants, paths(&["docs/"], &[]), "docs/a.md", "ok old").await;
    check(
        r#"{"read":["docs/"]}"#,
        everything.clone(),
        "notes/c.md",
        DENIED,
    )
    .await;
    // It has no workspace at all.
    check(
        "{}",
        everything,
        "docs/a.md",
        "error: No such file or directory (os error 44)",
    )
    .await;
}

#[tokio::test]
async fn what_a_component_does_not_want_it_can_not_change_either() {
    let puppet = Puppet::wanting(r#"{"read":["**"],"change":["docs/"]}"#, Policy::default()).await;
    fill(puppet.workspace());
    let steps = json!([step("write", "docs/a.md"), step("write", "secret/d.md")]);
    let applied = puppet.apply(steps).await.unwrap();
    assert_eq!(applied.text(), format!("ok\n{DENIED}"));
    let [change] = &applied.effects.as_ref().unwrap().effects.changes[..] else {
        panic!("{:?}", applied.effects);
    };
    assert_eq!(change.path, "docs/a.md");
}

#[tokio::test]
async fn an_action_keeps_its_grants_and_what_was_denied() {
    let wants =
        r#"{"read":["**"],"change":["docs/","*.toml"],"environment":["HOME"],"secrets":["TOKEN"]}"#;
    let puppet = Puppet::wanting(wants, paths(&["**"], &["docs/"])).await;
    puppet.push(durable("One", json!([]))).await;
    let pending = puppet.session.pending().await.unwrap();
    let grants = &pending[0].action.grants;
    assert_eq!(
        grants.denied,
        [
            "change *.toml",
            "see the variables HOME",
            "use the secrets TOKEN"
        ]
    );
    assert!(grants.change.contains("docs/a.md") && !grants.change.contains("Cargo.toml"));
}

#[tokio::test]
async fn an_action_gets_no_more_than_was_granted_when_it_was_pushed() {
    let puppet = plugin("puppet").await;
    let narrow = Puppet::with(|session| session).await;
    fill(narrow.workspace());
    let session = &narrow.session;
    session
        .rebind([puppet.under(paths(&["**"], &["docs/"]))])
        .unwrap();
    let steps = json!([step("write", "docs/a.md"), step("write", "notes/c.md")]);
    narrow.push(durable("Two files", steps)).await;
    session.rebind([puppet.under(Policy::default())]).unwrap();
    let applied = narrow.resolve(Resolution::apply("a test says so")).await;
    assert_eq!(applied.unwrap().text(), format!("ok\n{DENIED}"));
}

#[tokio::test]
async fn a_guest_sees_only_the_variables_that_are_granted_and_wanted() {
    let check = async |wants: Option<&str>, granted: &[&str], expected: &[&str]| {
        let policy = Policy::default().with_environment(granted.iter().map(|it| name(it)));
        let puppet = match wants {
            Some(wants) => Puppet::wanting(wants, policy).await,
            None => Puppet::granted(policy).await,
        };
        let text = puppet.text(json!([{"do": "env"}])).await;
        let told: Value = serde_json::from_str(&text).unwrap();
        let seen: Vec<_> = told["vars"].as_object().unwrap().keys().cloned().collect();
        assert_eq!(seen, expected, "{wants:?} {granted:?}");
    };
    let wants = r#"{"environment":["CARGO_MANIFEST_DIR","PATH"]}"#;
    check(None, &[], &[]).await;
    check(None, &["PATH"], &["PATH"]).await;
    check(Some(wants), &[], &[]).await;
    check(Some(wants), &["PATH", "HOME"], &["PATH"]).await;
    check(Some("{}"), &["PATH"], &[]).await;
    check(None, &["NO_SUCH_VARIABLE"], &[]).await;
}

#[tokio::test]
async fn a_refusal_names_the_grant_that_would_allow_it() {
    let events = Arc::new(Mutex::new(Vec::new()));
    let told = async |wants: &str, policy: Policy, steps: Value| {
        let bytes = puppet_with_section("airlock:wants", wants.as_bytes());
        let plugin = Plugin::from_bytes(engine(), "puppet", bytes).await.unwrap();
        let seen = Arc::clone(&events);
        let puppet = Puppet::with(|session| {
            session.observer(move |_, event| {
                if let Event::Refused(Refusal::Path(refusal)) = event {
                    seen.lock().unwrap().push(refusal.to_string());
                }
            })
        })
        .await;
        fill(puppet.workspace());
        puppet.session.rebind([plugin.under(policy)]).unwrap();
        puppet.text(steps).await;
        std::mem::take(&mut *events.lock().unwrap())
    };
    let steps = json!([step("read", "secret/d.md"), step("read", "secret/e.md")]);
    assert_eq!(
        told(r#"{"read":["**"]}"#, paths(&["docs/"], &[]), steps.clone()).await,
        [
            "was not allowed to read \"secret/d.md\" (and 1 more): add read=secret/d.md to its grants to allow it"
        ]
    );
    assert_eq!(
        told(r#"{"read":["docs/"]}"#, Policy::default(), steps).await,
        [
            "was not allowed to read \"secret/d.md\" (and 1 more): the plugin doesn't say that it wants this, so no grant allows it"
        ]
    );
}

#[tokio::test]
async fn a_component_with_wrong_wants_does_not_load_and_says_why() {
    let check = async |wants: &[u8], part: &str| {
        let bytes = puppet_with_section("airlock:wants", wants);
        let error = Plugin::from_bytes(engine(), "puppet", bytes)
            .await
            .unwrap_err();
        assert!(
            matches!(
                error,
                LoadError::World { .. } | LoadError::NotAComponent { .. }
            ),
            "{error:?}"
        );
        assert!(error.to_string().contains(part), "{error}");
    };
    check(
        b"{\"network\":true}",
        "its section `airlock:wants` is wrong: unknown field `network`",
    )
    .await;
    check(b"{\"read\":[\"../x\"]}", "leads out of the workspace").await;
    check(b"[", "its section `airlock:wants` is wrong").await;
    check(b"\xff", "a section that is not UTF-8: `airlock:wants`").await;
    let mut twice = puppet_with_section("airlock:wants", b"{}");
    let one = puppet_with_section("airlock:wants", b"{}");
    let puppet = fs::read(airlock_tests::component("puppet")).unwrap();
    twice.extend_from_slice(&one[puppet.len()..]);
    let error = Plugin::from_bytes(engine(), "puppet", twice)
        .await
        .unwrap_err();
    assert!(
        error.to_string().contains("two sections `airlock:wants`"),
        "{error}"
    );
}

#[tokio::test]
async fn a_component_says_what_it_is_in_the_sections_that_others_read() {
    let bytes = puppet_with_section("authors", b"Ann <ann@example.com>");
    let plugin = Plugin::from_bytes(engine(), "puppet", bytes).await.unwrap();
    assert_eq!(
        plugin.about().authors.as_deref(),
        Some("Ann <ann@example.com>")
    );
    assert_eq!(plugin.wants(), None);
}
