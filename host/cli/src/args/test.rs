//! `airlock test`, and the format of its cases.

use std::path::PathBuf;
use std::time::Duration;

use airlock_host::Limits;
use clap::{Args, ValueHint};

use super::examples::{EXIT_CODES, TEST_EXAMPLES};
use super::values::seconds;
use crate::commands::author::test::{Request, TRIES};

/// Test a tool: with cases that you write, and for properties that every tool must have
///
/// Each try works on a copy of a workspace; your files are never touched. Airlock also generates
/// params from each tool's schema and observes the tool in a preview, a discard, an apply, an apply
/// by a new instance, and a repeated apply. It shrinks failing params before it shows them.
///
/// A property that no try could check is listed as UNTRIED, with advice: for example, if a tool
/// that isn't read-only never pushed an action. With --strict, that fails the test.
#[derive(Debug, Args)]
#[command(
    after_help = TEST_EXAMPLES,
    after_long_help = format!("{CASES}\n\n{TEST_EXAMPLES}\n\n{EXIT_CODES}")
)]
pub struct TestArgs {
    /// A component's file, or a project's folder: built first if its sources are newer, with the
    /// cases in its airlock-test.toml
    #[arg(default_value = ".", value_name = "DIR|FILE", value_hint = ValueHint::AnyPath)]
    pub subject: PathBuf,

    /// A file with cases; may be given several times [default: airlock-test.toml in DIR, if it is
    /// there]
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub cases: Vec<PathBuf>,

    /// Don't build: test the newest component of a project's folder as it is
    #[arg(long)]
    pub no_build: bool,

    /// Only this tool, and its cases
    #[arg(long, value_name = "NAME")]
    pub tool: Option<String>,

    /// How many params to generate for each tool; 0: only the cases' own
    #[arg(long, value_name = "N", default_value_t = TRIES, value_parser = clap::value_parser!(u32).range(..=1_000_000))]
    pub tries: u32,

    /// Generates the params of an earlier run again [default: a random one, which is printed]
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,

    /// The time limit of a call
    #[arg(long, value_name = "SECONDS", default_value = "10", value_parser = seconds)]
    pub timeout: Duration,

    /// The memory limit of a tool [default: 256]
    #[arg(long, value_name = "MIB", value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub max_memory: Option<u32>,

    /// Write the report as JUnit XML, too
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub junit: Option<PathBuf>,

    /// Fail also where something was untried, such as a tool that never pushed an action
    #[arg(long)]
    pub strict: bool,

    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
}

impl From<TestArgs> for Request {
    fn from(args: TestArgs) -> Self {
        let limits = Limits::default().with_call_time(args.timeout);
        Self {
            subject: args.subject,
            cases: args.cases,
            no_build: args.no_build,
            tool: args.tool,
            tries: args.tries,
            seed: args.seed,
            limits: match args.max_memory {
                Some(mib) => limits.with_memory((mib as usize) << 20),
                None => limits,
            },
            junit: args.junit,
            strict: args.strict,
        }
    }
}

const CASES: &str = r#"Cases, in airlock-test.toml:
  # The files that every case and every generated try begin with; a case may have its own.
  # Without any, generated tries have a few folders, with text, Markdown, source files, JSON, CSV,
  # an image, a large file, a hidden and an empty one, and a name with a blank that isn't ASCII.
  [workspace]
  folder = "tests/photos"              # copied, relative to this file
  files = { "a.txt" = "text", "b.bin" = { base64 = "AAEC" } }

  [[case]]
  name = "renames one file"
  tool = "batch_rename_preview"        # needed where there are several
  params = { files = ["*.txt"], find = "a", replace = "c" }
  expect.text = { contains = ["1 file", "a.txt -> c.txt"] }
  pushed = [{ label = { contains = "1 file" }, durable = true }]
  changes.created = { "c.txt" = "text" }
  changes.removed = ["a.txt"]

  [[case.resolve]]                     # one for each decision, about the topmost action
  action = "apply"                     # or "discard"
  reason = "the names are right"       # may be left out
  expect.text = { matches = "Renamed [0-9]+ file" }

  expect          what the preview, or the decision, answers: `text`, `content`, `details`, or `error`.
                  Without `error`, an error breaks the case
  pushed          all that is pending after the preview, the last pushed first: `label`, `tool`, `durable`,
                  `has-reject`, `details`. Without it, it is not looked at
  extra           of a decision: an object for the tool
  changes         `created`, `changed` and `removed`: what is different in the workspace at the end, and
                  nothing else may be. A file's contents are a text, { base64 = "…" }, or as below;
                  { folder = true } is a folder
  texts           "exactly this", { contains = "…" }, { contains = ["…", "…"] } or { matches = "REGEX" }
  JSON            (params, extra, details, content) a table, or a text that is read as JSON: '{"a": null}'

Properties that every tool must have:
  preview-changes-nothing  a preview changes nothing in the workspace
  discard-leaves-nothing   a discard changes nothing in the workspace, and leaves nothing pending
  as-rehearsed             an apply changes what its rehearsal did, whatever the reason: `airlock run` applies nothing else
  fresh-instance           a durable action can be applied by an instance that knows nothing of its preview, with the same effect
  apply-twice              an apply that is repeated, since its outcome was not recorded, changes nothing more
  no-crash                 no params make it crash, nor does any decision
  limits                   no call uses up a limit, and what is pushed has a label of one line, and no part too large
  output-schema            details fit the schema that the tool promises
  read-only                what claims to be read-only changes nothing
  definitions              the plugin describes its tools the same in each instance

Each of them is held, BROKEN or untried, or n/a where a tool has nothing to keep, such as an apply
by a fresh instance of actions that are volatile.

What keeps one from being tried (`kind`, in `report.untried` of --json):
  left-out                 the host left the tool out, for what is wrong with its definition
  no-params                the tool has no case, and --tries is 0
  params-refused           no params fit its schema
  always-failed            each of its calls ended in an error
  never-pushed             it never pushed an action, and doesn't claim to be read-only
  apply-failed             no apply succeeded, so none was repeated
  never-the-same           no two applies of the same preview did the same
  stopped-early            three calls used up a limit, so that the other tries were left out"#;
