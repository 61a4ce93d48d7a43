//! What a live instance costs in memory, in a process for each measurement: what one frees, the
//! next would use.

use std::path::{Path, PathBuf};
use std::process::Command;

use airlock_host::Engine;
use anyhow::{Context, ensure};

use crate::bare::Bare;
use crate::ours::Ours;

/// How many instances are alive, beside the one or two that were there before.
const INSTANCES: usize = 50;

/// Tell a process of this program which side to measure, with which component, and where it is
/// compiled.
const SIDE: &str = "LANGUAGES_SIDE";
const COMPONENT: &str = "LANGUAGES_COMPONENT";
const FOLDER: &str = "LANGUAGES_FOLDER";

/// What this process was told.
pub struct Asked {
    side: String,
    component: PathBuf,
    folder: PathBuf,
}

impl Asked {
    /// None in the process that was started by hand.
    pub fn of_this_process() -> Option<Self> {
        let side = std::env::var(SIDE).ok()?;
        let path = |name| PathBuf::from(std::env::var_os(name).unwrap());
        Some(Self {
            side,
            component: path(COMPONENT),
            folder: path(FOLDER),
        })
    }
}

/// Bytes for each instance, as a process of its own finds them.
pub fn ask(side: &str, component: &Path, folder: &Path) -> anyhow::Result<f64> {
    let mut asked = Command::new(std::env::current_exe()?);
    asked.env(SIDE, side);
    asked.env(COMPONENT, component).env(FOLDER, folder);
    let answer = asked.output()?;
    ensure!(answer.status.success(), "{answer:?}");
    let answer = String::from_utf8(answer.stdout)?;
    Ok(answer.trim().parse()?)
}

/// Bytes for each instance.
pub async fn measure(asked: Asked) -> anyhow::Result<f64> {
    // What the first instance and the first call cost for everybody isn't any instance's own.
    let (before, after) = match asked.side.as_str() {
        "ours" => {
            let ours = Ours::new(asked.component, &asked.folder).await?;
            let _warm = ours.called_instances(1).await?;
            let alive = ours.engine().live_instances();
            let before = resident()?;
            let _all = ours.called_instances(INSTANCES).await?;
            let after = resident()?;
            assert_eq!(ours.engine().live_instances(), alive + INSTANCES);
            (before, after)
        }
        _ => {
            let engine = Engine::new()?;
            let bare = Bare::compiled_in(engine.wasmtime(), &asked.folder).await;
            let _warm = bare.called_instances(1).await;
            let before = resident()?;
            let _all = bare.called_instances(INSTANCES).await;
            (before, resident()?)
        }
    };
    Ok((after - before) as f64 / INSTANCES as f64)
}

/// This process's memory in bytes, its share of what is shared: instances have the pages of a
/// memory's first contents in common, until they write to them, and resident memory as such would
/// count these for each.
fn resident() -> anyhow::Result<i64> {
    let told = std::fs::read_to_string("/proc/self/smaps_rollup")?;
    let line = told.lines().find(|line| line.starts_with("Pss:"));
    let figure = line.and_then(|line| line.split_whitespace().nth(1));
    let kibibytes: i64 = figure
        .context("no Pss in /proc/self/smaps_rollup")?
        .parse()?;
    Ok(kibibytes * 1024)
}
