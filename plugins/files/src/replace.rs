//! The tool `search_replace`: replaces the matches of an expression in many files.

use std::ops::{ControlFlow, Range};

use airlock_tool::{Call, Error, Preview};

use crate::change::Proposal;
use crate::params::SearchReplace;
use crate::plan::{MAX_NEW_BYTES, Plan, too_large};
use crate::regex::{Options, Regex};
use crate::text::{Change, Text};
use crate::walk::{Scope, walk};
use crate::workspace::{Kind, MAX_BYTES, Workspace};

/// The most files that one call changes.
const MAX_FILES: usize = 2000;

pub(crate) fn search_replace(params: SearchReplace, _call: &Call) -> Result<Preview<Plan>, Error> {
    replace(&Workspace::of_session()?, &params)
}

fn replace(workspace: &Workspace, params: &SearchReplace) -> Result<Preview<Plan>, Error> {
    let options = Options {
        literal: params.literal,
        ignore_case: params.ignore_case,
        multiline: params.multiline,
    };
    let regex = Regex::new(&params.pattern, options)?;
    let template = if params.literal {
        params.replacement.replace('$', "$$")
    } else {
        regex.check_template(&params.replacement)?;
        params.replacement.clone()
    };
    let scope = Scope {
        path: &params.path,
        glob: params.glob.as_deref(),
        include_ignored: false,
    };
    let mut proposal = Proposal::new();
    let (mut matches, mut unread, mut room) = (0, 0, MAX_NEW_BYTES);
    let note = walk(workspace, &scope, |path, kind| {
        if kind != Kind::File {
            return Ok(ControlFlow::Continue(()));
        }
        let text = match workspace.read(path, MAX_BYTES).map(Text::decode) {
            Ok(Ok(text)) => text,
            _ => {
                unread += 1;
                return Ok(ControlFlow::Continue(()));
            }
        };
        if regex.is_match(text.body()) {
            let found = regex.replacements(text.body(), &template, &mut room);
            let found = found.ok_or_else(|| Error::tool(too_large()))?;
            matches += found.len();
            add(&mut proposal, path, text, found);
        }
        if proposal.files() > MAX_FILES {
            return Err(Error::tool(format!(
                "More than {MAX_FILES} files would change: give a `path` or a `glob`, and do it in parts."
            )));
        }
        Ok(ControlFlow::Continue(()))
    })?;
    if unread > 0 {
        proposal.note(format!(
            "Binary and very large files, not searched: {unread}."
        ));
    }
    if let Some(note) = note {
        proposal.note(note);
    }
    if proposal.is_empty() {
        let nothing = match matches {
            0 => "Nothing matches, so nothing would change.",
            _ => "Every match is its replacement already, so nothing would change.",
        };
        return Ok(Preview::new(nothing));
    }
    let files = proposal.files();
    proposal.note(format!("Matches: {matches}, files: {files}."));
    let matches = counted(matches, "match", "matches");
    let files = counted(files, "file", "files");
    proposal.preview(format!("Replace {matches} in {files}"))
}

fn counted(count: usize, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

/// Adds the change of a file.
fn add(proposal: &mut Proposal, path: &str, mut text: Text, found: Vec<(Range<usize>, String)>) {
    let changes: Vec<_> = found
        .into_iter()
        .map(|(range, new)| Change { range, new })
        .collect();
    let old = text.encode();
    text.replace(&changes);
    let new = text.encode();
    if old != new {
        proposal.write(path, Some(&old), &new);
    }
}
