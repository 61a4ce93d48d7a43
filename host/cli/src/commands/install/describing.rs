//! Descriptions of a plugin, shown before it is installed or updated.

use airlock_desk::lock::{Difference, Entry, ToolPart};
use airlock_host::Policy;
use airlock_render::{Block, Line, Role};
use serde_json::Value;
use similar::TextDiff;

/// The length of the longest fact's name.
const NAMES: usize = 9;

/// Describes a plugin that is not installed yet.
pub fn new(entry: &Entry) -> Block {
    let block = title(entry).block(origin(entry)).block(about(entry));
    let tools = entry.facts.tools.iter().fold(Block::new(), |block, tool| {
        let name = Line::new().with_role(Role::Title, &*tool.name);
        let line = name.with(format!("  {}", tool.label));
        let description = Block::new().text(&tool.description).indented(2);
        block.line(line.hanging(2)).block(description)
    });
    let heading = Line::new().with_role(Role::Faint, "Its tools, as models see them:");
    let block = block.line("").line(heading).block(tools.quoted());
    match &entry.facts.wants {
        Some(_) => block,
        None => block.line("").line(UNSAID),
    }
}

const UNSAID: &str = "It lists no wants, so only your grants limit it.";

/// Describes how a plugin would change.
pub fn update(before: &Entry, after: &Entry, differences: &[Difference]) -> Block {
    let mut block = title(after).block(origin(after));
    if before.reference != after.reference {
        block = block.own_fact(NAMES, "before", &before.reference.to_string());
    }
    let (signers, rest): (Vec<_>, Vec<_>) =
        differences.iter().partition(|it| it.is_about_signers());
    let block = section(block, "Signers", &signers);
    if rest.is_empty() {
        let same = if before.digest == after.digest {
            "The component is the same."
        } else {
            "Its wants and tools are the same as before. Its code differs."
        };
        return block.line("").line(same);
    }
    let (authority, rest): (Vec<_>, Vec<_>) =
        rest.into_iter().partition(|it| it.is_about_authority());
    let block = section(block, "Authority", &authority);
    section(block, "Tools, as models see them, and other facts", &rest)
}

/// Describes a plugin's permissions.
pub fn granted(policy: &Policy) -> Block {
    Block::granted(NAMES, policy)
}

fn section(block: Block, heading: &str, differences: &[&Difference]) -> Block {
    if differences.is_empty() {
        return block;
    }
    let heading = Line::new().with_role(Role::Title, heading);
    let block = block.line("").line(heading);
    differences
        .iter()
        .fold(block, |block, it| block.block(of(it).indented(2)))
}

fn of(difference: &Difference) -> Block {
    let (mark, role) = match difference {
        it if it.is_wider() => ("wider: ", Role::Error),
        Difference::SignerLost(_) => ("lost: ", Role::Error),
        Difference::SignerAdded(_) => ("new: ", Role::Note),
        it if it.is_about_authority() => ("narrower: ", Role::Faint),
        _ => ("", Role::Plain),
    };
    let text = difference.to_string();
    let line = Line::new().with_role(role, mark);
    let block = Block::from(line.with_quoted(Role::Plain, text).hanging(2));
    match difference {
        Difference::ToolChanged {
            part,
            before,
            after,
            ..
        } => block.block(diff(*part, before, after)),
        Difference::ToolAdded(tool) => {
            let text = Block::new().text(&tool.description);
            block.block(text.quoted().indented(2))
        }
        _ => block,
    }
}

/// Returns the difference between two texts, line by line.
fn diff(part: ToolPart, before: &str, after: &str) -> Block {
    let lines = |text: &str| match part {
        ToolPart::Params | ToolPart::Result => pretty(text),
        _ => text.to_owned(),
    };
    let (before, after) = (lines(before), lines(after));
    let diff = TextDiff::from_lines(&before, &after);
    let diff = diff.unified_diff().missing_newline_hint(false).to_string();
    // The lines that name files are left out, because there are none.
    let diff = format!("--- before\n+++ after\n{diff}");
    Block::new().text(diff.trim_end()).quoted().indented(2)
}

fn pretty(schema: &str) -> String {
    let value = serde_json::from_str::<Value>(schema);
    let pretty = value.and_then(|it| serde_json::to_string_pretty(&it));
    pretty.unwrap_or_else(|_| schema.to_owned())
}

/// Names a plugin and its version.
pub fn title(entry: &Entry) -> Block {
    let line = Line::new().with_role(Role::Title, entry.name.as_str());
    Block::from(match &entry.facts.about.version {
        Some(version) => line.with("  ").with_quoted(Role::Plain, &**version),
        None => line,
    })
}

/// Describes a plugin's reference, digests and signers.
pub fn origin(entry: &Entry) -> Block {
    let block = Block::new().own_fact(NAMES, "from", &entry.reference.to_string());
    let block = match &entry.manifest {
        Some(manifest) => block.own_fact(NAMES, "manifest", &manifest.to_string()),
        None => block,
    };
    let block = block.own_fact(NAMES, "component", &entry.digest.to_string());
    block.own_fact(NAMES, "signers", &signers(entry))
}

/// Lists the signers whose signatures were verified.
pub fn signers(entry: &Entry) -> String {
    let signers: Vec<String> = entry.signed_by.iter().map(ToString::to_string).collect();
    match &signers[..] {
        [] => "none (unsigned)".to_owned(),
        signers => signers.join("\n"),
    }
}

/// Describes the publisher's own words.
fn about(entry: &Entry) -> Block {
    let facts = entry.facts.about.facts();
    let facts = facts.filter(|(name, _)| *name != "version");
    facts.fold(Block::new(), |block, (name, text)| {
        let name = match name {
            "description" => "about",
            name => name,
        };
        block.fact(NAMES, name, text)
    })
}
