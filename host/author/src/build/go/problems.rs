//! Parses the output of Go's compiler.

use super::super::problem::{OF_ANOTHER_TYPE, Problem, placed};

/// Advice for a package that is excluded on the target system.
const EXCLUDED: &str = "C code (`import \"C\"`) and files for other systems can't go into a component: take a package that is Go all through";

/// Advice for a function of a tool that ends without a result.
const NO_RESULT: &str =
    "end each path with what the function promises: return airlock.Text(…), nil";

/// Returns the problems in the compiler's output.
pub fn of(said: &str) -> Vec<Problem> {
    let mut problems: Vec<Problem> = Vec::new();
    for line in said.lines() {
        if let Some(problem) = of_line(line) {
            problems.push(problem);
            continue;
        }
        let Some(last) = problems.last_mut() else {
            continue;
        };
        let Some(more) = line.strip_prefix('\t') else {
            continue;
        };
        // The command that adds a module is on a separate line below the error.
        if last.message.ends_with("; to add it:") {
            let end = last.message.len() - "; to add it:".len();
            last.message.truncate(end);
            last.help = Some(format!("add it: {more}"));
        } else {
            let before = last.excerpt.take();
            let before = before.unwrap_or_else(|| match &last.place {
                Some(place) => format!("{place}: {}", last.message),
                None => last.message.clone(),
            });
            last.excerpt = Some(format!("{before}\n\t{more}"));
        }
    }
    problems
}

fn of_line(line: &str) -> Option<Problem> {
    if line.contains("build constraints exclude all Go files in ") {
        let (packages, _) = line.split_once(": build constraints ")?;
        return Some(Problem {
            message: format!(
                "{packages}: all of its files are for another system than WebAssembly"
            ),
            help: Some(EXCLUDED.to_owned()),
            ..Problem::default()
        });
    }
    let (place, message) = placed(line)?;
    Some(Problem {
        message: message.to_owned(),
        place: Some(place.to_owned()),
        help: help_for(message).map(str::to_owned),
        ..Problem::default()
    })
}

fn help_for(message: &str) -> Option<&'static str> {
    if message == "missing return" {
        return Some(NO_RESULT);
    }
    let is_of_another_type = message.starts_with("cannot use ") && message.contains(" as ");
    is_of_another_type.then_some(OF_ANOTHER_TYPE)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problem(message: &str, place: Option<&str>, help: Option<&str>) -> Problem {
        Problem {
            message: message.to_owned(),
            place: place.map(str::to_owned),
            help: help.map(str::to_owned),
            excerpt: None,
        }
    }

    #[test]
    fn each_line_with_a_place_is_a_problem() {
        let said = "# example.com/a/src\nsrc/tool.go:3:1: missing return\nsrc/tool.go:9:2: declared and not used: a";
        let expected = [
            problem("missing return", Some("src/tool.go:3:1"), Some(NO_RESULT)),
            problem("declared and not used: a", Some("src/tool.go:9:2"), None),
        ];
        assert_eq!(of(said), expected);
        assert_eq!(of("go: no such tool"), []);
        let said = "cannot use path (variable of type string) as int value in assignment";
        let found = of(&format!("src/tool.go:3:1: {said}"));
        assert_eq!(found[0].help.as_deref(), Some(OF_ANOTHER_TYPE));
    }

    #[test]
    fn a_module_that_is_missing_is_told_with_the_command() {
        let said = "src/tool.go:4:2: no required module provides package b; to add it:\n\tgo get b";
        let expected = problem(
            "no required module provides package b",
            Some("src/tool.go:4:2"),
            Some("add it: go get b"),
        );
        assert_eq!(of(said), [expected]);
    }

    #[test]
    fn a_package_with_c_is_told_as_one() {
        let said = "package a/src: build constraints exclude all Go files in /home/me/a/src";
        let expected = problem(
            "package a/src: all of its files are for another system than WebAssembly",
            None,
            Some(EXCLUDED),
        );
        assert_eq!(of(said), [expected]);
    }
}
