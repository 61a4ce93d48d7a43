//! Observations that are not failures, but useful to an author.

use std::collections::BTreeMap;

use airlock_host::Plugin;
use airlock_host::event::Refusal;

use super::observe::Observation;
use super::report::{Example, Note};

/// The observations made while trying a tool: each one once, with the first sample that showed it.
pub struct Notes {
    tool: String,
    deferrable: bool,
    seen: BTreeMap<String, FirstSeen>,
}

struct FirstSeen {
    times: usize,
    first: Example,
}

impl Notes {
    pub fn about(tool: &str, deferrable: bool) -> Self {
        Self {
            tool: tool.to_owned(),
            deferrable,
            seen: BTreeMap::new(),
        }
    }

    pub fn take(&mut self, sample: &Example, observation: &Observation) {
        for text in texts(observation, self.deferrable) {
            let seen = self.seen.entry(text).or_insert_with(|| FirstSeen {
                times: 0,
                first: sample.clone(),
            });
            seen.times += 1;
        }
    }

    /// Returns all notes.
    pub fn finish(self) -> impl Iterator<Item = Note> {
        let tool = self.tool;
        self.seen.into_iter().map(move |(text, seen)| Note {
            tool: Some(tool.clone()),
            text: match seen.times {
                1 => format!("{text}, in 1 try"),
                times => format!("{text}, in {times} tries"),
            },
            example: Some(seen.first),
        })
    }
}

fn texts(seen: &Observation, deferrable: bool) -> Vec<String> {
    let mut texts = Vec::new();
    let mut say = |happened: bool, text: &str| {
        if happened {
            texts.push(text.to_owned());
        }
    };
    let heard = [&seen.preview.heard];
    let heard = heard.into_iter().chain(
        seen.applied
            .iter()
            .chain(seen.discarded.iter().map(|discarded| &discarded.decided))
            .map(|decided| &decided.heard),
    );
    let (mut wrote, mut reached, mut dropped) = (false, false, false);
    for heard in heard {
        dropped |= heard.dropped_lines > 0;
        wrote |= heard
            .refusals
            .iter()
            .any(|refusal| matches!(refusal, Refusal::WorkspaceChange { .. }));
        reached |= heard
            .refusals
            .iter()
            .any(|refusal| matches!(refusal, Refusal::Network { .. }));
    }
    say(
        wrote,
        "it tried to change the workspace outside an apply, and was refused",
    );
    say(
        reached,
        "it tried to reach the network, and was refused: tools have none",
    );
    say(
        dropped,
        "it logged more lines than a call may, and the rest were dropped",
    );
    let preview = &seen.preview.answer;
    let failed = preview
        .as_ref()
        .is_err_and(|complaint| complaint.kind == "failed");
    say(
        failed,
        "it answered params that fit its schema with `failed`, as if they were unexpected",
    );
    let mut again = seen
        .applied_fresh
        .iter()
        .chain(&seen.applied_again)
        .chain(seen.discarded.iter().map(|discarded| &discarded.decided));
    say(
        again.any(|decided| decided.preview != *preview),
        "two previews of the same params and files differed",
    );
    if let (Some(applied), Some(again)) = (&seen.applied, &seen.applied_again) {
        say(
            !applied.agrees_with(again),
            "two applies of the same preview differed",
        );
    }
    if seen.applied.is_some() {
        say(
            !deferrable,
            "it pushes pending actions, and its traits don't have `deferrable`",
        );
    }
    texts
}

/// Returns notes about imports that the plugin is not granted.
pub fn about_imports(plugin: &Plugin) -> Vec<Note> {
    let imported = |package: &str| {
        let found = plugin
            .imports()
            .iter()
            .filter(|import| import.starts_with(package));
        found.map(String::as_str).collect::<Vec<_>>().join(", ")
    };
    [
        (
            "wasi:sockets/",
            "no network is granted: each use of it is refused",
        ),
        ("wasi:cli/environment", "it finds no variables there"),
    ]
    .into_iter()
    .filter_map(|(package, meaning)| {
        let names = imported(package);
        (!names.is_empty()).then(|| Note {
            tool: None,
            text: format!("it imports {names}; {meaning}"),
            example: None,
        })
    })
    .collect()
}
