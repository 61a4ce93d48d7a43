//! The table as sdk/README.md has it, and the figures behind its ratios.

use std::fmt::Write as _;

use crate::rounds::{Effort, Rounds};
use crate::{Measured, params, stopwatch};

pub fn head(effort: Effort) -> String {
    let processors = std::thread::available_parallelism().unwrap();
    format!(
        "{processors} processors; medians of {} rounds, of fewer for compiling and memory; {} bytes of params. Ours, in {}, and its ratio to bare wasmtime:\n\n\
         | language | component | compile | first call, from the cache | `execute` with a push | `reject` | memory per instance |\n\
         | --- | --- | --- | --- | --- | --- | --- |\n",
        effort.call_rounds,
        params().to_string().len(),
        stopwatch::unit(),
    )
}

pub fn row(measured: &Measured) -> String {
    let cell = |rounds: &Rounds, unit: fn(f64) -> String| {
        format!("{}, {:.2}x", unit(rounds.ours()), rounds.ratio()[1])
    };
    format!(
        "| {} | {} | {} | {} | {} | {} | {} |\n",
        measured.language.title,
        size(measured.component_bytes),
        cell(&measured.compile, time),
        cell(&measured.first_call, time),
        cell(&measured.execute, time),
        cell(&measured.reject, time),
        cell(&measured.memory_bytes, memory),
    )
}

pub fn details(all: &[Measured]) -> String {
    let mut table = String::from(
        "\n| language | what | bare | ours | ratio (quartiles) | rounds |\n\
         | --- | --- | --- | --- | --- | --- |\n",
    );
    for measured in all {
        let mut row = |what: &str, rounds: &Rounds, unit: fn(f64) -> String| {
            let ratio = rounds.ratio();
            let _ = writeln!(
                table,
                "| {} | {what} | {} | {} | {:.2}x ({:.2} to {:.2}) | {} |",
                measured.language.title,
                unit(rounds.bare()),
                unit(rounds.ours()),
                ratio[1],
                ratio[0],
                ratio[2],
                rounds.count(),
            );
        };
        row("compile", &measured.compile, time);
        row("first call", &measured.first_call, time);
        row("execute", &measured.execute, time);
        row("reject", &measured.reject, time);
        row("memory", &measured.memory_bytes, memory);
    }
    table
}

fn size(bytes: usize) -> String {
    match bytes as f64 / 1e3 {
        kilobytes if kilobytes < 1e3 => format!("{kilobytes:.0} KB"),
        kilobytes => format!("{:.1} MB", kilobytes / 1e3),
    }
}

fn memory(bytes: f64) -> String {
    match bytes / 1024.0 {
        kibibytes if kibibytes < 1024.0 => format!("{kibibytes:.0} KiB"),
        kibibytes => format!("{:.1} MiB", kibibytes / 1024.0),
    }
}

fn time(seconds: f64) -> String {
    match seconds * 1e6 {
        micros if micros < 10.0 => format!("{micros:.1} us"),
        micros if micros < 1e3 => format!("{micros:.0} us"),
        micros if micros < 1e4 => format!("{:.1} ms", micros / 1e3),
        micros if micros < 1e6 => format!("{:.0} ms", micros / 1e3),
        micros => format!("{:.1} s", micros / 1e6),
    }
}
