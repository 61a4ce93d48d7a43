//! Params as a table.

use airlock_render::{Block, Line, Role, width};

use super::Param;

const GAP: &str = "  ";

/// The largest width of the name and type columns. Longer cells shift the rest of their row.
const WIDEST: usize = 30;

/// A row of the table.
pub struct Row<'a> {
    /// The name under which it is given.
    pub name: String,
    pub param: &'a Param,
}

impl<'a> Row<'a> {
    /// Returns a row with the param's own name.
    pub fn of(param: &'a Param) -> Self {
        let name = param.place.to_string();
        Self { name, param }
    }
}

/// Returns the table. `heading` is the heading of the names.
pub fn of(heading: &str, rows: &[Row<'_>]) -> Block {
    let column = |heading: &str, text: fn(&Row<'_>) -> usize| {
        let widths = rows.iter().map(text).filter(|width| *width <= WIDEST);
        widths.max().unwrap_or(0).max(width(heading))
    };
    let names = column(heading, |row| width(&row.name));
    let kinds = column("type", |row| width(&row.param.kind));
    let needs = width("required");
    let indent = names + kinds + needs + 3 * GAP.len();

    let heading = format!(
        "{heading:names$}{GAP}{:kinds$}{GAP}{:needs$}{GAP}description",
        "type", "required"
    );
    let heading = Block::from(Line::new().with_role(Role::Title, heading).hanging(2));
    rows.iter().fold(heading, |table, Row { name, param }| {
        let needed = if param.required { "yes" } else { "no" };
        let (name, kind) = (pad(name, names), pad(&param.kind, kinds));
        let description = &param.description;
        let row = format!("{name}{GAP}{kind}{GAP}{needed:needs$}{GAP}{description}");
        table.line(Line::from(row.trim_end()).hanging(indent))
    })
}

fn pad(text: &str, columns: usize) -> String {
    let missing = columns.saturating_sub(width(text));
    format!("{text}{}", " ".repeat(missing))
}

#[cfg(test)]
mod tests {
    use airlock_render::Renderer;

    use super::*;
    use crate::commands::params::typed::Typed;
    use crate::commands::params::{ParamPath, Part};

    #[test]
    fn descriptions_stay_in_their_column() {
        let param = |name: &str, kind: &str, required, description: &str| Param {
            place: ParamPath(vec![Part::Name(name.to_owned())]),
            kind: kind.to_owned(),
            typed: Typed::Any,
            required,
            description: description.to_owned(),
        };
        let params = [
            param(
                "files",
                "array of string",
                true,
                "Which files to look at, as paths or globs",
            ),
            param("日本", "integer", false, ""),
            param("\u{1b}[2J", "\u{9b}", false, "\u{202e}"),
        ];
        let rows = params.each_ref().map(Row::of);
        assert_eq!(
            Renderer::plain().width(65).render(&of("param", &rows)),
            r"param      type             required  description
files      array of string  yes       Which files to look at, as
                                      paths or globs
日本       integer          no
\u{1b}[2J  \u{9b}           no        \u{202e}"
        );
    }
}
