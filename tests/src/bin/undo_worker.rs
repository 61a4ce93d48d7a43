//! A host that applies actions whole, in part and together, and undoes that, without an end: to be
//! killed by the test `crash`.
//!
//! `undo_worker STORE WORKSPACE CACHE HISTORY SEED` writes `ready`, and then `began <what>` and
//! `ended <what>` for each step to its standard output. Before a step, it notes the
//! expected files in HISTORY: see [`History`].

use std::collections::BTreeSet;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use airlock_host::compile::CompileCache;
use airlock_host::effects::{Choice, Selection};
use airlock_host::native::Undo;
use airlock_host::pending::{Decision, Together};
use airlock_host::policy::Rehearse;
use airlock_host::{Engine, Plugin, Resolution, Session, UndoRetention};
use airlock_store_sqlite::SqliteStore;
use airlock_tests::{History, Random, Tester, WorkspaceText, component, durable};
use anyhow::{Context, bail, ensure};
use serde_json::{Value, json};

const USAGE: &str = "usage: undo_worker STORE WORKSPACE CACHE HISTORY SEED";

fn main() -> anyhow::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    runtime.block_on(work())
}

async fn work() -> anyhow::Result<()> {
    let mut arguments = std::env::args().skip(1);
    let mut argument = || arguments.next().context(USAGE);
    let store = SqliteStore::builder(argument()?).open().await?;
    let workspace = PathBuf::from(argument()?);
    let cache = PathBuf::from(argument()?);
    let cache = CompileCache::open(&cache, cache.join("key"))?;
    let engine = Engine::builder().cache(cache).build()?;
    let plugin = Plugin::load(&engine, component("puppet")).await?;
    let history = PathBuf::from(argument()?);
    let random = Random::new(argument()?.parse()?);
    let session = Session::builder()
        .model_decides()
        .id("one")
        .workspace(&workspace)
        .store(Arc::new(store))
        .rehearse(Rehearse::Auto)
        .undo_retention(Some(UndoRetention::default()))
        .bind(&Undo::producer())
        .bind(&plugin)
        .open()?;
    session.recover().await?;
    session.clear("left by another worker", Tester).await?;
    let now = WorkspaceText::read(&workspace)?;
    let mut worker = Worker {
        session,
        history: History::open(&history, now)?,
        random,
    };
    say("ready");
    loop {
        worker.step(&workspace).await?;
    }
}

/// One line, at once.
fn say(line: &str) {
    let mut output = std::io::stdout().lock();
    // Without a reader, the test is over.
    if writeln!(output, "{line}").is_err() || output.flush().is_err() {
        std::process::exit(0);
    }
}

struct Worker {
    session: Session,
    history: History,
    random: Random,
}

impl Worker {
    async fn step(&mut self, workspace: &Path) -> anyhow::Result<()> {
        let what = match self.random.below(6) {
            0 => "whole",
            1 => "part",
            2 => "together",
            _ if self.history.before().is_some() => "undo",
            _ => "whole",
        };
        let number = self.random.below(1_000_000).to_string();
        let now = self.history.now().clone();
        let mut next = now.clone();
        match what {
            "whole" => next.rename_and_edit(&number, &number),
            "part" => next.edit(&number, None),
            "together" => next.count(&number),
            _ => next = self.history.before().context("a step to undo")?.clone(),
        }
        self.history.expect(next.clone())?;
        say(&format!("began {what}"));
        match what {
            "whole" => self.whole(&now, &next).await?,
            "part" => self.part(now, &number).await?,
            "together" => self.together(&next).await?,
            _ => {
                let undo = self.session.undo(None).await?;
                ensure!(undo.pushed.len() == 1, "{}", undo.text());
                self.apply().await?;
            }
        }
        let found = WorkspaceText::read(workspace)?;
        ensure!(found == next, "{what}: {found:#?} instead of {next:#?}");
        say(&format!("ended {what}"));
        Ok(())
    }

    async fn push(&self, label: &str, steps: Value) -> anyhow::Result<()> {
        let params = json!({ "steps": [durable(label, steps)] });
        self.session.call("puppet", &params).await?;
        Ok(())
    }

    async fn apply(&self) -> anyhow::Result<()> {
        let apply = Resolution::apply("a test says so");
        self.session.resolve(apply, Tester).await?;
        Ok(())
    }

    async fn whole(&self, now: &WorkspaceText, next: &WorkspaceText) -> anyhow::Result<()> {
        let (old, new) = (now.name(), next.name());
        let mut steps = vec![json!({"do": "fs", "op": "rename", "path": old, "to": new})];
        steps.extend(next.writes(&["left", "right"]));
        self.push("Whole", Value::from(steps)).await?;
        self.apply().await
    }

    /// Previews edits at both ends of the files, and applies those at the beginning.
    async fn part(&self, now: WorkspaceText, number: &str) -> anyhow::Result<()> {
        let mut proposed = now;
        proposed.edit(number, Some("left out"));
        let writes = proposed.writes(&["left", "right"]);
        self.push("Part", Value::from(writes)).await?;
        let pending = self.session.pending().await?;
        let id = &pending.first().context("an action")?.action.id;
        let review = self.session.review(id).await?.context("a review")?;
        let changes = review.effects.as_ref().context("effects")?.changes.len();
        let mut selection = Selection::new();
        (0..changes).for_each(|at| selection.choose(at, Choice::Hunks(BTreeSet::from([0]))));
        let decided = review.decided(Decision::Apply, "the beginning is right");
        let decided = decided.with_selection(selection);
        self.session.resolve(decided, Tester).await?;
        Ok(())
    }

    async fn together(&self, next: &WorkspaceText) -> anyhow::Result<()> {
        for file in ["x", "y"] {
            self.push(file, Value::from(next.writes(&[file]))).await?;
        }
        let mut waiting = self.session.pending().await?;
        waiting.reverse();
        match self.session.review_together(&waiting).await? {
            Together::Reviewed(review) => {
                let applying = review.apply("both", Tester);
                applying.await?;
                Ok(())
            }
            Together::Apart { action, reason } => bail!("{action}: {reason}"),
        }
    }
}
