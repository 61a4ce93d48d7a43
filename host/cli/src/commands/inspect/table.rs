//! Params in columns.

use airlock_render::{Block, Line, Role, width};

use super::params::Param;

const GAP: &str = "  ";

/// The longest that a name or a type makes its column; what is longer shifts the rest of its row.
const WIDEST: usize = 30;

/// The table, with a heading.
pub fn of(params: &[Param]) -> Block {
    let column = |heading: &str, text: fn(&Param) -> &str| {
        let widest = params
            .iter()
            .map(|param| width(text(param)))
            .filter(|width| *width <= WIDEST);
        widest.max().unwrap_or(0).max(width(heading))
    };
    let names = column("param", |param| &param.name);
    let kinds = column("type", |param| &param.kind);
    let needs = width("required");
    let indent = names + kinds + needs + 3 * GAP.len();

    let heading = format!(
        "{:names$}{GAP}{:kinds$}{GAP}{:needs$}{GAP}description",
        "param", "type", "required"
    );
    let heading = Block::from(Line::new().with_role(Role::Title, heading).hanging(2));
    params.iter().fold(heading, |table, param| {
        let needed = if param.required { "yes" } else { "no" };
        let (name, kind) = (pad(&param.name, names), pad(&param.kind, kinds));
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

    #[test]
    fn descriptions_stay_in_their_column() {
        let param = |name: &str, kind: &str, required, description: &str| Param {
            name: name.to_owned(),
            kind: kind.to_owned(),
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
        assert_eq!(
            Renderer::plain().width(65).render(&of(&params)),
            r"param      type             required  description
files      array of string  yes       Which files to look at, as
                                      paths or globs
日本       integer          no
\u{1b}[2J  \u{9b}           no        \u{202e}"
        );
    }
}
