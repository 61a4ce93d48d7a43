//! What was measured, as tables.

use std::fmt::Write as _;

use crate::memory::Memory;
use crate::rounds::{Measured, Spread};

/// The head of a table of times, and a row for each; a column for each of `ours` says how many
/// times as much that takes as the row does.
pub fn times(title: &str, measured: &[Measured], ours: &[&str]) -> String {
    let mut table = format!("### {title}\n\n| | clock | processors |");
    for name in ours {
        let _ = write!(table, " {name} takes |");
    }
    table += &format!("\n| --- | --- | --- |{}\n", " --- |".repeat(ours.len()));
    for row in measured {
        let (clock, processor) = (time(row.clock()), time(row.processor()));
        let _ = write!(table, "| {} | {clock} | {processor} |", row.name);
        for name in ours {
            let cell = measured
                .iter()
                .find(|it| it.name == *name && it.name != row.name)
                .map(|it| row.ratio_of(it))
                .map(|[clock, processor]| format!("{}, {}", ratio(clock), ratio(processor)));
            let _ = write!(table, " {} |", cell.unwrap_or_default());
        }
        table += "\n";
    }
    table
}

/// The same for memory.
pub fn memory(title: &str, measured: &[Memory]) -> String {
    let mut table = format!("### {title}\n\n| | one more | the process with the first |\n");
    table += "| --- | --- | --- |\n";
    for row in measured {
        let another = row.another.map(bytes);
        let another = another.unwrap_or_else(|| "a process".to_owned());
        let _ = writeln!(table, "| {} | {another} | {} |", row.name, bytes(row.first));
    }
    table
}

fn ratio(value: f64) -> String {
    match value {
        value if value < 10.0 => format!("{value:.2}x"),
        value => format!("{value:.0}x"),
    }
}

/// The median, and in parentheses from where to where all but a fifth are.
fn time(seconds: Spread) -> String {
    let (unit, each) = match seconds.median {
        median if median < 1e-3 => ("us", 1e6),
        median if median < 1.0 => ("ms", 1e3),
        _ => ("s", 1.0),
    };
    spread(seconds, unit, each)
}

fn bytes(bytes: Spread) -> String {
    match bytes.median / 1024.0 {
        kibibytes if kibibytes < 1024.0 => spread(bytes, "KiB", 1.0 / 1024.0),
        _ => spread(bytes, "MiB", 1.0 / (1024.0 * 1024.0)),
    }
}

fn spread(Spread { low, median, high }: Spread, unit: &str, each: f64) -> String {
    let digits = |value: f64| match value * each {
        value if value < 10.0 => format!("{value:.1}"),
        value => format!("{value:.0}"),
    };
    format!(
        "{} {unit} ({} to {})",
        digits(median),
        digits(low),
        digits(high)
    )
}
