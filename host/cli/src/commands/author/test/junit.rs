//! The report as JUnit XML, for build servers.

use std::time::Duration;

use airlock_host::Plugin;
use airlock_render::escape_line;
use airlock_test_kit::{Breach, Example, Outcome, PropertyReport, Report};
use quick_junit::{NonSuccessKind, TestCase, TestCaseStatus, TestSuite};

use super::breach;
use crate::failure::Failure;

/// A suite for the cases, one for the plugin, and one for each tool.
///
/// # Errors
/// Where the report can't be written as XML.
pub fn xml(plugin: &Plugin, report: &Report) -> Result<String, Failure> {
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
    junit.add_test_suite(suite(plugin.name(), &report.plugin));
    for tool in &report.tools {
        let mut suite = suite(&tool.tool, &tool.properties);
        suite.set_time(Duration::from_secs_f64(tool.seconds));
        junit.add_test_suite(suite);
    }
    junit
        .to_string()
        .map_err(|error| Failure::host(format!("can't write the report as XML: {error}")))
}

fn suite(name: &str, properties: &[PropertyReport]) -> TestSuite {
    let mut suite = TestSuite::new(name);
    suite.add_test_cases(properties.iter().map(|property| {
        let status = match &property.outcome {
            Outcome::Held { .. } => TestCaseStatus::success(),
            Outcome::Untried { reason } => {
                let mut skipped = TestCaseStatus::skipped();
                skipped.set_message(&*escape_line(reason));
                skipped
            }
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

fn failure(message: &str, breach: &Breach, example: Option<&Example>) -> TestCaseStatus {
    let mut lines = breach::lines(breach);
    lines.extend(example.into_iter().flat_map(breach::example));
    let lines: Vec<_> = lines.iter().map(|line| escape_line(line)).collect();
    let mut failure = TestCaseStatus::non_success(NonSuccessKind::Failure);
    failure.set_message(message);
    failure.set_description(lines.join("\n"));
    failure
}
