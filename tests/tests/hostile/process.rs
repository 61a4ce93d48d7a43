//! The process of a row, and what is seen of it from outside.

use std::fmt;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use airlock_tests::hostile::{Bounds, Grants, Row};
use airlock_tests::{peak_memory, peak_memory_if_any, reset_peak_memory};
use serde_json::Value;

use crate::site::Site;

/// Longer than a busy machine needs to start a process and to compile the puppet in it.
const STARTING: Duration = Duration::from_secs(120);

/// The longest that an honest session may be kept from the end of its next call. A call takes
/// milliseconds.
const HONEST: Duration = Duration::from_secs(4);

/// How often the process is looked at.
const LOOK: Duration = Duration::from_millis(10);

/// What was seen.
pub struct Measurements {
    pub ended: Value,
    took: Duration,
    memory: u64,
    /// Of the processes that the host's process started, together.
    helpers: u64,
    descriptors: usize,
    disk: u64,
    /// The longest time between two lines of the honest session.
    longest_wait: Duration,
    honest_calls: usize,
}

pub struct Worker {
    process: Child,
    input: ChildStdin,
    lines: Receiver<(Instant, String)>,
}

impl Measurements {
    /// What is more than it may be.
    pub fn beyond(&self, bounds: &Bounds) -> Vec<String> {
        let mut problems = Vec::new();
        let mut bound = |what: &str, found: u64, most: u64| {
            if found > most {
                problems.push(format!("{what}: {found}; the limit is {most}"));
            }
        };
        let mib = |bytes: u64| bytes.div_ceil(1 << 20);
        bound("seconds", self.took.as_secs(), bounds.seconds);
        bound("MiB of memory", mib(self.memory), bounds.memory_mib);
        bound(
            "MiB of memory of processes that compile and parse",
            mib(self.helpers),
            bounds.helpers_mib,
        );
        bound(
            "descriptors",
            self.descriptors as u64,
            bounds.descriptors as u64,
        );
        bound("MiB on the disk", mib(self.disk), bounds.disk_mib);
        bound(
            "milliseconds that the honest session waited",
            self.longest_wait.as_millis() as u64,
            HONEST.as_millis() as u64,
        );
        if self.took > Duration::from_secs(1) && self.honest_calls == 0 {
            problems.push("the honest session did nothing meanwhile".to_owned());
        }
        problems
    }
}

impl fmt::Display for Measurements {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mib = |bytes: u64| bytes >> 20;
        write!(
            f,
            "{:.1} s, {} MiB and {} MiB to compile and parse, {} descriptors, {} MiB on the disk, {} calls beside it, the longest wait {} ms: {}",
            self.took.as_secs_f64(),
            mib(self.memory),
            mib(self.helpers),
            self.descriptors,
            mib(self.disk),
            self.honest_calls,
            self.longest_wait.as_millis(),
            self.ended.to_string().chars().take(200).collect::<String>(),
        )
    }
}

impl Worker {
    /// # Errors
    /// Where the process ends before it should, or goes on for too long.
    pub fn run(row: &Row, site: &Site, grants: Grants) -> Result<Measurements, String> {
        let mut worker = Self::start(row, site, grants);
        let seen = worker.watch(row, site);
        let _ = worker.process.kill();
        let _ = worker.process.wait();
        seen
    }

    fn start(row: &Row, site: &Site, grants: Grants) -> Self {
        let cache = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("hostile-cache");
        let mut process = Command::new(env!("CARGO_BIN_EXE_hostile_worker"))
            .arg(row.name)
            .arg(site.path())
            .arg(cache)
            .arg(grants.as_str())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("the worker starts");
        let output = BufReader::new(process.stdout.take().expect("its output"));
        let (sender, lines) = mpsc::channel();
        std::thread::spawn(move || {
            for line in output.lines().map_while(Result::ok) {
                let _ = sender.send((Instant::now(), line));
            }
        });
        let input = process.stdin.take().expect("its input");
        Self {
            process,
            input,
            lines,
        }
    }

    fn watch(&mut self, row: &Row, site: &Site) -> Result<Measurements, String> {
        self.hear_until("ready", Instant::now() + STARTING, &mut || {})?;
        let id = self.process.id();
        reset_peak_memory(id);
        let memory = peak_memory(id);
        let descriptors = self.descriptors();
        let disk = site.size();
        self.go_on();
        let began = Instant::now();
        let deadline = began + Duration::from_secs(row.bounds.seconds + 20);
        let (mut max_descriptors, mut max_disk, mut looks) = (descriptors, disk, 0u32);
        let mut helpers = 0;
        let mut look = || {
            max_descriptors = max_descriptors.max(descriptors_of(id));
            helpers = helpers.max(memory_of_children(id));
            // Walking a tree takes longer.
            if looks % 20 == 0 {
                max_disk = max_disk.max(site.size());
            }
            looks += 1;
        };
        let neighbour = row.neighbour.map(|does| Interference::start(does, site));
        let heard = self.hear_until("done", deadline, &mut look);
        drop(neighbour);
        let heard = heard?;
        max_disk = max_disk.max(site.size());
        let is_end = |(_, line): &&(Instant, String)| line.starts_with("ended ");
        let (ended_at, ended) = heard.iter().find(is_end).ok_or("it never ended")?;
        let honest: Vec<Instant> = heard
            .iter()
            .filter(|(_, line)| line == "honest")
            .map(|(at, _)| *at)
            .collect();
        let from = std::iter::once(&began).chain(&honest);
        let waits = from.zip(&honest).map(|(one, next)| *next - *one);
        Ok(Measurements {
            ended: serde_json::from_str(&ended["ended ".len()..]).expect("it is JSON"),
            took: *ended_at - began,
            memory: peak_memory(id).saturating_sub(memory),
            helpers,
            descriptors: max_descriptors - descriptors,
            disk: max_disk - disk,
            longest_wait: waits.max().unwrap_or_default(),
            honest_calls: honest.iter().filter(|at| *at < ended_at).count(),
        })
    }

    /// All that it says up to that line, with looks at it meanwhile.
    fn hear_until(
        &self,
        last: &str,
        deadline: Instant,
        look: &mut dyn FnMut(),
    ) -> Result<Vec<(Instant, String)>, String> {
        let mut heard = Vec::new();
        loop {
            look();
            match self.lines.recv_timeout(LOOK) {
                Ok((at, line)) => {
                    let is_last = line == last;
                    heard.push((at, line));
                    if is_last {
                        return Ok(heard);
                    }
                }
                Err(RecvTimeoutError::Timeout) if Instant::now() < deadline => {}
                Err(RecvTimeoutError::Timeout) => {
                    let lines: Vec<&String> = heard.iter().map(|(_, line)| line).collect();
                    let count = lines.len();
                    let tail = &lines[count.saturating_sub(3)..];
                    return Err(format!("it hangs; it said {count} lines, at last {tail:?}"));
                }
                Err(RecvTimeoutError::Disconnected) => {
                    return Err("the host's process ended".to_owned());
                }
            }
        }
    }

    fn go_on(&mut self) {
        self.input.write_all(b"\n").expect("it waits for a line");
    }

    fn descriptors(&self) -> usize {
        descriptors_of(self.process.id())
    }
}

fn descriptors_of(process: u32) -> usize {
    fs::read_dir(format!("/proc/{process}/fd")).map_or(0, Iterator::count)
}

/// The peaks of all processes that a process has started.
fn memory_of_children(process: u32) -> u64 {
    let threads = fs::read_dir(format!("/proc/{process}/task"));
    let mut sum = 0;
    for thread in threads.into_iter().flatten().flatten() {
        let children = fs::read_to_string(thread.path().join("children")).unwrap_or_default();
        let children = children.split_whitespace().filter_map(|id| id.parse().ok());
        // One that has ended has no memory any more.
        sum += children.filter_map(peak_memory_if_any).sum::<u64>();
    }
    sum
}

/// Somebody who changes the workspace over and over, until it is dropped.
struct Interference {
    is_over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Interference {
    fn start(does: fn(&Path), site: &Site) -> Self {
        let is_over = Arc::new(AtomicBool::new(false));
        let workspace = site.path().join("workspace");
        let thread = std::thread::spawn({
            let is_over = Arc::clone(&is_over);
            move || {
                while !is_over.load(Ordering::Relaxed) {
                    does(&workspace);
                }
            }
        });
        let thread = Some(thread);
        Self { is_over, thread }
    }
}

impl Drop for Interference {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        let ended = self.thread.take().map(JoinHandle::join);
        if let Some(Err(panicked)) = ended {
            std::panic::resume_unwind(panicked);
        }
    }
}
