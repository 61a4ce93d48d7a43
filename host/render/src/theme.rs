//! The roles of a block's parts, and their styles.

use anstyle::{AnsiColor, Style};

/// The role of a part of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Role {
    /// Ordinary text.
    Plain,
    /// The subject of a block or of a list entry.
    Title,
    /// The least important text.
    Faint,
    /// The heading of an applied action.
    Accept,
    /// The heading of a discarded action.
    Discard,
    /// The heading of a failure.
    Failed,
    /// Text to notice.
    Note,
    /// The name before an error.
    Error,
    /// The name before advice.
    Hint,
    /// A command line to copy. It is broken only if it doesn't fit.
    Command,
    /// An added line of a diff.
    Added,
    /// A removed line of a diff.
    Removed,
    /// The heading of a hunk of a diff.
    Hunk,
    /// The name of a file in a diff.
    File,
    /// The escape of a character that can't be shown.
    Escape,
    /// The margin of quoted text.
    Margin,
}

/// The style of each [`Role`]. All fields can be set.
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
    /// Returns a theme without styles.
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

    /// Returns a theme of the terminal's sixteen colours, which its user can choose.
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

    /// Returns the style of a role.
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
