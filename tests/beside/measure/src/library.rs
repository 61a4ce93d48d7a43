//! A program that embeds a library, in a process of its own, which does what it is asked for.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use anyhow::{Context, ensure};

use crate::place::{Place, params};
use crate::rounds::Sample;

/// One such process.
pub struct Library {
    child: Child,
    asks: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Library {
    /// Extism.
    pub fn extism(place: &Place) -> anyhow::Result<Self> {
        Self::start(place, &mut extism(place, "answer"))
    }

    /// wasmtime, and nothing else.
    pub fn plain(place: &Place) -> anyhow::Result<Self> {
        Self::start(place, &mut plain(place, "answer"))
    }

    /// Airlock.
    pub fn airlock(place: &Place) -> anyhow::Result<Self> {
        let state = place.inside("airlock-library");
        std::fs::create_dir_all(&state)?;
        let mut command = place.command(place.program("beside-airlock"));
        command.arg("answer").arg(&place.component);
        command.arg(place.workspace()).arg(state);
        command.arg(params().to_string());
        Self::start(place, &mut command)
    }

    fn start(place: &Place, command: &mut Command) -> anyhow::Result<Self> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command
            .stderr(place.complaints()?)
            .spawn()
            .with_context(|| format!("starting {command:?}"))?;
        let asks = child.stdin.take().context("it is piped")?;
        let answers = child.stdout.take().context("it is piped")?;
        let answers = BufReader::new(answers);
        Ok(Self {
            child,
            asks,
            answers,
        })
    }

    /// Asks for some work, so many times.
    pub fn work(&mut self, what: &str, count: u32) -> anyhow::Result<Sample> {
        writeln!(self.asks, "{what} {count}")?;
        let mut answer = String::new();
        self.answers.read_line(&mut answer)?;
        let seconds = |nanoseconds: &str| -> anyhow::Result<f64> {
            Ok(nanoseconds.trim().parse::<f64>()? / 1e9)
        };
        let numbers = answer.split_once(' ');
        let (clock, processor) = numbers.with_context(|| format!("{what}: no answer"))?;
        Ok(Sample {
            clock: seconds(clock)?,
            processor: seconds(processor)?,
        })
    }

    /// The process.
    pub fn id(&self) -> u32 {
        self.child.id()
    }
}

impl Drop for Library {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The program that embeds Extism.
pub fn extism(place: &Place, mode: &str) -> Command {
    let mut command = place.command(place.program("beside-extism"));
    command.arg(mode).arg(&place.plugin).arg(place.workspace());
    command.arg(place.extism_cache()).arg(params().to_string());
    command
}

/// The program that embeds wasmtime.
pub fn plain(place: &Place, mode: &str) -> Command {
    let mut command = place.command(place.program("beside-plain"));
    command.arg(mode).arg(&place.component);
    command
        .arg(place.workspace())
        .arg(place.inside("plain.compiled"));
    command.arg(params().to_string());
    command
}

/// Runs it, and gives what it printed.
pub fn output(place: &Place, command: &mut Command) -> anyhow::Result<String> {
    let output = command
        .stdin(Stdio::null())
        .stderr(place.complaints()?)
        .output()
        .with_context(|| format!("starting {command:?}"))?;
    ensure!(output.status.success(), "{command:?}: {}", output.status);
    Ok(String::from_utf8(output.stdout)?)
}
