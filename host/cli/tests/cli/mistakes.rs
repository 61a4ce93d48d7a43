//! Mistakes that authors make, each in each language with its own compiler, and all that is said of
//! it: what is wrong, where, and what to do, in one message.
//!
//! A file of `mistakes/LANGUAGE` is a tool with a mistake, and stands in for the project's source.
//! `running` is a component with many, one for each of its tools, which show when they are called.
//! What is said is in `mistakes/LANGUAGE.txt`; `UPDATE_EXPECT=1` writes that anew.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use expect_test::{ExpectFile, expect_file};
use serde_json::Value;
use tempfile::TempDir;

use crate::toolchain::{command, done, root};

#[test]
fn mistakes_in_rust_are_told_with_what_to_do() {
    check("rust", "src/lib.rs", expect_file!["mistakes/rust.txt"]);
}

#[test]
fn mistakes_in_typescript_are_told_with_what_to_do() {
    check("ts", "src/tool.ts", expect_file!["mistakes/ts.txt"]);
}

#[test]
fn mistakes_in_javascript_are_told_with_what_to_do() {
    check("js", "src/tool.js", expect_file!["mistakes/js.txt"]);
}

#[test]
fn mistakes_in_python_are_told_with_what_to_do() {
    check("python", "src/tool.py", expect_file!["mistakes/python.txt"]);
}

#[test]
fn mistakes_in_go_are_told_with_what_to_do() {
    check("go", "src/tool.go", expect_file!["mistakes/go.txt"]);
}

#[test]
fn mistakes_in_c_are_told_with_what_to_do() {
    check("c", "src/tool.c", expect_file!["mistakes/c.txt"]);
}

/// A stack is shown to who asks for it, row by row, and nothing in it reaches the terminal as it
/// is.
#[test]
fn with_v_a_stack_is_shown_in_escaped_rows() {
    let project = Project::new("python");
    let tool = "raise ValueError('\\x1b[31mred\\nsecond row')\n";
    fs::write(project.folder().join("src/tool.py"), tool).unwrap();
    let brief = project.said("airlock build");
    assert!(!brief.contains("Traceback"), "{brief}");
    assert!(brief.contains("`-v` shows all that was printed"), "{brief}");
    let verbose = project.said("airlock -v build");
    let rows: Vec<&str> = verbose.lines().filter(|row| row.starts_with('│')).collect();
    for part in [
        "Traceback",
        "src/tool.py\", line 1",
        "[31mred",
        "second row",
    ] {
        assert!(
            rows.iter().any(|row| row.contains(part)),
            "{part}: {verbose}"
        );
    }
    for said in [brief, verbose] {
        let is_raw = |c: char| c.is_control() && c != '\n';
        assert!(!said.contains(is_raw), "{said:?}");
    }
}

#[track_caller]
fn check(language: &'static str, source: &str, expected: ExpectFile) {
    let project = Project::new(language);
    let source = project.folder().join(source);
    let mut transcript = String::new();
    for file in mistakes(language) {
        let name = file.file_stem().unwrap().to_str().unwrap();
        fs::copy(&file, &source).unwrap();
        writeln!(transcript, "=== {name}\n{}", project.said("airlock build")).unwrap();
        if name != "running" {
            continue;
        }
        for tool in project.tools() {
            let run = format!("airlock run build/mistake.wasm {tool} '{{}}'");
            writeln!(transcript, "=== running {tool}\n{}", project.said(&run)).unwrap();
        }
    }
    let test = "airlock test build/mistake.wasm --tool forgotten_push --tries 1 --seed 1 | sed -n '/UNTRIED/,/what to do/p'";
    writeln!(
        transcript,
        "=== testing forgotten_push\n{}",
        project.said(test)
    )
    .unwrap();
    expected.assert_eq(&transcript);
}

/// In the order of their names, but what is built of `running` is there when it is tested.
fn mistakes(language: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cli/mistakes");
    let files = fs::read_dir(folder.join(language)).unwrap();
    let mut files: Vec<_> = files.map(|file| file.unwrap().path()).collect();
    files.sort_by_key(|file| {
        (
            file.file_stem().is_some_and(|it| it == "running"),
            file.clone(),
        )
    });
    assert!(files.len() > 3, "{files:?}");
    files
}

struct Project {
    language: &'static str,
    parent: TempDir,
}

impl Project {
    fn new(language: &'static str) -> Self {
        let project = Self {
            language,
            parent: TempDir::new().unwrap(),
        };
        let new = format!(
            "airlock new mistake --lang {language} --sdk '{}' --json",
            root().display()
        );
        done(
            command(language, project.parent.path(), &new)
                .output()
                .unwrap(),
        );
        project.add_native_package();
        project
    }

    fn folder(&self) -> PathBuf {
        self.parent.path().join("mistake")
    }

    /// One called `native`, as such packages are where there is a manager of packages.
    fn add_native_package(&self) {
        let put = |name: &str, contents: &str| {
            let path = self.folder().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, contents).unwrap();
        };
        match self.language {
            "ts" | "js" => {
                let install = command(self.language, &self.folder(), "npm install");
                done({ install }.output().unwrap());
                put(
                    "node_modules/native/package.json",
                    r#"{"main": "index.js"}"#,
                );
                put(
                    "node_modules/native/index.js",
                    "module.exports = require('./build/native.node');",
                );
                put("node_modules/native/build/native.node", "");
            }
            "python" => {
                put(
                    "src/native/__init__.py",
                    "from native._native import answer\n",
                );
                put("src/native/_native.cpython-311-x86_64-linux-gnu.so", "");
            }
            _ => {}
        }
    }

    /// All that a line says in the project, and how it ends: the same on each machine.
    fn said(&self, line: &str) -> String {
        let quiet = if line.starts_with("airlock build") {
            // Its size and digest are those of the compiler.
            ">/dev/null"
        } else {
            ""
        };
        let line = format!("set +e; ({line}) 2>&1 {quiet}; echo \"exit $?\"");
        let output = command(self.language, &self.folder(), &line)
            .output()
            .unwrap();
        let said = String::from_utf8(output.stdout).unwrap();
        let folder = self.folder().canonicalize().unwrap();
        let interpreter = |said: String| match said.split_once("it is not where ") {
            Some((before, behind)) => {
                let (_, behind) = behind.split_once(" looks for").unwrap();
                format!("{before}it is not where PYTHON looks for{behind}")
            }
            None => said,
        };
        interpreter(said)
            .replace(folder.to_str().unwrap(), "PROJECT")
            .replace(root().to_str().unwrap(), "CHECKOUT")
    }

    fn tools(&self) -> Vec<String> {
        let line = "airlock inspect build/mistake.wasm --json";
        let inspected = done(
            command(self.language, &self.folder(), line)
                .output()
                .unwrap(),
        );
        let tools = inspected["tools"].as_array().unwrap().iter();
        tools
            .map(|tool: &Value| tool["name"].as_str().unwrap().to_owned())
            .collect()
    }
}
