//! The differences between two versions of a plugin, in authority and in prompts.

use std::fmt;

use airlock_host::wants::{About, Want};
use airlock_signature::Signer;

use super::facts::{Facts, LockedTool};

/// A difference between two versions of a plugin. Displays as a clause.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Difference {
    /// This signer didn't sign it.
    SignerLost(Signer),
    /// This signer signed it, and not the version before.
    SignerAdded(Signer),
    /// It wants this now.
    Wider(Want),
    /// It doesn't want this any more.
    Narrower(Want),
    /// It lists no wants any more, so only grants limit it.
    WantsUnsaid,
    /// It lists its wants now, and gets no more than these.
    WantsSaid,
    /// It lists the same wants in another form.
    WantsReworded,
    /// It has another tool.
    ToolAdded(LockedTool),
    /// A tool is gone.
    ToolRemoved(LockedTool),
    /// A tool has another name.
    ToolRenamed {
        /// The old name.
        before: String,
        /// The new name.
        after: String,
    },
    /// A part of a tool's definition changed.
    ToolChanged {
        /// The tool's name.
        tool: String,
        /// The part.
        part: ToolPart,
        /// The old text.
        before: String,
        /// The new text.
        after: String,
    },
    /// The tools are in another order, which a model may notice.
    Reordered,
    /// It was built for another world.
    World {
        /// The old one.
        before: String,
        /// The new one.
        after: String,
    },
    /// A fact of its metadata changed.
    About {
        /// The fact.
        fact: &'static str,
        /// The old one, or an empty text.
        before: String,
        /// The new one, or an empty text.
        after: String,
    },
}

/// A part of a tool's definition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ToolPart {
    /// The name for people.
    Label,
    /// The description for models.
    Description,
    /// The schema of the params.
    Params,
    /// The schema of the result.
    Result,
    /// The hints about the tool's behavior.
    Hints,
}

impl Difference {
    /// Returns whether the plugin gets more authority with it, if that is granted.
    pub fn is_wider(&self) -> bool {
        matches!(self, Self::Wider(_) | Self::WantsUnsaid)
    }

    /// Returns whether it is about who vouches for the plugin.
    pub fn is_about_signers(&self) -> bool {
        matches!(self, Self::SignerLost(_) | Self::SignerAdded(_))
    }

    /// Returns whether it is about the plugin's wants.
    pub fn is_about_authority(&self) -> bool {
        self.is_wider()
            || matches!(
                self,
                Self::Narrower(_) | Self::WantsSaid | Self::WantsReworded
            )
    }
}

/// Returns all differences: those in authority first, then those in prompts, then the rest.
pub fn differences(before: &Facts, after: &Facts) -> Vec<Difference> {
    let mut all = of_wants(before, after);
    all.extend(of_tools(&before.tools, &after.tools));
    if before.world != after.world {
        let (before, after) = (before.world.clone(), after.world.clone());
        all.push(Difference::World { before, after });
    }
    all.extend(of_about(&before.about, &after.about));
    all
}

/// Returns the differences in signers.
pub(super) fn of_signers(before: &[Signer], after: &[Signer]) -> Vec<Difference> {
    let lost = before.iter().filter(|it| !after.contains(it));
    let added = after.iter().filter(|it| !before.contains(it));
    let lost = lost.cloned().map(Difference::SignerLost);
    lost.chain(added.cloned().map(Difference::SignerAdded))
        .collect()
}

fn of_wants(before: &Facts, after: &Facts) -> Vec<Difference> {
    let said = match (&before.wants, &after.wants) {
        (Some(_), None) => Some(Difference::WantsUnsaid),
        (None, Some(_)) => Some(Difference::WantsSaid),
        _ => None,
    };
    let (old, new) = (before.wants(), after.wants());
    let is_new = |all: &[Want], it: &Want| !all.iter().any(|one| one.covers(it));
    let wider = new.iter().filter(|it| is_new(&old, it));
    let wider = wider.cloned().map(Difference::Wider);
    let narrower = old.iter().filter(|it| is_new(&new, it));
    let narrower = narrower.cloned().map(Difference::Narrower);
    let mut all: Vec<Difference> = said.into_iter().chain(wider).chain(narrower).collect();
    if all.is_empty() && before.wants != after.wants {
        all.push(Difference::WantsReworded);
    }
    all
}

fn of_tools(before: &[LockedTool], after: &[LockedTool]) -> Vec<Difference> {
    let named = |tools: &[LockedTool], name: &str| tools.iter().any(|it| it.name == name);
    let mut removed: Vec<&LockedTool> = before.iter().collect();
    removed.retain(|it| !named(after, &it.name));
    let mut all = Vec::new();
    for tool in after {
        if let Some(old) = before.iter().find(|it| it.name == tool.name) {
            all.extend(of_tool(old, tool));
        } else if let Some(at) = removed.iter().position(|it| is_renamed(it, tool)) {
            let (before, after) = (removed.remove(at).name.clone(), tool.name.clone());
            all.push(Difference::ToolRenamed { before, after });
        } else {
            all.push(Difference::ToolAdded(tool.clone()));
        }
    }
    all.extend(removed.into_iter().cloned().map(Difference::ToolRemoved));
    if all.is_empty() && before != after {
        all.push(Difference::Reordered);
    }
    all
}

/// Returns whether a tool is the same but for its name.
fn is_renamed(before: &LockedTool, after: &LockedTool) -> bool {
    let renamed = LockedTool {
        name: after.name.clone(),
        ..before.clone()
    };
    renamed == *after
}

fn of_tool(before: &LockedTool, after: &LockedTool) -> Vec<Difference> {
    let parts = |tool: &LockedTool| {
        [
            (ToolPart::Description, tool.description.clone()),
            (ToolPart::Params, tool.params.clone()),
            (ToolPart::Result, tool.result.clone().unwrap_or_default()),
            (ToolPart::Label, tool.label.clone()),
            (ToolPart::Hints, tool.hints.join(", ")),
        ]
    };
    let changed = parts(before).into_iter().zip(parts(after));
    let changed = changed.filter(|(before, after)| before != after);
    let changed = changed.map(|((part, before), (_, text))| Difference::ToolChanged {
        tool: after.name.clone(),
        part,
        before,
        after: text,
    });
    changed.collect()
}

fn of_about(before: &About, after: &About) -> Vec<Difference> {
    let find = |about: &About, fact: &str| {
        let mut facts = about.facts();
        let found = facts.find(|(name, _)| *name == fact);
        found.map_or_else(String::new, |(_, text)| text.to_owned())
    };
    let names = before.facts().chain(after.facts()).map(|(name, _)| name);
    let mut all: Vec<Difference> = Vec::new();
    for fact in names {
        let is_known =
            |it: &Difference| matches!(it, Difference::About { fact: it, .. } if *it == fact);
        let (before, after) = (find(before, fact), find(after, fact));
        if before != after && !all.iter().any(is_known) {
            all.push(Difference::About {
                fact,
                before,
                after,
            });
        }
    }
    all
}

impl fmt::Display for ToolPart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Label => "the label",
            Self::Description => "the description",
            Self::Params => "the schema of the params",
            Self::Result => "the schema of the result",
            Self::Hints => "the hints",
        })
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::SignerLost(signer) => write!(f, "it is no longer signed by {signer}"),
            Self::SignerAdded(signer) => write!(f, "it is now signed by {signer}"),
            Self::Wider(want) => write!(f, "it newly wants to {want}"),
            Self::Narrower(want) => write!(f, "it no longer wants to {want}"),
            Self::WantsUnsaid => f.write_str("it lists no wants any more, so only grants limit it"),
            Self::WantsReworded => f.write_str("it lists the same wants in another form"),
            Self::WantsSaid => f.write_str("it lists its wants now, and gets no more than these"),
            Self::ToolAdded(tool) => write!(f, "the tool {:?} is new", tool.name),
            Self::ToolRemoved(tool) => write!(f, "the tool {:?} is gone", tool.name),
            Self::ToolRenamed { before, after } => {
                write!(f, "the tool {before:?} is now called {after:?}")
            }
            Self::ToolChanged { tool, part, .. } => {
                write!(f, "{part} of the tool {tool:?} changed")
            }
            Self::Reordered => f.write_str("its tools are in another order"),
            Self::World { before, after } => {
                write!(
                    f,
                    "it was built for the world {before}, and now for {after}"
                )
            }
            Self::About {
                fact,
                before,
                after,
            } => match (&**before, &**after) {
                ("", after) => write!(f, "its {fact} is now {after:?}"),
                (before, "") => write!(f, "its {fact} was {before:?}, and it has none now"),
                (before, after) => write!(f, "its {fact} was {before:?}, and is now {after:?}"),
            },
        }
    }
}
