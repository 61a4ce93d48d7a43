//! A mode of an agent in which it plans: `resolve` approves the plan, or sends it back, while nothing else is pending.
//!
//! ```text
//! cargo run --release --example plan_approval -- plan.json
//! ```

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use airlock_host::{Error, Session, StandingHandler, StandingResult};
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
        format!("Plan: {} steps", self.steps.lock().unwrap().len())
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
            details: Some(state),
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
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let Some(file) = std::env::args_os().nth(1) else {
        return Err("usage: plan_approval FILE".into());
    };
    let planning = Arc::new(Planning {
        steps: Mutex::new(vec!["Read the tests".to_owned()]),
        file: file.into(),
    });
    let session = Session::builder().open()?;
    session.set_standing_handler(Some(planning.clone()));

    // What a model would call, and what it would be told.
    let resolve = async |params: Value| match session.call("resolve", &params).await {
        Ok(outcome) => println!("{}", outcome.text()),
        Err(error) => println!("error: {error}"),
    };
    resolve(json!({"action": "discard", "reason": "the second step is missing"})).await;
    planning.steps.lock().unwrap().push("Mend them".to_owned());
    resolve(json!({"action": "apply", "reason": "complete"})).await;
    let extra = json!({"title": "Mend the tests"});
    resolve(json!({"action": "apply", "reason": "complete", "extra": extra})).await;
    // The mode is over: what nothing stands behind can't be resolved.
    session.set_standing_handler(None);
    resolve(json!({"action": "apply", "reason": "again"})).await;
    Ok(())
}
