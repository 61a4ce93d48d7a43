//! Projects of `airlock new`, each made in an empty folder outside of the checkout, moved, and then
//! built, called and tested as it says itself, with the language's own tools.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::airlock::airlock_in;
use crate::toolchain::{done, root, shell};

/// The project `add-a-line` in a language, made in one folder and moved to another.
pub struct Project {
    language: &'static str,
    pub parent: TempDir,
    /// What `airlock new --json` said.
    made: Value,
}

impl Project {
    pub fn new(language: &'static str) -> Self {
        let parent = TempDir::new().unwrap();
        let place = |name: &str| parent.path().join(name);
        fs::create_dir(place("at first")).unwrap();
        let line = format!("airlock new add-a-line --lang {language} --json");
        let made = done(shell(language, &place("at first"), &line));
        fs::create_dir(place("moved")).unwrap();
        let moved = place("moved/add-a-line");
        fs::rename(place("at first/add-a-line"), &moved).unwrap();
        names_no_other_folder(&moved, parent.path());
        Self {
            language,
            parent,
            made,
        }
    }

    pub fn folder(&self) -> PathBuf {
        self.parent.path().join("moved/add-a-line")
    }

    /// Runs a line in the project's folder.
    pub fn shell(&self, line: &str) -> Output {
        shell(self.language, &self.folder(), line)
    }

    /// Changes a source.
    #[track_caller]
    pub fn replace(&self, file: &str, from: &str, to: &str) {
        let path = self.folder().join(file);
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.contains(from), "{file} has no {from}");
        fs::write(path, text.replace(from, to)).unwrap();
    }

    /// The commands that `new` told behind `cd`.
    fn commands(&self) -> Vec<&str> {
        let commands = self.made["commands"].as_array().unwrap();
        let mut commands = commands.iter().map(|command| command.as_str().unwrap());
        assert_eq!(commands.next(), Some("cd add-a-line"));
        commands.collect()
    }

    fn notes(&self) -> String {
        fs::read_to_string(self.folder().join("notes.txt")).unwrap()
    }
}

/// No file has a path to the checkout, to the home of who made it, or to where it was made.
#[track_caller]
fn names_no_other_folder(folder: &Path, made_in: &Path) {
    let home = std::env::var("HOME").unwrap();
    let foreign = [
        root().display().to_string(),
        format!("{home}/"),
        made_in.display().to_string(),
    ];
    let mut folders = vec![folder.to_owned()];
    let mut seen = 0;
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            assert!(!path.is_symlink(), "{}", path.display());
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            seen += 1;
            let contents = fs::read(&path).unwrap();
            let text = String::from_utf8_lossy(&contents);
            for other in &foreign {
                assert!(!text.contains(other), "{} has {other}", path.display());
            }
        }
    }
    assert!(seen > 8, "{seen}");
}

/// Does what `new` says comes next, `prepare` first and then what an editor does, before anything
/// was built. Then applies what was pushed. Gives the project, and what `airlock build` said.
fn from_nothing(language: &'static str, prepare: &[&str], editors: &[&str]) -> (Project, Value) {
    let project = Project::new(language);
    assert_eq!(project.made["path"], "add-a-line");
    assert_eq!(project.made["sdk"], "sdk");
    for file in project.made["files"].as_array().unwrap() {
        let path = project.folder().join(file.as_str().unwrap());
        assert!(path.is_file(), "{file}");
    }

    let commands = project.commands();
    let (first, rest) = commands.split_at(prepare.len());
    assert_eq!(first, prepare);
    let [build, write, run, test] = rest else {
        panic!("{rest:?}");
    };
    for command in first {
        done(project.shell(&format!("{command} >&2")));
    }
    for command in editors {
        done(project.shell(&format!("{command} >&2")));
        assert!(!project.folder().join("build").exists(), "{command}");
    }
    let built = done(project.shell(&format!("{build} --json")));
    assert_eq!(built["path"], "./build/add-a-line.wasm");
    assert_eq!(
        (&built["name"], &built["version"]),
        (&"add-a-line".into(), &"0.1.0".into())
    );
    assert_eq!(built["tools"], json!(["add_a_line"]));
    assert!(built["sdk"]["version"].is_string(), "{built}");
    let inspected = done(project.shell("airlock inspect build/add-a-line.wasm --json"));
    check_definition(&inspected["tools"][0]);
    let wants = json!({"read": ["**"], "change": ["**"]});
    assert_eq!(inspected["wants"], wants);
    assert_eq!(inspected["metadata"]["version"], "0.1.0");

    done(project.shell(write));
    let ran = done(project.shell(&format!("{run} --json")));
    assert_eq!(ran["content"][0]["text"], "Would add to notes.txt: Two");
    let pending = &ran["pending"][0];
    assert_eq!(pending["label"], "Add a line: notes.txt");
    assert_eq!(pending["sourceToolName"], "add_a_line");
    assert_eq!(project.notes(), "One\n");
    let tested = done(project.shell(&format!("{test} --json --junit report.xml")));
    assert_eq!(tested["held"], true, "{tested}");
    assert_eq!(tested["built"], false, "what it is tried on is no source");
    assert_eq!(tested["counts"]["cases"], 2);
    let xml = fs::read_to_string(project.folder().join("report.xml")).unwrap();
    assert!(xml.contains("failures=\"0\""), "{xml}");

    let ran = done(project.shell(&format!("{run} --apply 'it is right' --json")));
    let text = &ran["resolved"]["content"][0]["text"];
    assert_eq!(text, "Added a line to notes.txt. Reason: it is right");
    assert_eq!(project.notes(), "One\nTwo\n");
    (project, built)
}

/// It is the same tool in every language.
fn check_definition(tool: &Value) {
    assert_eq!(tool["label"], "Add a line");
    assert_eq!(tool["description"], "Adds a line at the end of a file.");
    let traits = tool["traits"].as_object().unwrap();
    let held: Vec<_> = traits.iter().filter(|(_, held)| **held == true).collect();
    assert_eq!(
        held.iter().map(|(name, _)| *name).collect::<Vec<_>>(),
        ["deferrable", "idempotent"]
    );
    let parameters = &tool["parameters"];
    assert_eq!(parameters["required"], json!(["path", "line"]));
    assert_eq!(parameters["additionalProperties"], false);
    let described = |name: &str| &parameters["properties"][name]["description"];
    assert_eq!(
        (described("path"), described("line")),
        (
            &"The file's path, relative to the workspace.".into(),
            &"The line to add.".into()
        )
    );
}

#[test]
fn a_new_project_in_rust_is_built_called_and_tested() {
    let (project, _) = from_nothing("rust", &[], &["cargo check --quiet"]);
    let component = fs::read(project.folder().join("build/add-a-line.wasm")).unwrap();
    let text = String::from_utf8_lossy(&component);
    assert!(
        text.contains("/cargo/serde_json-"),
        "panics tell where they were written"
    );
    // But not in whose folders.
    let home = std::env::var("HOME").unwrap();
    for path in [
        &home,
        root().to_str().unwrap(),
        project.folder().to_str().unwrap(),
    ] {
        assert!(!text.contains(path), "{path}");
    }
}

#[test]
fn a_new_project_in_typescript_is_built_called_and_tested() {
    let check = "npx --no-install tsc --noEmit";
    let (project, _) = from_nothing("ts", &["npm install"], &[check]);
    // It looked at the SDK's types.
    project.replace("src/tool.ts", "label: \"Add a line\"", "label: 1");
    let found = project.shell(check);
    let found = String::from_utf8_lossy(&found.stdout).into_owned();
    assert!(found.contains("src/tool.ts("), "{found}");
}

#[test]
fn a_new_project_in_javascript_is_built_called_and_tested() {
    from_nothing("js", &["npm install"], &[]);
}

#[test]
fn a_new_project_in_python_is_built_called_and_tested() {
    let prepare = [
        "python3 -m venv --upgrade-deps .venv",
        ".venv/bin/pip install --group dev ./sdk",
    ];
    let pytest = ".venv/bin/python -m pytest --quiet";
    let (project, _) = from_nothing("python", &prepare, &["pyright", pytest]);
    // Made into another tool, it breaks its tests.
    project.replace("src/tool.py", "{before}{line}\\n", "{line}\\n{before}");
    let tested = project.shell(pytest);
    assert_eq!(tested.status.code(), Some(1), "{tested:?}");
}

#[test]
fn a_new_project_in_go_is_built_called_and_tested() {
    // As it is, without the modes that the tests' own Go has.
    from_nothing("go", &[], &["GOFLAGS= go vet ./..."]);
}

#[test]
fn a_new_project_in_c_is_built_called_and_tested_and_is_the_same_in_another_folder() {
    // As clangd is told.
    let check = "python3 -m ziglang cc -target wasm32-wasi $(cat compile_flags.txt) -Werror -c src/tool.c -o checked.o";
    let (_folder, built) = from_nothing("c", &[], &[check]);
    let other = Project::new("c");
    let again = done(other.shell("airlock build --json"));
    assert_eq!(built["digest"], again["digest"]);
}

/// The first cases say what the tool is for, so that none of these is the same tool.
#[test]
fn a_tool_that_is_made_into_another_one_breaks_its_first_cases() {
    let project = Project::new("c");
    done(project.shell("airlock test --json --tries 0"));
    for (from, to) in [
        (
            "airlock_format(\"%s%s\\n\", before, line)",
            "airlock_format(\"%s\\n%s\", line, before)",
        ),
        ("fopen(path, \"wb\")", "fopen(\"other.txt\", \"wb\")"),
        ("\"Add a line: %s\"", "\"Line: %s\""),
        ("Added a line to %s", "Changed %s"),
    ] {
        project.replace("src/tool.c", from, to);
        let tested = project.shell("airlock test --json --tries 0");
        let report: Value = serde_json::from_slice(&tested.stdout).unwrap();
        assert_eq!(
            (&report["held"], tested.status.code()),
            (&json!(false), Some(1)),
            "{to}: {report}"
        );
        project.replace("src/tool.c", to, from);
    }
}

#[test]
fn a_name_may_have_underscores() {
    let folder = TempDir::new().unwrap();
    for language in ["rust", "ts", "js", "python", "go", "c"] {
        let line = format!("airlock new add_a_line --lang {language} --path {language}");
        done(shell("c", folder.path(), &line));
        let cases =
            fs::read_to_string(folder.path().join(language).join("airlock-test.toml")).unwrap();
        assert!(cases.contains("tool = \"add_a_line\""), "{cases}");
        assert!(cases.contains("\"Add a line: notes.txt\""), "{cases}");
    }
    let built = done(shell("c", folder.path(), "airlock build c --json"));
    assert_eq!(built["name"], "add_a_line");
}

#[test]
fn new_tells_what_comes_next() {
    let folder = TempDir::new().unwrap();
    let args = ["new", "add-a-line", "--lang", "ts", "--path", "my tools"];
    let ran = airlock_in(folder.path(), &args).run();
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    for line in [
        "my tools",
        "  src/tool.ts",
        "  sdk/",
        "Next (with Node.js 20 or later):",
        "  cd 'my tools'",
        "  npm install",
        "  airlock build",
        "  airlock test",
    ] {
        assert!(
            ran.stdout.lines().any(|said| said == line),
            "{line}: {}",
            ran.stdout
        );
    }
    let again = airlock_in(folder.path(), &args).arg("--json").run();
    let (kind, message, hint) = again.error();
    assert_eq!((again.code, kind.as_str()), (2, "usage"));
    assert_eq!(message, "the folder my tools is not empty");
    assert!(hint.contains("--path DIR"), "{hint}");
}

#[test]
fn what_can_not_be_made_is_told_with_what_to_do() {
    let check = |args: &[&str], part: &str| {
        let folder = TempDir::new().unwrap();
        fs::create_dir_all(folder.path().join("clone/sdk/ts")).unwrap();
        let ran = airlock_in(folder.path(), args).arg("--json").run();
        let (kind, message, hint) = ran.error();
        assert_eq!((ran.code, kind.as_str()), (2, "usage"), "{message}");
        let said = format!("{message}; {hint}");
        assert!(said.contains(part), "{said}");
        assert!(!folder.path().join("a").exists());
    };
    check(&["new", "Tool", "--lang", "c"], "begins with a letter");
    check(
        &["new", "airlock-tool", "--lang", "rust"],
        "that name is reserved",
    );
    check(
        &["new", "a", "--lang", "rust", "--sdk", "/nowhere"],
        "no SDK in /nowhere",
    );
    check(
        &["new", "a", "--lang", "ts", "--sdk", "clone"],
        "build it: clone/tests/toolchain/install-node-tools",
    );
    check(
        &["new", "a", "--lang", "python", "--sdk", "clone"],
        "no SDK in clone/sdk/python",
    );
}
