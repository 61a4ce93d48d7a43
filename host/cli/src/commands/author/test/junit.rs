//! The report as JUnit XML, for build servers.

use std::time::Duration;

use airlock_host::Plugin;
use airlock_render::escape_line;
use airlock_test_kit::{Breach, Example, Outcome, PropertyReport, Report, Untried};
use quick_junit::{NonSuccessKind, TestCase, TestCaseStatus, TestSuite};

use super::breach;
use crate::failure::Failure;

/// Returns one suite for the cases, one for the plugin, one for each tool, and one for everything
/// else that was untried. Untried checks are skipped, or failures if `strict`.
///
/// # Errors
/// If the report can't be written as XML.
pub fn xml(plugin: &Plugin, report: &Report, strict: bool) -> Result<String, Failure> {
    let mut junit = quick_junit::Report::new(format!("airlock test {}", plugin.name()));
    if !report.cases.is_empty() {
        let mut suite = TestSuite::new("cases");
        suite.add_test_cases(report.cases.iter().map(|case| {
            let status = match &case.breach {
                None => TestCaseStatus::success(),
                Some(breach) => failure("not as expected", breach, None),
            };
            let mut test = TestCase::new(&*escape_line(&case.name), status);
            test.set_classname(&*escape_line(&case.tool));
            test.set_time(Duration::from_secs_f64(case.seconds));
            test
        }));
        junit.add_test_suite(suite);
    }
    let suite = |name: &str, properties| suite(name, properties, &report.untried, strict);
    junit.add_test_suite(suite(plugin.name(), &report.plugin));
    for tool in &report.tools {
        let mut suite = suite(&tool.tool, &tool.properties);
        suite.set_time(Duration::from_secs_f64(tool.seconds));
        junit.add_test_suite(suite);
    }
    let others = report.untried.iter();
    let others = others.filter(|untried| untried.properties.is_empty());
    let others: Vec<TestCase> = others.map(|it| of_untried(it, strict)).collect();
    if !others.is_empty() {
        let mut suite = TestSuite::new("untried");
        suite.add_test_cases(others);
        junit.add_test_suite(suite);
    }
    junit
        .to_string()
        .map_err(|error| Failure::host(format!("can't write the report as XML: {error}")))
}

fn of_untried(untried: &Untried, strict: bool) -> TestCase {
    let status = not_tried(&untried.why, Some(untried), strict);
    let mut test = TestCase::new(untried.kind.name(), status);
    test.set_classname(&*escape_line(&untried.tool));
    test
}

fn suite(
    name: &str,
    properties: &[PropertyReport],
    untried: &[Untried],
    strict: bool,
) -> TestSuite {
    let mut suite = TestSuite::new(name);
    suite.add_test_cases(properties.iter().map(|property| {
        let status = match &property.outcome {
            Outcome::Held { .. } => TestCaseStatus::success(),
            Outcome::Untried { kind, reason } => {
                let of_it = |it: &&Untried| it.tool == name && it.kind == *kind;
                not_tried(reason, untried.iter().find(of_it), strict)
            }
            Outcome::NotApplicable { reason } => skipped(reason),
            Outcome::Broken {
                breach, example, ..
            } => failure(property.about, breach, example.as_ref()),
        };
        let mut test = TestCase::new(property.name, status);
        test.set_classname(name);
        test
    }));
    suite
}

fn not_tried(reason: &str, untried: Option<&Untried>, strict: bool) -> TestCaseStatus {
    if !strict {
        return skipped(reason);
    }
    let mut failure = TestCaseStatus::non_success(NonSuccessKind::Failure);
    failure.set_message(format!("untried: {}", escape_line(reason)));
    if let Some(untried) = untried {
        let text = untried
            .told
            .iter()
            .map(|text| escape_line(text).to_string());
        let advice = format!("what to do: {}", untried.advice);
        let lines: Vec<String> = text.chain([advice]).collect();
        failure.set_description(lines.join("\n"));
    }
    failure
}

fn skipped(reason: &str) -> TestCaseStatus {
    let mut skipped = TestCaseStatus::skipped();
    skipped.set_message(&*escape_line(reason));
    skipped
}

fn failure(message: &str, breach: &Breach, example: Option<&Example>) -> TestCaseStatus {
    let mut lines = breach::lines(breach);
    lines.extend(example.into_iter().flat_map(breach::example));
    let lines: Vec<_> = lines.iter().map(|line| escape_line(line)).collect();
    let mut failure = TestCaseStatus::non_success(NonSuccessKind::Failure);
    failure.set_message(message);
    failure.set_description(lines.join("\n"));
    failure
}
