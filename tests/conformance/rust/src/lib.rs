//! The conformance suite's tool, as tests/conformance/README.md has it.

mod ending;

use std::collections::BTreeMap;

use airlock_tool::{
    Action, Call, Error, Output, Preview, Resolution, Tool, Tools, VolatileAction, session,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use ending::Ending;

airlock_tool::export!(tools);

fn tools() -> Tools {
    Tools::new()
        .with(Tool::new("answer", "Ends at once.").answer(answer))
        .with(
            Tool::new("stage", "Pushes a durable action.")
                .preview(stage)
                .apply(apply)
                .reject(reject)
                .destructive(),
        )
        .with(
            Tool::new(
                "stage_quietly",
                "Pushes a durable action that hears of no discard.",
            )
            .preview(stage_quietly)
            .apply(apply),
        )
        .with(Tool::new("hold", "Pushes volatile actions.").preview_volatile(hold))
        .with(Tool::new("surroundings", "Tells of the session.").answer(surroundings))
        .with(
            Tool::new("whisper", "Is in no listing.")
                .answer(whisper)
                .hidden(),
        )
}

#[derive(Deserialize, JsonSchema)]
struct Answer {
    end: Ending,
}

fn answer(params: Answer, _: &Call) -> Result<Output, Error> {
    params.end.of_call()
}

#[derive(Deserialize, JsonSchema)]
struct Stage {
    label: String,
    #[serde(default)]
    details: Value,
    apply: Option<Ending>,
    reject: Option<Ending>,
    #[serde(default)]
    pad: usize,
}

#[derive(Deserialize, JsonSchema)]
struct StageQuietly {
    label: String,
    apply: Option<Ending>,
}

#[derive(Serialize, Deserialize)]
struct Plan {
    apply: Option<Ending>,
    reject: Option<Ending>,
    padding: String,
}

fn stage(params: Stage, _: &Call) -> Result<Preview<Plan>, Error> {
    let plan = Plan {
        apply: params.apply,
        reject: params.reject,
        padding: "x".repeat(params.pad),
    };
    let action = Action::new(&params.label, plan);
    let action = match params.details {
        Value::Null => action,
        details => action.details(details),
    };
    Ok(Preview::new(format!("staged {}", params.label)).stage(action))
}

fn stage_quietly(params: StageQuietly, _: &Call) -> Result<Preview<Plan>, Error> {
    let plan = Plan {
        apply: params.apply,
        reject: None,
        padding: String::new(),
    };
    Ok(Preview::new(format!("staged {}", params.label)).stage(Action::new(params.label, plan)))
}

fn apply(plan: Plan, resolution: &Resolution) -> Result<Output, Error> {
    plan.apply.unwrap_or_else(Ending::applied).of(resolution)
}

fn reject(plan: Plan, resolution: &Resolution) -> Result<Option<Output>, Error> {
    plan.reject
        .map_or(Ok(None), |end| end.of_reject(resolution))
}

#[derive(Deserialize, JsonSchema)]
struct Hold {
    actions: Vec<Held>,
    #[serde(default)]
    catch: bool,
}

#[derive(Deserialize, JsonSchema)]
struct Held {
    label: String,
    source: Option<String>,
    #[serde(default)]
    details: Value,
    #[serde(default)]
    unwritable: bool,
    apply: Option<Ending>,
    reject: Option<Ending>,
}

fn hold(params: Hold, _: &Call) -> Result<Output, Error> {
    let mut output = Output::default();
    let mut ids = Vec::new();
    for held in params.actions {
        let label = held.label.clone();
        match held.push() {
            Ok(id) => {
                output = output.with(format!("pushed {label}"));
                ids.push(id);
            }
            Err(refused) if params.catch => output = output.with(format!("refused: {refused}")),
            Err(refused) => return Err(refused),
        }
    }
    Ok(output.details(json!({"ids": ids})))
}

impl Held {
    fn push(self) -> Result<String, Error> {
        let apply = self.apply.unwrap_or_else(Ending::applied);
        let mut action = VolatileAction::new(self.label, move |resolution| apply.of(resolution));
        if let Some(reject) = self.reject {
            action = action.reject(move |resolution| reject.of_reject(resolution));
        }
        if let Some(source) = self.source {
            action = action.source_tool(source);
        }
        if self.unwritable {
            // JSON has only texts for keys.
            action = action.details(BTreeMap::from([(["a", "list"], 1)]));
        } else if !self.details.is_null() {
            action = action.details(self.details);
        }
        action.push()
    }
}

#[derive(Deserialize, JsonSchema)]
struct Surroundings {}

fn surroundings(_: Surroundings, _: &Call) -> Result<Output, Error> {
    let session = session().ok_or_else(|| Error::failed("there is no session"))?;
    Ok(Output::default().details(json!({
        "id": session.id,
        "workspace": session.workspace,
        "hasPendingStore": session.can_stage,
    })))
}

#[derive(Deserialize, JsonSchema)]
struct Whisper {
    text: String,
}

fn whisper(params: Whisper, _: &Call) -> Result<Output, Error> {
    Ok(Output::text(params.text.to_uppercase()))
}
