//! A mode of an agent in which it plans: `resolve` approves the plan, or sends it back, while
//! nothing else is pending.
//!
//! ```text
//! cargo run --release --example plan_approval -- plan.json
//! ```

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use airlock_host::json::Json;
use airlock_host::standing::{StandingHandler, StandingResult};
use airlock_host::{Error, Session};
use async_trait::async_trait;
use serde_json::{Map, Value, json};

/// A plan in the making.
struct Planning {
    steps: Mutex<Vec<String>>,
    /// Where an approved plan goes.
    file: PathBuf,
}

#[async_trait]
impl StandingHandler for Planning {
    fn label(&self) -> String {
        match self.steps.lock().unwrap().len() {
            1 => "Plan: 1 step".to_owned(),
            count => format!("Plan: {count} steps"),
        }
    }

    async fn apply(
        &self,
        reason: &str,
        extra: Option<&Map<String, Value>>,
    ) -> Result<StandingResult, Error> {
        let title = extra.and_then(|extra| extra.get("title")?.as_str());
        let Some(title) = title else {
            let message = "the plan needs a title: pass `extra: {\"title\": …}`".to_owned();
            return Err(Error::Tool { message });
        };
        let steps = self.steps.lock().unwrap().clone();
        let state = json!({"title": title, "steps": steps, "approvedBecause": reason});
        std::fs::write(&self.file, format!("{state:#}\n")).map_err(|error| Error::Failed {
            message: format!("can't write {}: {error}", self.file.display()),
        })?;
        Ok(StandingResult {
            details: Json::of(&state).ok(),
            ..StandingResult::text(format!("Approved: {title}. Begin with step 1."))
        })
    }

    async fn reject(
        &self,
        reason: &str,
        _extra: Option<&Map<String, Value>>,
    ) -> Result<Option<StandingResult>, Error> {
        Ok(Some(StandingResult::text(format!(
            "Keep planning: {reason}"
        ))))
    }
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let Some(file) = std::env::args_os().nth(1) else {
        anyhow::bail!("usage: plan_approval FILE");
    };
    for told in plan(file.into()).await? {
        println!("{told}");
    }
    Ok(())
}

/// Does what a model would do that plans, and gives what it would be told.
async fn plan(file: PathBuf) -> Result<[String; 4], Error> {
    let planning = Arc::new(Planning {
        steps: Mutex::new(vec!["Read the tests".to_owned()]),
        file,
    });
    let session = Session::builder().model_decides().open()?;
    session.set_standing_handler(Some(planning.clone()));
    let resolve = async |params: Value| match session.call("resolve", &params).await {
        Ok(outcome) => outcome.text(),
        Err(error) => format!("error: {error}"),
    };

    let params = json!({"action": "discard", "reason": "the second step is missing"});
    let sent_back = resolve(params).await;
    planning.steps.lock().unwrap().push("Mend them".to_owned());
    let untitled = resolve(json!({"action": "apply", "reason": "complete"})).await;
    let extra = json!({"title": "Mend the tests"});
    let approved = resolve(json!({"action": "apply", "reason": "complete", "extra": extra})).await;
    // The mode is over: what nothing stands behind can't be resolved.
    session.set_standing_handler(None);
    let over = resolve(json!({"action": "apply", "reason": "again"})).await;
    Ok([sent_back, untitled, approved, over])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_plan_is_sent_back_then_approved_and_written_and_then_nothing_is_pending() {
        let folder = std::env::temp_dir().join(format!("plan-approval-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let file = folder.join("plan.json");
        let told = plan(file.clone()).await.unwrap();
        let written = std::fs::read(&file);
        std::fs::remove_dir_all(&folder).unwrap();
        assert_eq!(
            told,
            [
                "Keep planning: the second step is missing",
                "error: the plan needs a title: pass `extra: {\"title\": …}`",
                "Approved: Mend the tests. Begin with step 1.",
                "error: No pending action to resolve. Nothing to apply or discard.",
            ]
        );
        let written: Value = serde_json::from_slice(&written.unwrap()).unwrap();
        assert_eq!(written["steps"], json!(["Read the tests", "Mend them"]));
        assert_eq!(written["approvedBecause"], "complete");
    }
}
