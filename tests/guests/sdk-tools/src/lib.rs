//! Several tools in one component, written with the SDK: the one guest here that is a test of the
//! SDK too.

use std::fs;

use airlock_tool::{
    Action, Call, Context, Error, Output, Preview, Resolution, Tool, Tools, session,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

airlock_tool::export!(tools);

fn tools() -> Tools {
    Tools::new()
        .with(
            Tool::new("write_note", "Writes a file.")
                .preview(preview_note)
                .apply(write_note)
                .destructive(),
        )
        .with(
            Tool::new(
                "count_down",
                "Stages an action for each number, with a reject of its own.",
            )
            .label("Count down")
            .preview(preview_count)
            .apply(count)
            .reject(stop_counting),
        )
        .with(
            Tool::new("divide", "Answers at once, and panics where it must.")
                .output::<Quotient>()
                .answer(divide),
        )
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Note {
    /// The file's path.
    path: String,
    text: String,
}

#[derive(Serialize, Deserialize)]
struct NotePlan {
    path: String,
    text: String,
}

fn preview_note(note: Note, call: &Call) -> Result<Preview<NotePlan>, Error> {
    // What would have an effect fails during a preview.
    let early =
        fs::write(&note.path, &note.text).with_context(|| format!("writing `{}`", note.path));
    let said = match early {
        Ok(()) => "it was written too early".to_owned(),
        Err(error) => error.to_string(),
    };
    let plan = NotePlan {
        path: note.path,
        text: note.text,
    };
    let action = Action::new(format!("Write: {}", plan.path), plan).details("for reviewers");
    Ok(Preview::new(format!("{}: {said}", call.tool())).stage(action))
}

fn write_note(plan: NotePlan, resolution: &Resolution) -> Result<Output, Error> {
    fs::write(&plan.path, plan.text).with_context(|| format!("writing `{}`", plan.path))?;
    Ok(Output::text(format!(
        "wrote {} in attempt {}",
        plan.path, resolution.attempt
    )))
}

#[derive(Deserialize, JsonSchema)]
struct Count {
    #[schemars(range(min = 1, max = 5))]
    from: u32,
}

/// Of another type than the other tool's plan.
#[derive(Serialize, Deserialize)]
struct Number(u32);

fn preview_count(count: Count, _: &Call) -> Result<Preview<Number>, Error> {
    let preview = Preview::new("counting down");
    Ok((1..=count.from).fold(preview, |preview, number| {
        preview.stage(Action::new(format!("Count: {number}"), Number(number)))
    }))
}

fn count(Number(number): Number, resolution: &Resolution) -> Result<Output, Error> {
    let extra: Option<Extra> = resolution.extra()?;
    match extra {
        Some(Extra { refuse: true }) => Err(Error::tool(format!("{number} was refused"))),
        _ => Ok(Output::text(number.to_string())),
    }
}

#[derive(Deserialize)]
struct Extra {
    refuse: bool,
}

fn stop_counting(Number(number): Number, _: &Resolution) -> Result<Option<Output>, Error> {
    Ok((number % 2 == 1).then(|| Output::text(format!("stopped at {number}"))))
}

#[derive(Deserialize, JsonSchema)]
struct Division {
    dividend: i32,
    divisor: i32,
}

#[derive(Serialize, JsonSchema)]
struct Quotient {
    quotient: i32,
    session: Option<String>,
}

fn divide(division: Division, _: &Call) -> Result<Output, Error> {
    let quotient = division.dividend / division.divisor;
    let session = session().map(|session| session.id);
    Ok(Output::text(quotient.to_string()).details(Quotient { quotient, session }))
}
