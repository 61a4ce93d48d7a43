//! A host is killed in the middle of a commit, and another opens the workspace.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use airlock_host::Session;
use airlock_host::pending::{ActionId, ActionState};
use airlock_host::store::DurableStore;

use super::store;
use super::worker::{Worker, WorkerFiles};

/// So many that putting them in their places takes longer than it takes to notice.
const FILES: usize = 3000;

/// How often a commit may be over before anybody has noticed that it began.
const TRIES: usize = 100;

/// Whether a commit has its journal, and is not over.
pub(super) fn is_under_way(workspace: &Path) -> bool {
    let private = fs::read_dir(workspace.join(".airlock"));
    let mut names = private.into_iter().flatten().flatten();
    names.any(|entry| entry.path().join("journal").exists())
}

fn made(workspace: &Path) -> usize {
    let made = |index: &usize| workspace.join(index.to_string()).exists();
    (0..FILES).filter(made).count()
}

/// A workspace with a commit that was cut off, and whose it was.
fn cut_off() -> (WorkerFiles, ActionId) {
    for _ in 0..TRIES {
        let site = WorkerFiles::new(1);
        let mut worker = Worker::that_makes(&site, FILES);
        worker.ends_before(|| is_under_way(&site.workspace()));
        let said = worker.stop();
        if is_under_way(&site.workspace()) && made(&site.workspace()) < FILES {
            let id = said[0].strip_prefix("pushed ").unwrap();
            return (site, id.into());
        }
    }
    panic!("each commit was over too soon");
}

#[tokio::test]
async fn a_session_that_is_opened_shows_no_file_of_half_a_commit() {
    let (site, id) = cut_off();
    let store = store(&site).await;
    let session = Session::builder()
        .model_decides()
        .id("one")
        .workspace(site.workspace())
        .store(Arc::new(store.clone()))
        .open()
        .unwrap();
    assert_eq!(made(&site.workspace()), FILES);
    assert!(!is_under_way(&site.workspace()));
    assert_eq!(session.apply_obstacle(), None);
    // The store hears of it as soon as somebody asks.
    let state = async || store.find(&id).await.unwrap().unwrap().state;
    assert_eq!(state().await, ActionState::Interrupted);
    assert!(session.pending().await.unwrap().is_empty());
    assert_eq!(state().await, ActionState::Applied);
    assert_eq!(store.check().await.unwrap(), Vec::<String>::new());
}

#[tokio::test]
async fn who_asks_for_the_next_turn_first_is_not_reminded_of_what_was_applied() {
    let (site, id) = cut_off();
    let store = store(&site).await;
    let session = Session::builder()
        .model_decides()
        .id("one")
        .workspace(site.workspace())
        .store(Arc::new(store.clone()))
        .open()
        .unwrap();
    let turn = session.next_turn().await.unwrap();
    assert!(turn.reminders.is_empty(), "{turn:?}");
    let found = store.find(&id).await.unwrap().unwrap();
    assert_eq!(found.state, ActionState::Applied);
}
