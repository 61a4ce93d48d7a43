//! `ast_edit`: rewrites code by its structure, after a preview.
//!
//! A native tool of [`airlock_host`], made of its public interface alone: [`AstEdit`] makes the
//! producer that a session binds.

// A preview searches all files that are meant (`search`), shows what it found (`preview`), and
// writes it to its draft, which the host looks at (`draft`). What it proposes is a `plan`: the
// params, and the digests of each affected file before and after. An apply searches again, and
// writes only where nothing has changed since (`apply`). Patterns and grammars are ast-grep's, and
// `code` is all that knows them.

mod advice;
mod apply;
mod code;
mod collector;
mod draft;
mod ignore_files;
mod no_files;
mod notes;
mod parallel;
mod params;
mod parsers;
mod plan;
mod preview;
mod search;
mod selection;
mod walk;

use std::path::PathBuf;

use airlock_host::Error;
use airlock_host::content::ToolResult;
use airlock_host::native::{
    ApplyCall, DecidedAction, NativeProducer, NativeTool, Preview, PreviewCall,
};
use airlock_host::tool::ToolDefinition;
#[cfg(unix)]
use airlock_worker::Permits;
use serde_json::Value;

#[cfg(unix)]
pub use parsers::parser_main;

use params::Params;
use parsers::ParserSettings;
use plan::Plan;
use search::Search;

/// Changes with the meaning of the state, so that no version reads what it would take for something
/// else.
const STATE_VERSION: u32 = 3;

/// What a process that parses may have of memory, unless something else is said: twice what the
/// largest file takes that is searched at all.
const PARSER_MEMORY: u64 = 1 << 30;

/// The tool `ast_edit`: finds code by its structure and replaces it, in as many files as are meant,
/// once that is applied.
///
/// Its params are `ops`, a list of `{pat, out}` in which `$NAME` stands for one node and `$$$NAME`
/// for several, and if wanted `paths`, `lang` and `limit`; the schema in its definition tells the
/// rest. The preview is a unified diff, and what it would change is verified by the host. An apply
/// compares each file with the preview: if one has changed, is gone, or has new matches, nothing is
/// written.
///
/// All files are changed in one step, or none is, whatever crashes meanwhile. A file gets a new
/// inode: its permissions, its owner and its extended attributes stay, and other names of it (hard
/// links) keep the old contents.
///
/// ```no_run
/// use airlock_ast_edit::AstEdit;
/// use airlock_host::Session;
///
/// fn main() -> Result<(), Box<dyn std::error::Error>> {
///     // Where this program was started to parse, that is all it does.
///     airlock_ast_edit::parser_main();
///     let ast_edit = AstEdit::new().parser(std::env::current_exe()?).producer();
///     let session = Session::builder().model_decides().workspace("project").bind(&ast_edit).open()?;
///     # drop(session);
///     Ok(())
/// }
/// ```
#[derive(Debug, Clone)]
#[must_use]
pub struct AstEdit {
    parsing: ParserSettings,
}

impl Default for AstEdit {
    fn default() -> Self {
        Self::new()
    }
}

impl AstEdit {
    /// One that parses in this process. Then a call still ends with its time, but no limit holds
    /// for the memory that a parser takes meanwhile: some kilobytes that were made for it can take
    /// gigabytes. For files that others may have written, say where to [parse](Self::parser).
    pub fn new() -> Self {
        Self {
            parsing: ParserSettings::new(PARSER_MEMORY),
        }
    }

    /// The program that parses, in processes with limits: the host's itself, by
    /// [`current_exe`](std::env::current_exe), or another, which calls `parser_main` first in its
    /// `main`. It gets one argument and no environment. A file for which it needs too much is not
    /// searched, and the caller is told; where the file itself was named, that is an error.
    pub fn parser(mut self, program: impl Into<PathBuf>) -> Self {
        self.parsing.program = Some(program.into());
        self
    }

    /// How many bytes of memory each such process may have. Default: 1 GiB.
    pub fn parser_memory(mut self, bytes: u64) -> Self {
        self.parsing.memory = bytes;
        self
    }

    /// How many such processes there may be at one time, over all sessions that this producer is
    /// bound to; a call takes as many as it has threads, one for each core, and shares them with
    /// calls that wait. Default: two for each core, over all sessions of this program.
    #[cfg(unix)]
    pub fn max_parsers(mut self, count: usize) -> Self {
        self.parsing.permits = Permits::new(count);
        self
    }

    /// The producer, to be bound to sessions.
    pub fn producer(self) -> NativeProducer {
        match NativeProducer::new(self) {
            Ok(producer) => producer,
            // A test loads it.
            Err(rejected) => unreachable!("the definition of ast_edit is refused: {rejected}"),
        }
    }
}

impl NativeTool for AstEdit {
    fn definition(&self) -> ToolDefinition {
        params::definition()
    }

    fn state_version(&self) -> u32 {
        STATE_VERSION
    }

    fn preview(&self, params: &Value, call: &PreviewCall) -> Result<Preview, Error> {
        let folder = call.folder()?;
        let params = Params::read(params)?;
        let search = Search::new(&params, &folder, &self.parsing, call)?.with_contents_checked();
        let results = search.run(|_| false)?;
        if results.searched == 0 && results.skipped.is_empty() {
            return Err(no_files::searched(&search));
        }
        search.check_that_each_op_was_read(&results)?;
        preview::of(&search, results, || call.draft())
    }

    fn apply(&self, action: &DecidedAction, call: &ApplyCall) -> Result<ToolResult, Error> {
        let plan = Plan::read(&action.state)?;
        apply::apply(&plan, &action.reason, &self.parsing, call)
    }

    fn can_be_rehearsed(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_definition_passes_the_checks_of_plugins() {
        assert_eq!(AstEdit::new().producer().name(), "ast_edit");
    }
}
