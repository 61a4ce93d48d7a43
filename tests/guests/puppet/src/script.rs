//! What the puppet is told: the language of its parameters, and of the state of what it pushes.

use serde::{Deserialize, Serialize};

use crate::airlock::tool::types::ToolError;
use crate::asking::{Handle, Question};
use crate::descriptors::RawStep;
use crate::failed;
use crate::files::FileStep;
use crate::greedy::GreedyStep;
use crate::pushing::Push;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Params {
    pub steps: Vec<Step>,
}

impl Params {
    pub fn parse(params: &str) -> Result<Self, ToolError> {
        serde_json::from_slice(params.as_bytes())
            .map_err(|error| failed(format!("params: {error}")))
    }
}

/// What an action does when it is resolved: its durable state, as JSON.
#[derive(Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Script {
    #[serde(default)]
    pub apply: Vec<Step>,
    /// Without it `reject` returns no result; with an empty list, an empty result.
    pub reject: Option<Vec<Step>>,
}

impl Script {
    pub fn parse(state: &[u8]) -> Result<Self, ToolError> {
        serde_json::from_slice(state).map_err(|error| failed(format!("state: {error}")))
    }
}

/// One step: `{"do": "<name in kebab-case>", …}`, its fields in camelCase.
#[derive(Clone, Serialize, Deserialize)]
#[serde(
    tag = "do",
    rename_all = "kebab-case",
    rename_all_fields = "camelCase",
    deny_unknown_fields
)]
pub enum Step {
    // Results: what the call returns.
    Text {
        text: String,
    },
    /// A block of so many zero bytes.
    Image {
        bytes: usize,
        mime: String,
    },
    Link {
        uri: String,
        name: String,
        mime: Option<String>,
    },
    /// The result's details, passed on as they are: JSON or not.
    Details {
        json: String,
    },
    ToolError {
        message: String,
        /// How often it is said.
        times: Option<usize>,
    },
    Failed {
        message: String,
        times: Option<usize>,
    },
    Cancelled,
    /// Fails in every attempt before the `n`th, and outside of a resolution.
    FailUntilAttempt {
        n: u32,
    },
    /// One text block of so many bytes.
    ResultBytes {
        bytes: usize,
    },
    /// So many short text blocks.
    ResultBlocks {
        count: usize,
    },

    // Pushing.
    Push(Push),
    /// Pushes a durable action whose state is this text, whether a script or not.
    PushRawState {
        label: String,
        text: String,
        #[serde(default)]
        has_reject: bool,
    },

    // Harm.
    Trap,
    Panic {
        message: String,
    },
    /// WASI 0.2 tells the host only whether the code is 0.
    Exit {
        code: i32,
    },
    /// Computes forever, without a call to the host.
    Spin,
    /// Sleeps in a call to the host: for hours, where not told how long.
    Block {
        ms: Option<u64>,
    },
    /// Asks `is-cancelled` over and over, and obeys; or goes on as if nothing were.
    SpinUntilCancelled {
        #[serde(default)]
        stubborn: bool,
    },
    /// Allocates and writes so much memory, below 2048. `gently` takes a refusal for an answer
    /// instead of aborting.
    Allocate {
        mib: usize,
        #[serde(default)]
        gently: bool,
    },
    /// Calls itself without an end.
    Recurse,
    /// Asks for one thing so many times, or without an end.
    Ask {
        what: Question,
        times: Option<u64>,
    },
    /// Takes many handles, which last as long as the instance.
    Keep {
        what: Handle,
        count: usize,
    },
    /// Waits for timers that never end, in one list.
    Wait {
        distinct: usize,
        each: usize,
    },
    /// Tries to reach the network: `connect`, `listen`, `datagram`, or `lookup`.
    Reach {
        how: String,
    },
    /// Makes so many files, or directories one within the other, until that fails.
    MakeMany {
        path: String,
        count: usize,
        #[serde(default)]
        nested: bool,
    },

    /// Takes as much as it can of one thing.
    Greedy(GreedyStep),

    // Output.
    /// Logs `message`, or where `lines` is more than 1, `message 1`, `message 2` and so on.
    Log {
        #[serde(default = "one")]
        lines: u64,
        message: Option<String>,
        level: Option<String>,
    },
    Stdout {
        lines: u64,
    },
    Stderr {
        lines: u64,
    },
    /// Writes so many bytes to standard error, and no line break.
    LongLine {
        bytes: usize,
    },
    Progress {
        message: String,
        progress: Option<f64>,
        total: Option<f64>,
    },

    // Surroundings: each adds what it found.
    Session,
    IsCancelled,
    Resolution,
    /// In a resolution: appends `<action id> <attempt>` as a line to the file that the decision's
    /// `extra` names as `ledger`, in one write.
    Ledger,
    Env,
    Now,
    /// The wall clock's second.
    Wall,
    /// The order in which a hash table of ten keys has them.
    HashOrder,
    Random {
        bytes: u64,
    },

    // The instance's memory: whether one instance got two calls.
    Remember {
        key: String,
        value: String,
    },
    Recall {
        key: String,
    },

    // Files, through the standard library.
    Fs(FileStep),
    /// Writes all texts of the result so far into a file, a line for each.
    WriteSaid {
        path: String,
    },
    /// Opens one file so many times, until that fails. The handles last as long as the step.
    OpenMany {
        path: String,
        count: usize,
    },
    /// Opens one directory's listing so many times, until that fails. They last as long as the
    /// step.
    ListMany {
        path: String,
        count: usize,
    },
    /// The same as `open-many`, but the handles last as long as the instance.
    OpenManyKept {
        path: String,
        count: usize,
    },
    /// Opens a file, and keeps it open when the call ends. The next ones use it.
    Hold {
        path: String,
        #[serde(default)]
        read_only: bool,
    },
    HoldRead,
    HoldWrite {
        text: String,
    },
    HoldSetlen {
        len: u64,
    },
    HoldSettimes,

    // Files, through WASI alone.
    Raw(RawStep),
    /// Opens a file and a stream that writes to it, and keeps both when the call ends. The next
    /// ones use it.
    HoldStream {
        path: String,
        #[serde(default)]
        append: bool,
    },
    HoldStreamWrite {
        text: String,
    },
    HoldStreamZeroes {
        bytes: u64,
    },
}

fn one() -> u64 {
    1
}
