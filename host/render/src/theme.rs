//! What parts of a block are, and how each of them looks.

use anstyle::{AnsiColor, Style};

/// The role of a part of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Role {
    /// Text as any other.
    Plain,
    /// What a block or a list's entry is about.
    Title,
    /// What matters least.
    Faint,
    /// The heading of what was applied.
    Accept,
    /// The heading of what was discarded.
    Discard,
    /// The heading of what failed.
    Failed,
    /// What should be noticed.
    Note,
    /// The name before an error.
    Error,
    /// The name before advice.
    Hint,
    /// A command line to copy. It is broken only where a line is too short for it.
    Command,
    /// A line of a diff that is new.
    Added,
    /// A line of a diff that goes away.
    Removed,
    /// The heading of a hunk of a diff.
    Hunk,
    /// The name of a file in a diff.
    File,
    /// What stands for a character that can't be shown.
    Escape,
    /// The margin of what is not the host's own.
    Margin,
}

/// How each [`Role`] looks. All fields can be set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
#[allow(missing_docs, reason = "each is the style of the role of its name")]
pub struct Theme {
    pub title: Style,
    pub faint: Style,
    pub accept: Style,
    pub discard: Style,
    pub failed: Style,
    pub note: Style,
    pub error: Style,
    pub hint: Style,
    pub command: Style,
    pub added: Style,
    pub removed: Style,
    pub hunk: Style,
    pub file: Style,
    pub escape: Style,
    pub margin: Style,
}

impl Theme {
    /// No styles at all.
    pub const fn plain() -> Self {
        let style = Style::new();
        Self {
            title: style,
            faint: style,
            accept: style,
            discard: style,
            failed: style,
            note: style,
            error: style,
            hint: style,
            command: style,
            added: style,
            removed: style,
            hunk: style,
            file: style,
            escape: style,
            margin: style,
        }
    }

    /// The terminal's own sixteen colours, so that its user has chosen how they look.
    pub const fn ansi() -> Self {
        let bold = Style::new().bold();
        Self {
            title: bold,
            faint: Style::new().dimmed(),
            accept: AnsiColor::Green.on_default().bold(),
            discard: AnsiColor::Yellow.on_default().bold(),
            failed: AnsiColor::Red.on_default().bold(),
            note: AnsiColor::Yellow.on_default().bold(),
            error: AnsiColor::Red.on_default().bold(),
            hint: AnsiColor::Cyan.on_default().bold(),
            command: bold,
            added: AnsiColor::Green.on_default(),
            removed: AnsiColor::Red.on_default(),
            hunk: AnsiColor::Cyan.on_default(),
            file: bold,
            escape: Style::new().invert(),
            margin: Style::new().dimmed(),
        }
    }

    /// The style of a role.
    pub const fn style(&self, role: Role) -> Style {
        match role {
            Role::Plain => Style::new(),
            Role::Title => self.title,
            Role::Faint => self.faint,
            Role::Accept => self.accept,
            Role::Discard => self.discard,
            Role::Failed => self.failed,
            Role::Note => self.note,
            Role::Error => self.error,
            Role::Hint => self.hint,
            Role::Command => self.command,
            Role::Added => self.added,
            Role::Removed => self.removed,
            Role::Hunk => self.hunk,
            Role::File => self.file,
            Role::Escape => self.escape,
            Role::Margin => self.margin,
        }
    }
}
