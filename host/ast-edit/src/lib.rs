//! `ast_edit`: rewrites code by its structure, with a preview.
//!
//! A native tool of [`airlock_host`] that only uses its public interface. [`AstEdit`] builds the
//! producer that a session binds.

// A preview searches all selected files (`search`), shows the results (`preview`), and writes them
// to its draft, which the host inspects (`draft`). It proposes a `plan`: the params, and the
// digests of each affected file before and after. An apply searches again, and writes only if
// nothing has changed since (`apply`). Patterns and grammars come from ast-grep, which only `code`
// knows.

mod advice;
mod apply;
mod code;
mod collector;
mod contents;
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

/// The version of the state's meaning. Change it together with that, so that no version misreads
/// the state of another.
const STATE_VERSION: u32 = 3;

/// The default memory limit of a parser process: twice the need of the largest file that is
/// searched.
const PARSER_MEMORY: u64 = 1 << 30;

/// The tool `ast_edit`: finds code by its structure and, once applied, replaces it in all selected
/// files.
///
/// Its params are `ops`, a list of `{pat, out}` in which `$NAME` stands for one node and `$$$NAME`
/// for several, and optionally `paths`, `lang` and `limit`. The schema in its definition has the
/// details. The preview is a unified diff, and the host verifies its changes. An apply compares
/// each file with the preview. If one has changed, is gone, or has new matches, nothing is written.
///
/// Either all files are changed or none is, even after a crash. A changed file gets a new inode. It
/// keeps its permissions, owner and extended attributes. Other names of the file (hard links) keep
/// the old contents.
///
/// ```no_run
/// use airlock_ast_edit::AstEdit;
/// use airlock_host::Session;
///
/// fn main() -> Result<(), Box<dyn std::error::Error>> {
///     // Returns at once, unless this program was started as a parser.
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
    /// Returns a tool that parses in this process. Calls still end at their time limit, but the
    /// memory of a parser is not limited: a few malicious kilobytes can take gigabytes. For
    /// untrusted files, set a [parser](Self::parser).
    pub fn new() -> Self {
        Self {
            parsing: ParserSettings::new(PARSER_MEMORY),
        }
    }

    /// Sets the program that parses, in processes with limits: the host's own, by
    /// [`current_exe`](std::env::current_exe), or another one that calls `parser_main` first in its
    /// `main`. It gets one argument and an empty environment. A file that exceeds the limits is not
    /// searched, and the result says so. If the file itself was named in `paths`, that is an error.
    pub fn parser(mut self, program: impl Into<PathBuf>) -> Self {
        self.parsing.program = Some(program.into());
        self
    }

    /// Sets the memory limit of each parser process, in bytes. Default: 1 GiB.
    pub fn parser_memory(mut self, bytes: u64) -> Self {
        self.parsing.memory = bytes;
        self
    }

    /// Sets how many parser processes may run at once, over all sessions that this producer is
    /// bound to. A call takes one for each of its threads, one per core, and shares them with calls
    /// that wait. Default: two per core, over all sessions of this program.
    #[cfg(unix)]
    pub fn max_parsers(mut self, count: usize) -> Self {
        self.parsing.permits = Permits::new(count);
        self
    }

    /// Returns the producer, which sessions can bind.
    pub fn producer(self) -> NativeProducer {
        match NativeProducer::new(self) {
            Ok(producer) => producer,
            // A test loads the definition.
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
