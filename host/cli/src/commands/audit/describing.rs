//! Plugins and their actions, for people.

use std::path::Path;

use airlock_host::policy::Pattern;
use airlock_render::{Block, Line, Role};

use super::activity::{Activity, in_words};
use super::{Audited, Other};
use crate::commands::install::describing::{granted, origin, title};
use crate::documents::audit::OtherKind;
use crate::terminal::size::counted;
use crate::terminal::time;

/// The length of the longest fact's name.
const NAMES: usize = 9;

/// Describes an installed plugin.
pub fn installed(plugin: &Audited<'_>) -> Block {
    let entry = &plugin.installed.entry;
    let block = title(entry).block(origin(entry));
    let block = block.block(granted(&plugin.policy));
    let block = match plugin.activity.actions {
        0 => block.own_fact(NAMES, "actions", "none in this store"),
        _ => facts(block, &plugin.activity),
    };
    let block = match &plugin.other_versions {
        Some(others) => block.own_fact(NAMES, "earlier", &earlier(others)),
        None => block,
    };
    // The publisher may have written the patterns.
    match unused(&plugin.unused_changes).filter(|_| !plugin.is_unused()) {
        Some(text) => block.fact(NAMES, "unused", &text),
        None => block,
    }
}

/// Describes a plugin that is not installed under its name.
pub fn other(plugin: &Other) -> Block {
    let name = match &*plugin.producer.name {
        "" => "(without a name)",
        name => name,
    };
    let line = Line::new().with_role(Role::Title, name);
    let line = line.with("  ").with(kind(plugin.kind));
    let block = Block::from(line.hanging(2));
    let digest = plugin.producer.digest.to_string();
    let block = block.own_fact(NAMES, "component", &digest);
    match plugin.activity.actions {
        0 => block.own_fact(NAMES, "actions", "none in this store"),
        _ => facts(block, &plugin.activity),
    }
}

fn kind(kind: OtherKind) -> &'static str {
    match kind {
        OtherKind::Bundled => "bundled with this program",
        OtherKind::NamedAsBundled => "not the bundled one: of another version, or from a file",
        OtherKind::NamedDifferently => "an installed component under another name",
        OtherKind::NotInstalled => "not installed",
    }
}

fn facts(block: Block, activity: &Activity) -> Block {
    let pending = match activity.interrupted {
        0 => activity.pending.to_string(),
        interrupted => format!("{}, {interrupted} of them interrupted", activity.pending),
    };
    let refused = Some(activity.denied).filter(|it| *it > 0);
    let refused = refused.map(|it| counted(it, "request"));
    let applied = in_words(&activity.applied);
    let discarded = in_words(&activity.discarded);
    let block = block
        .own_fact(NAMES, "pending", &pending)
        .own_fact(NAMES, "applied", &applied)
        .own_fact(NAMES, "discarded", &discarded);
    let block = match refused {
        Some(refused) => block.own_fact(NAMES, "refused", &refused),
        None => block,
    };
    let block = match activity.applied.count {
        0 => block,
        _ => files(block, activity),
    };
    match (activity.first, activity.last) {
        (Some(first), Some(last)) => {
            let block = block.own_fact(NAMES, "first", &time::moment(first));
            block.own_fact(NAMES, "last", &time::moment(last))
        }
        _ => block,
    }
}

fn files(block: Block, activity: &Activity) -> Block {
    let files = &activity.files;
    let more = if files.more { "more than " } else { "" };
    let count = format!("{more}{} changed", files.count());
    let unknown = match files.unknown {
        0 => String::new(),
        count => format!(
            "; those of {} are not known",
            counted(count, "applied action")
        ),
    };
    let block = block.own_fact(NAMES, "files", &format!("{count}{unknown}"));
    files.latest.iter().fold(block, |block, file| {
        let workspace = file.workspace.as_deref().unwrap_or(Path::new(""));
        let path = workspace.join(&file.path);
        block.fact(NAMES, "", &path.to_string_lossy())
    })
}

fn earlier(others: &Activity) -> String {
    let actions = counted(others.actions, "action");
    let (pending, applied) = (others.pending, others.applied.count);
    format!(
        "{actions} of other components with this name, such as earlier versions: {pending} pending, {applied} applied, {} discarded",
        others.discarded.count
    )
}

fn unused(patterns: &[Pattern]) -> Option<String> {
    if patterns.is_empty() {
        return None;
    }
    let patterns: Vec<&str> = patterns.iter().map(Pattern::as_str).collect();
    Some(format!("no change of {} is known", patterns.join(", ")))
}
