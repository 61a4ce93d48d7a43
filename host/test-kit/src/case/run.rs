//! Runs a case.

use std::sync::Arc;

use airlock_host::pending::Decision;
use airlock_host::store::MemoryStore;
use airlock_host::{Plugin, Resolution, Session};

use super::{Action, Case, Resolve};
use crate::HarnessError;
use crate::harness::{self, Harness};
use crate::property::Breach;

/// Returns the first difference from the expectations, if any.
///
/// # Errors
/// If the host fails.
pub async fn run(plugin: &Plugin, case: &Case) -> Result<Option<Breach>, HarnessError> {
    let stage = Harness::set(plugin, &case.files, Arc::new(MemoryStore::new()))?;
    let session = stage.session_that_rehearses()?;
    let answer = harness::call(&session, &case.tool, &case.params.0).await?;
    if let Some(breach) = case.expect.breach("the preview", &answer) {
        return Ok(Some(breach));
    }
    if let Some(breach) = pushed(case, &session).await? {
        return Ok(Some(breach));
    }
    for (index, resolve) in case.resolve.iter().enumerate() {
        if let Some(breach) = decide(resolve, index, &session).await? {
            return Ok(Some(breach));
        }
    }
    Ok(case.changes.breach(&case.files.changes(&stage.files()?)))
}

async fn pushed(case: &Case, session: &Session) -> Result<Option<Breach>, HarnessError> {
    let Some(expected) = &case.pushed else {
        return Ok(None);
    };
    let pushed = session.pending().await?;
    if pushed.len() != expected.len() {
        let labels: Vec<&str> = pushed
            .iter()
            .map(|stacked| stacked.action.label.as_str())
            .collect();
        return Ok(Some(Breach {
            expected: match expected.len() {
                1 => "1 pending action".to_owned(),
                count => format!("{count} pending actions"),
            },
            came: format!("{}: {}", pushed.len(), labels.join(", ")),
        }));
    }
    let breaches = expected
        .iter()
        .zip(&pushed)
        .enumerate()
        .map(|(index, (expected, stacked))| {
            expected.breach(&format!("action {}", index + 1), &stacked.action)
        });
    Ok(breaches.flatten().next())
}

async fn decide(
    resolve: &Resolve,
    index: usize,
    session: &Session,
) -> Result<Option<Breach>, HarnessError> {
    let (decision, verb) = match resolve.action {
        Action::Apply => (Decision::Apply, "apply"),
        Action::Discard => (Decision::Discard, "discard"),
    };
    let whose = format!("decision {} ({verb})", index + 1);
    let pending = session.pending().await?;
    let Some(topmost) = pending.first() else {
        return Ok(Some(Breach {
            expected: format!("{whose} finds a pending action"),
            came: "nothing is pending".to_owned(),
        }));
    };
    let mut resolution = Resolution::new(decision, &resolve.reason);
    if let Some(extra) = &resolve.extra {
        resolution = resolution.with_extra(extra.0.clone());
    }
    let answer = harness::resolve(session, &topmost.action, resolution).await?;
    Ok(resolve.expect.breach(&whose, &answer))
}
