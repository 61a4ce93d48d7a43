//! `ast_edit`: rewrites code by its structure, after a preview.
//!
//! A preview searches all files that are meant ([`search`]), and shows what it found ([`preview`]). What it pushes is a [`plan`]: the params,
//! and the digests of each affected file before and after. An apply searches again, and writes only where nothing has changed since
//! ([`apply`]). Patterns and grammars are ast-grep's.

mod advice;
mod apply;
mod collector;
mod damage;
mod document;
mod grammar;
mod language;
mod lines;
mod nothing;
mod parallel;
mod params;
mod parser;
mod pattern;
mod plan;
mod preview;
mod rewrite;
mod search;
mod selected;
mod selection;
mod steps;
mod template;

use airlock_model::content::ToolResult;
use airlock_model::error::Error;
use serde_json::Value;

use super::native::{Decided, Native, NativeProducer, Preview, Running};
use crate::workspace::{ReadableFolder, WritableFolder};
use params::Params;
use plan::Plan;
use search::Search;

/// Changes with the meaning of the state, so that no version reads what it would take for something else.
const STATE_VERSION: u32 = 2;

struct AstEdit;

impl NativeProducer {
    /// The tool `ast_edit`: finds code by its structure and replaces it, in as many files as are meant, once that is applied.
    ///
    /// Its params are `ops`, a list of `{pat, out}` in which `$NAME` stands for one node and `$$$NAME` for several, and if wanted
    /// `paths`, `lang` and `limit`; the schema in its definition tells the rest. The preview is a unified diff. An apply
    /// first compares each file with the preview: if one has changed, is gone, or has matches that it had not, nothing is written.
    ///
    /// All new contents are written beside their files first, and then renamed into their places. A crash between two renames leaves some
    /// files changed and the others as they were, each of them whole, and the action interrupted; applied again, it does the rest. A
    /// file gets a new inode: its permissions and its owner stay, other names of it (hard links) keep the old contents, and extended
    /// attributes are lost.
    pub fn ast_edit() -> Self {
        Self::new(STATE_VERSION, params::definition(), AstEdit)
    }
}

impl Native for AstEdit {
    fn preview(
        &self,
        params: &Value,
        folder: &ReadableFolder,
        running: &Running,
    ) -> Result<Preview, Error> {
        let params = Params::read(params)?;
        let search = Search::new(&params, folder, running)?.with_contents_checked();
        let results = search.run(|_| false)?;
        if results.searched == 0 && results.skipped.is_empty() {
            return Err(nothing::searched(&search));
        }
        search.check_that_each_op_was_read(&results)?;
        preview::of(&search, results)
    }

    fn apply(
        &self,
        decided: &Decided,
        folder: &WritableFolder,
        running: &Running,
    ) -> Result<ToolResult, Error> {
        let plan = Plan::read(&decided.state)?;
        apply::apply(&plan, decided, folder, running)
    }
}
