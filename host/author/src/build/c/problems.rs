//! Parses the output of a C compiler and its linker.

use std::path::{Path, PathBuf};

use super::super::problem::{OF_ANOTHER_TYPE, Problem, placed};
use super::GENERATED;

const LIBRARY: &str = "a C library has to be compiled with the tool: put its sources into the project, and name them in airlock.toml, in `sources` below [c]";

const NO_TOOLS: &str = "name them once at the end of a source: AIRLOCK_TOOLS(&tool);";

const NO_STATUS: &str = "end each path with a status: return AIRLOCK_OK;";

/// The functions that are not available to a tool, whatever libraries it is linked with.
const ABSENT: [&str; 12] = [
    "accept",
    "bind",
    "connect",
    "execve",
    "execvp",
    "fork",
    "getaddrinfo",
    "gethostbyname",
    "popen",
    "posix_spawn",
    "system",
    "waitpid",
];

const SANDBOX: &str =
    "a tool runs in a sandbox with the files of its workspace, and without processes and a network";

/// Returns the problems in these sources.
pub fn of(said: &str, sources: &[PathBuf]) -> Vec<Problem> {
    let mut problems: Vec<Problem> = Vec::new();
    // True if the next lines belong to the last problem.
    let mut goes_on = false;
    for line in said.lines() {
        if let Some(problem) = of_compiler(line) {
            problems.push(problem);
            goes_on = true;
        } else if let Some(problem) = of_linker(line, sources) {
            // The linker reports each use.
            if !problems.contains(&problem) {
                problems.push(problem);
            }
            goes_on = false;
        } else if placed(line).is_some() || is_count(line) {
            // This is a warning, or a note that may be about a header of the SDK.
            goes_on = line.contains(": note: ") && goes_on && !line.starts_with(GENERATED);
        }
        if let (true, Some(last)) = (goes_on, problems.last_mut()) {
            let before = last.excerpt.take();
            let before = before.map_or_else(String::new, |before| before + "\n");
            last.excerpt = Some(before + line);
        }
    }
    problems
}

fn of_compiler(line: &str) -> Option<Problem> {
    let (place, message) = placed(line)?;
    let message = message.strip_prefix("fatal ").unwrap_or(message);
    let message = message.strip_prefix("error: ")?;
    Some(Problem {
        message: message.to_owned(),
        place: Some(place.to_owned()),
        help: help_for(message),
        excerpt: None,
    })
}

fn help_for(message: &str) -> Option<String> {
    if message.ends_with("' file not found") {
        return Some(LIBRARY.to_owned());
    }
    if message.contains(" does not return a value") {
        return Some(NO_STATUS.to_owned());
    }
    if message.starts_with("incompatible ") {
        return Some(OF_ANOTHER_TYPE.to_owned());
    }
    // Errors of the SDK's own header include advice.
    if message.contains(": a tool ") {
        return None;
    }
    let (_, behind) = message.split_once('\'')?;
    let (name, _) = behind.split_once('\'')?;
    ABSENT.contains(&name).then(|| SANDBOX.to_owned())
}

/// Parses a line of the linker. A problem of several objects is reported once.
fn of_linker(line: &str, sources: &[PathBuf]) -> Option<Problem> {
    let (object, symbol) = line.split_once(": undefined symbol: ")?;
    if symbol == "airlock_tools" || symbol == "airlock_tool_count" {
        let only = match sources {
            [only] => Some(only.display().to_string()),
            _ => None,
        };
        return Some(Problem {
            message: "no source says which tools there are".to_owned(),
            place: only,
            help: Some(NO_TOOLS.to_owned()),
            ..Problem::default()
        });
    }
    // An object has its source's name, in a folder of the compiler.
    let object = object.rsplit(": ").next().unwrap_or(object);
    let stem = Path::new(object).file_stem();
    let source = sources.iter().find(|source| source.file_stem() == stem);
    let help = if ABSENT.contains(&symbol) {
        SANDBOX
    } else {
        LIBRARY
    };
    Some(Problem {
        message: format!("nothing defines `{symbol}`, which is used there"),
        place: source.map(|source| source.display().to_string()),
        help: Some(help.to_owned()),
        excerpt: None,
    })
}

/// Returns whether a line is a count, as in `2 errors generated.`
fn is_count(line: &str) -> bool {
    line.ends_with(" generated.")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(said: &str, expected: &[(&str, Option<&str>, Option<&str>)]) {
        let found = of(said, &[PathBuf::from("src/tool.c")]);
        let found: Vec<_> = found
            .iter()
            .map(|it| (it.message.as_str(), it.place.as_deref(), it.help.as_deref()))
            .collect();
        assert_eq!(found, expected, "{said}");
    }

    #[test]
    fn errors_of_the_compiler_have_their_places() {
        check(
            "src/tool.c:3:10: fatal error: 'zlib.h' file not found\n    3 | #include <zlib.h>\n1 error generated.",
            &[(
                "'zlib.h' file not found",
                Some("src/tool.c:3:10"),
                Some(LIBRARY),
            )],
        );
        check(
            "src/tool.c:1:2: warning: unused\nsrc/tool.c:8:7: error: call to undeclared function 'fork'; ISO C99",
            &[(
                "call to undeclared function 'fork'; ISO C99",
                Some("src/tool.c:8:7"),
                Some(SANDBOX),
            )],
        );
        check("clang: error: no input files", &[]);
    }

    #[test]
    fn what_to_do_is_told_unless_the_message_says_it() {
        let help = |message: &str| {
            let found = of(&format!("src/tool.c:7:1: error: {message}"), &[]);
            found[0].help.clone()
        };
        assert_eq!(
            help("non-void function does not return a value [-Werror,-Wreturn-type]").as_deref(),
            Some(NO_STATUS)
        );
        assert_eq!(
            help("incompatible pointer to integer conversion").as_deref(),
            Some(OF_ANOTHER_TYPE)
        );
        let refused =
            "'fork' is unavailable: a tool starts no processes here: it does all by itself";
        assert_eq!(help(refused), None);
        assert_eq!(help("expected ';' after expression"), None);
    }

    #[test]
    fn an_excerpt_holds_the_notes_on_the_sources_of_the_project() {
        let said = "src/tool.c:3:1: error: no\n    3 | no\nsrc/tool.c:1:1: note: yes\n    1 | yes\nbuild/generated/airlock.h:9:1: note: there\n    9 | there\n1 error generated.";
        let found = of(said, &[]);
        let expected =
            "src/tool.c:3:1: error: no\n    3 | no\nsrc/tool.c:1:1: note: yes\n    1 | yes";
        assert_eq!(found[0].excerpt.as_deref(), Some(expected));
    }

    #[test]
    fn what_the_linker_misses_is_told_once_with_its_source() {
        let line = "wasm-ld: error: /cache/o/1/tool.o: undefined symbol: inflate";
        check(
            &format!("{line}\n{line}"),
            &[(
                "nothing defines `inflate`, which is used there",
                Some("src/tool.c"),
                Some(LIBRARY),
            )],
        );
        let of_sdk =
            |symbol| format!("wasm-ld: error: /cache/airlock.o: undefined symbol: {symbol}");
        check(
            &format!(
                "{}\n{}",
                of_sdk("airlock_tools"),
                of_sdk("airlock_tool_count")
            ),
            &[(
                "no source says which tools there are",
                Some("src/tool.c"),
                Some(NO_TOOLS),
            )],
        );
    }
}
