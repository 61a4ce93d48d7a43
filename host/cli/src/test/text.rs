//! The report, for people.

use std::time::Duration;

use airlock_host::Plugin;

use super::Found;
use super::breach;
use crate::output::Output;
use crate::sanitize;
use crate::style::{BOLD, DIM, ERROR, NOTE, paint};
use crate::test_kit::{CaseReport, Note, Outcome, PropertyReport, Report, ToolReport};

/// How a line says how it went, in one width.
const HELD: &str = "held   ";
const BROKEN: &str = "BROKEN ";
const UNTRIED: &str = "untried";

pub fn show(out: &mut Output, found: &Found, plugin: &Plugin, report: &Report) {
    let component = found.component.to_string_lossy();
    out.line(format_args!(
        "{}  {}",
        paint(BOLD, sanitize::line(&component)),
        plugin.digest()
    ));
    if !report.cases.is_empty() {
        out.line(format_args!("\n{}", paint(BOLD, "Cases")));
        for case in &report.cases {
            show_case(out, case);
        }
    }
    out.line(format_args!("\n{}", paint(BOLD, "The plugin")));
    for property in &report.plugin {
        show_property(out, property);
    }
    for tool in &report.tools {
        show_tool(out, tool);
    }
    if !report.notes.is_empty() {
        out.line(format_args!("\n{}", paint(NOTE, "Notes")));
        for note in &report.notes {
            show_note(out, note);
        }
    }
    out.line(format_args!("\n{}", summary(report)));
}

fn show_case(out: &mut Output, case: &CaseReport) {
    let name = sanitize::line(&case.name);
    let took = paint(DIM, time(case.seconds));
    match &case.breach {
        None => out.line(format_args!("  {HELD}  {name}  {took}")),
        Some(broken) => {
            out.line(format_args!("  {}  {name}  {took}", paint(ERROR, BROKEN)));
            indented(out, breach::lines(broken));
        }
    }
}

fn show_tool(out: &mut Output, tool: &ToolReport) {
    let tries = match tool.tries {
        1 => "1 try".to_owned(),
        tries => format!("{tries} tries"),
    };
    let facts = format!(
        "{tries}, of which {} did not fit its schema and were refused; {}",
        tool.refused,
        time(tool.seconds)
    );
    let name = sanitize::line(&tool.tool);
    out.line(format_args!(
        "\n{}  {}",
        paint(BOLD, name),
        paint(DIM, facts)
    ));
    for property in &tool.properties {
        show_property(out, property);
    }
}

fn show_property(out: &mut Output, property: &PropertyReport) {
    let PropertyReport { name, about, .. } = property;
    match &property.outcome {
        Outcome::Held { .. } => out.line(format_args!("  {HELD}  {about}")),
        Outcome::Untried { reason } => {
            let line = format!("{UNTRIED}  {about}: {reason}");
            out.line(format_args!("  {}", paint(DIM, line)));
        }
        Outcome::Broken {
            tries,
            breach,
            example,
        } => {
            let times = match tries {
                1 => "in 1 try".to_owned(),
                tries => format!("in {tries} tries"),
            };
            let sign = paint(ERROR, BROKEN);
            out.line(format_args!("  {sign}  {about} ({name}, {times})"));
            indented(out, super::breach::lines(breach));
            indented(out, example.iter().flat_map(super::breach::example));
        }
    }
}

fn show_note(out: &mut Output, note: &Note) {
    let text = sanitize::line(&note.text);
    match &note.tool {
        Some(tool) => out.line(format_args!("  {}: {text}", sanitize::line(tool))),
        None => out.line(format_args!("  {text}")),
    }
    indented(out, note.example.iter().flat_map(breach::example));
}

fn indented(out: &mut Output, lines: impl IntoIterator<Item = String>) {
    for line in lines {
        out.line(format_args!("             {line}"));
    }
}

fn summary(report: &Report) -> String {
    let (held, broken, untried) = report.counts();
    let cases = match (report.cases.len(), report.broken_cases()) {
        (0, _) => String::new(),
        (all, broken) => format!("Cases: {} held, {broken} broken. ", all - broken),
    };
    format!("{cases}Properties: {held} held, {broken} broken, {untried} untried.")
}

fn time(seconds: f64) -> String {
    let milliseconds = Duration::from_secs_f64(seconds.max(0.0)).as_millis();
    match milliseconds {
        0..1000 => format!("{milliseconds} ms"),
        _ => format!("{seconds:.1} s"),
    }
}
