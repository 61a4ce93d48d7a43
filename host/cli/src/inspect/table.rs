//! Params in columns.

use super::params::Param;
use crate::style::{BOLD, paint};
use crate::wrap::{width, wrap};

const GAP: &str = "  ";

/// The longest that a name or a type makes its column; what is longer shifts the rest of its row.
const WIDEST: usize = 30;

/// The least that is left for a description, if the line gets too long or not.
const NARROWEST: usize = 24;

/// The table's lines, with a heading.
pub fn lines(params: &[Param], columns: usize) -> Vec<String> {
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
    let room = columns.saturating_sub(indent).max(NARROWEST);

    let heading = format!(
        "{:names$}{GAP}{:kinds$}{GAP}{:needs$}{GAP}description",
        "param", "type", "required"
    );
    let mut lines = vec![paint(BOLD, heading)];
    for param in params {
        let needed = if param.required { "yes" } else { "no" };
        let (name, kind) = (pad(&param.name, names), pad(&param.kind, kinds));
        let mut start = format!("{name}{GAP}{kind}{GAP}{needed:needs$}{GAP}");
        for line in wrap(&param.description, room) {
            lines.push(format!("{start}{line}").trim_end().to_owned());
            start = " ".repeat(indent);
        }
    }
    lines
}

fn pad(text: &str, columns: usize) -> String {
    let missing = columns.saturating_sub(width(text));
    format!("{text}{}", " ".repeat(missing))
}

#[cfg(test)]
mod tests {
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
        ];
        let heading = paint(BOLD, "param  type             required  description");
        assert_eq!(
            lines(&params, 62),
            [
                heading.as_str(),
                "files  array of string  yes       Which files to look at, as",
                "                                  paths or globs",
                "日本   integer          no",
            ]
        );
    }
}
