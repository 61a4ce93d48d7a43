//! What a guest sees of where it runs.

use std::sync::{Arc, Mutex};

use airlock_host::event::{Event, LogLevel};
use airlock_tests::Puppet;
use serde_json::{Value, json};

#[tokio::test]
async fn a_guest_knows_its_session_and_nothing_of_the_hosts_environment() {
    let puppet = Puppet::with(|session| session.id("conversation-7")).await;
    let session: Value =
        serde_json::from_str(&puppet.text(json!([{"do": "session"}])).await).unwrap();
    assert_eq!(
        session,
        json!({"id": "conversation-7", "workspace": "/workspace", "hasPendingStore": true})
    );
    let env: Value = serde_json::from_str(&puppet.text(json!([{"do": "env"}])).await).unwrap();
    assert_eq!(env["vars"], json!({}));
    assert_eq!(env["args"], json!([]));
    assert_eq!(env["initialCwd"], "/workspace");
    assert_eq!(env["preopens"], json!(["/workspace", "/scratch", "/"]));
}

#[tokio::test]
async fn logs_progress_and_output_reach_the_observer_with_their_source() {
    let events = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&events);
    let puppet = Puppet::with(|session| {
        session.id("watched").observer(move |source, event| {
            assert_eq!(source.session.unwrap().as_str(), "watched");
            assert_eq!((source.plugin, source.tool), ("puppet", "puppet"));
            assert_eq!(source.call, Some(1));
            if airlock_tests::is_of_guest(event) {
                seen.lock().unwrap().push(event.clone());
            }
        })
    })
    .await;
    puppet
        .call(json!([
            {"do": "log", "message": "careful", "level": "warn"},
            {"do": "progress", "message": "half", "progress": 1.0, "total": 2.0},
            {"do": "stdout", "lines": 1}, {"do": "stderr", "lines": 1}, {"do": "long-line", "bytes": 3},
        ]))
        .await
        .unwrap();
    let events = events.lock().unwrap();
    let log = |level, message: &str| Event::Log {
        level,
        message: message.to_owned(),
    };
    assert_eq!(events[0], log(LogLevel::Warn, "careful"));
    let half = Event::Progress {
        message: "half".to_owned(),
        progress: Some(1.0),
        total: Some(2.0),
    };
    assert_eq!(events[1], half);
    assert!(
        matches!(&events[2], Event::Log { level: LogLevel::Info, message } if message.starts_with("stdout")),
        "{events:?}"
    );
    assert!(
        matches!(&events[3], Event::Log { level: LogLevel::Warn, message } if message.starts_with("stderr")),
        "{events:?}"
    );
    // A line without an end is written when the call ends.
    assert!(
        matches!(&events[4], Event::Log { message, .. } if message.len() == 3),
        "{events:?}"
    );
}

#[tokio::test]
async fn an_observer_hears_of_what_is_staged_and_of_no_push_where_the_call_fails() {
    let heard = Arc::new(Mutex::new(Vec::new()));
    let hears = Arc::clone(&heard);
    let puppet = Puppet::with(|session| {
        session.observer(move |_, event| {
            let told = match event {
                Event::Staged { action } => format!("staged {}", action.label),
                Event::Pushed { action } => format!("pushed {}", action.label),
                _ => return,
            };
            hears.lock().unwrap().push(told);
        })
    })
    .await;
    let push = |label: &str| json!({"do": "push", "label": label});
    let steps = json!([push("One"), {"do": "push", "label": ""}, push("Two"), {"do": "trap"}]);
    puppet.call(steps).await.unwrap_err();
    assert_eq!(*heard.lock().unwrap(), ["staged One", "staged Two"]);
}

#[tokio::test]
async fn an_observer_hears_what_a_guest_was_refused() {
    let refused = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&refused);
    let puppet = Puppet::with(|session| {
        session.observer(move |_, event| {
            if let Event::Refused(refusal) = event {
                seen.lock().unwrap().push(refusal.to_string());
            }
        })
    })
    .await;
    let write = |path: &str| json!({"do": "fs", "op": "write", "path": path, "text": "early"});
    let check = async |steps: Value, expected: &[&str]| {
        puppet.call(steps).await.unwrap();
        let heard = std::mem::take(&mut *refused.lock().unwrap());
        assert_eq!(heard, expected);
    };
    let workspace = "refused write access to the workspace, which is read-only now";
    check(json!([write("/workspace/a")]), &[workspace]).await;
    let twice = format!("{workspace}, 2 times");
    check(json!([write("/workspace/a"), write("/b")]), &[&twice]).await;
    check(json!([write("/scratch/a")]), &[]).await;
    let reach = |how: &str| json!({"do": "reach", "how": how});
    let network = "refused network access: tools have none";
    for how in ["connect", "listen", "datagram", "lookup"] {
        check(json!([reach(how)]), &[network]).await;
    }
    let twice = "refused network access, 2 times: tools have none";
    check(json!([reach("connect"), reach("lookup")]), &[twice]).await;
    let push = json!({"do": "push", "label": "two\nlines"});
    let reason = "refused a pending action: the label has more than one line: the rest of it belongs in the action's details";
    check(json!([push]), &[reason]).await;
}

#[tokio::test]
async fn a_plugin_that_is_asked_again_describes_the_same_tools() {
    let plugin = airlock_tests::plugin("puppet").await;
    let (tools, rejected) = plugin.ask_again().await.unwrap();
    assert!(plugin.tools().eq(&tools));
    assert_eq!(plugin.rejected(), rejected);
}

#[tokio::test]
async fn a_workspace_must_be_a_directory_that_leaves_room_for_scratch_elsewhere() {
    let plugin = airlock_tests::plugin("puppet").await;
    let open = |path: &str| {
        let session = airlock_host::Session::builder()
            .model_decides()
            .workspace(path)
            .bind(&plugin);
        session.open().unwrap_err().to_string()
    };
    let missing = open("/no/such/directory");
    assert!(
        missing.starts_with("can't use /no/such/directory as a workspace: No such file"),
        "{missing}"
    );
    let file = tempfile::NamedTempFile::new().unwrap();
    assert!(open(file.path().to_str().unwrap()).contains("not a directory"));
    assert!(open("/").contains("choose a directory further down"));
}
