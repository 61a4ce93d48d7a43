//! The report, for people.

use std::time::Duration;

use airlock_host::Plugin;
use airlock_render::{Block, Line, Role};
use airlock_test_kit::{CaseReport, Note, Outcome, PropertyReport, Report, ToolReport};

use super::{TestSubject, breach, untried};

/// The results at the start of a line, all of the same width.
const HELD: &str = "held   ";
const BROKEN: &str = "BROKEN ";
const UNTRIED: &str = "untried";
const NOT_APPLICABLE: &str = "n/a    ";

pub fn block(found: &TestSubject, plugin: &Plugin, report: &Report, strict: bool) -> Block {
    let component = found.component.to_string_lossy();
    let title = Line::new().with_role(Role::Title, component);
    let mut block = Block::from(title.with(format!("  {}", plugin.digest())));
    if !report.cases.is_empty() {
        let cases = report.cases.iter().map(of_case);
        block = cases.fold(headed(block, Role::Title, "Cases"), Block::block);
    }
    let properties = report.plugin.iter().map(of_property);
    block = properties.fold(headed(block, Role::Title, "The plugin"), Block::block);
    block = report.tools.iter().map(of_tool).fold(block, Block::block);
    if !report.notes.is_empty() {
        let notes = report.notes.iter().map(of_note);
        block = notes.fold(headed(block, Role::Note, "Notes"), Block::block);
    }
    let block = block.block(untried::block(
        &report.untried,
        strict,
        &found.place_for_cases,
    ));
    let block = block.line("").line(summary(report));
    if strict && !report.untried.is_empty() {
        let failed = Line::new().with_role(Role::Error, "Failed:");
        block.line(failed.with(" with --strict, nothing may be untried."))
    } else {
        block
    }
}

fn headed(block: Block, role: Role, heading: &str) -> Block {
    let heading = Line::new().with_role(role, heading);
    block.line("").line(heading)
}

fn of_case(case: &CaseReport) -> Block {
    let took = format!("  {}", time(case.seconds));
    let rest = |line: Line| {
        let line = line.with("  ").with_quoted(Role::Plain, &*case.name);
        line.with_role(Role::Faint, &*took).indented(2).hanging(9)
    };
    match &case.breach {
        None => Block::from(rest(Line::from(HELD))),
        Some(broken) => {
            let line = rest(Line::new().with_role(Role::Error, BROKEN));
            indented(Block::from(line), breach::lines(broken))
        }
    }
}

fn of_tool(tool: &ToolReport) -> Block {
    let tries = match tool.tries {
        1 => "1 try".to_owned(),
        tries => format!("{tries} tries"),
    };
    let facts = format!(
        "  {tries}, of which {} did not fit its schema and were refused; {}",
        tool.refused,
        time(tool.seconds)
    );
    let name = Line::from("Tool ").with_quoted(Role::Title, &*tool.tool);
    let heading = name.with_role(Role::Faint, facts).hanging(2);
    let block = Block::new().line("").line(heading);
    let properties = tool.properties.iter().map(of_property);
    properties.fold(block, Block::block)
}

fn of_property(property: &PropertyReport) -> Block {
    let PropertyReport { name, about, .. } = property;
    let placed = |line: Line| line.indented(2).hanging(9);
    match &property.outcome {
        Outcome::Held { .. } => Block::from(placed(Line::from(format!("{HELD}  {about}")))),
        // The reason follows below all results, once for all properties that share it.
        Outcome::Untried { .. } => {
            let sign = Line::new().with_role(Role::Note, UNTRIED);
            Block::from(placed(sign.with(format!("  {about}"))))
        }
        Outcome::NotApplicable { reason } => {
            let text = format!("{NOT_APPLICABLE}  {about}: {reason}");
            Block::from(placed(Line::new().with_role(Role::Faint, text)))
        }
        Outcome::Broken {
            tries,
            breach: broken,
            example,
        } => {
            let times = match tries {
                1 => "in 1 try".to_owned(),
                tries => format!("in {tries} tries"),
            };
            let sign = Line::new().with_role(Role::Error, BROKEN);
            let line = sign.with(format!("  {about} ({name}, {times})"));
            let block = indented(Block::from(placed(line)), breach::lines(broken));
            indented(block, example.iter().flat_map(breach::example))
        }
    }
}

fn of_note(note: &Note) -> Block {
    let text = match &note.tool {
        Some(tool) => format!("{tool}: {}", note.text),
        None => note.text.clone(),
    };
    let line = Line::from(text).indented(2).hanging(2).quoted();
    let example = note.example.iter().flat_map(breach::example);
    indented(Block::from(line), example)
}

fn indented(block: Block, lines: impl IntoIterator<Item = String>) -> Block {
    let lines = lines
        .into_iter()
        .map(|line| Line::from(line).indented(13).quoted());
    lines.fold(block, Block::line)
}

fn summary(report: &Report) -> String {
    let counts = report.counts();
    let cases = match (report.cases.len(), report.broken_cases()) {
        (0, _) => String::new(),
        (all, broken) => format!("Cases: {} held, {broken} broken. ", all - broken),
    };
    format!(
        "{cases}Properties: {} held, {} broken, {} untried, {} n/a.",
        counts.held, counts.broken, counts.untried, counts.not_applicable
    )
}

fn time(seconds: f64) -> String {
    let milliseconds = Duration::from_secs_f64(seconds.max(0.0)).as_millis();
    match milliseconds {
        0..1000 => format!("{milliseconds} ms"),
        _ => format!("{seconds:.1} s"),
    }
}
