//! Programs that others wrote run unchanged as tools: `tests/toolchain/install-programs` builds
//! them.

use std::fs;
use std::path::Path;

use serde_json::Value;
use tempfile::TempDir;

use crate::airlock::{Store, guest};

/// A program in a workspace with a few files.
struct Program {
    path: String,
    store: Store,
    workspace: TempDir,
}

impl Program {
    fn new(name: &str, files: &[(&str, &str)]) -> Self {
        let workspace = TempDir::new().unwrap();
        for (path, text) in files {
            let path = workspace.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let guests = guest("program");
        let programs = Path::new(&guests)
            .parent()
            .unwrap()
            .with_file_name("programs");
        let path = programs.join(format!("{name}.wasm"));
        assert!(
            path.exists(),
            "no {}: run tests/toolchain/install-programs",
            path.display()
        );
        Self {
            path: path.to_str().unwrap().to_owned(),
            store: Store::new(),
            workspace,
        }
    }

    fn run(&self, args: &[&str]) -> Value {
        let args = [&["run", "--command", &self.path, "--json", "--"], args].concat();
        let ran = self.store.airlock(self.workspace.path(), &args).run();
        assert_eq!(ran.code, 0, "{args:?}: {ran:#?}");
        ran.json()
    }

    /// Runs it, and checks its output and that it changes nothing.
    fn check_output(&self, args: &[&str], expected: &str) {
        let told = self.run(args);
        assert_eq!(text(&told), expected, "{args:?}");
        assert_eq!(told["pending"], Value::Array(Vec::new()), "{args:?}");
    }

    /// Runs it, checks that it would change one file so, applies that, and undoes it.
    fn check_change(&self, args: &[&str], change: &str, contents: &str) {
        let (kind, name) = change.split_once(' ').unwrap();
        let path = self.workspace.path().join(name);
        let now = || fs::read_to_string(&path).ok();
        let before = now();
        let told = self.run(args);
        let effects = &told["effects"][0];
        assert_eq!(effects["verified"], true, "{told:#}");
        let changes = effects["changes"].as_array().unwrap().iter();
        let changes =
            changes.map(|it| (it["kind"].as_str().unwrap(), it["path"].as_str().unwrap()));
        assert_eq!(changes.collect::<Vec<_>>(), [(kind, name)], "{args:?}");
        assert_eq!(now(), before, "only staged");
        let apply = ["resolve", "apply", "--reason", "right"];
        let applied = self.store.json(self.workspace.path(), &apply);
        assert_eq!(text(&applied), text(&told), "the same run again");
        assert_eq!(now().as_deref(), Some(contents), "{args:?}");
        let undo = ["undo", "--yes", "--reason", "no"];
        self.store.json(self.workspace.path(), &undo);
        assert_eq!(now(), before, "undone");
    }
}

fn text(told: &Value) -> String {
    let blocks = told["content"].as_array().unwrap().iter();
    let texts = blocks.map(|block| block["text"].as_str().unwrap());
    texts.collect::<Vec<_>>().join("\n")
}

#[test]
fn ripgrep_searches_the_workspace() {
    let files = [
        ("a.txt", "one\ntwo\n"),
        ("src/b.rs", "// two\n"),
        (".ignore", "c\n"),
        ("c", "two"),
    ];
    let program = Program::new("rg", &files);
    let found = "./a.txt:2:two\n./src/b.rs:1:// two\n";
    program.check_output(&["--sort=path", "-n", "two", "."], found);
    program.check_output(&["three", "."], "The program failed.");
}

#[test]
fn comrak_renders_markdown() {
    let program = Program::new("comrak", &[("a.md", "# Title\n\n*so* it is\n")]);
    let html = "<h1>Title</h1>\n<p><em>so</em> it is</p>\n";
    program.check_output(&["a.md"], html);
    program.check_change(&["a.md", "-o", "a.html"], "created a.html", html);
}

#[test]
fn jsonxf_formats_json() {
    let program = Program::new("jsonxf", &[("a.json", "{\"a\":[1,2]}\n")]);
    let formatted = "{\n  \"a\": [\n    1,\n    2\n  ]\n}\n";
    program.check_output(&["-i", "a.json"], formatted);
    let args = ["-i", "a.json", "-o", "b.json"];
    program.check_change(&args, "created b.json", formatted);
}

#[test]
fn htmlq_extracts_text_from_a_page() {
    let page = "<html><body><h1>One</h1><p>x<h1>Two</h1></body></html>";
    let program = Program::new("htmlq", &[("a.html", page)]);
    let args = ["-f", "a.html", "--text", "h1", "-o", "titles"];
    program.check_output(&args[..4], "One\nTwo\n");
    program.check_change(&args, "created titles", "One\nTwo\n");
}

#[test]
fn typstyle_formats_a_file_in_place() {
    let program = Program::new("typstyle", &[("a.typ", "= Title\n#let  x=1\n")]);
    let formatted = "= Title\n#let x = 1\n";
    program.check_output(&["a.typ"], formatted);
    program.check_change(&["-i", "a.typ"], "modified a.typ", formatted);
}

#[test]
fn cpython_runs_a_script() {
    let script = "\
import json, pathlib, re, sys
path = pathlib.Path('data/a.json')
data = json.loads(path.read_text())
data['version'] = re.sub(r'\\d+$', lambda it: str(int(it[0]) + 1), data['version'])
path.write_text(json.dumps(data) + '\\n')
print(sys.argv[1], data['version'])
";
    let files = [
        ("bump.py", script),
        ("data/a.json", "{\"version\": \"1.0.9\"}\n"),
    ];
    let program = Program::new("python", &files);
    let args = ["-B", "bump.py", "now"];
    let contents = "{\"version\": \"1.0.10\"}\n";
    program.check_change(&args, "modified data/a.json", contents);
    let version = ["-c", "import sys; print(sys.version.split()[0])"];
    program.check_output(&version, "3.12.0\n");
}

/// The tools file in a page that has this tool.
fn from_page(tool: &str) -> String {
    let page = fs::read_to_string("../desk/PROGRAMS.md").unwrap();
    let mut files = page.split("```toml\n").skip(1);
    let file = files
        .find(|it| it.contains(&format!("name = \"{tool}\"")))
        .unwrap();
    file.split("```").next().unwrap().to_owned()
}

#[test]
fn an_agent_can_run_python_scripts_with_modules_of_the_workspace() {
    let module = "def double(x):\n    return 2 * x\n";
    let program = Program::new("python", &[("tools/python/ours.py", module), ("n", "21")]);
    let tools = TempDir::new().unwrap();
    let file = tools.path().join("python.toml");
    let contents = from_page("run_python");
    fs::write(&file, contents.replace("python.wasm", &program.path)).unwrap();
    let run = |script: &str, more: &[&str]| {
        let args = ["run", file.to_str().unwrap(), "--script", script];
        program
            .store
            .json(program.workspace.path(), &[&args, more].concat())
    };
    let told = run(
        "import sys, ours\nprint(ours.double(4), sys.argv[1:])",
        &["--args", "a b"],
    );
    assert_eq!(text(&told), "8 ['a b']\n");
    assert_eq!(told["pending"], Value::Array(Vec::new()));
    let script =
        "import ours\nn = int(open('n').read())\nopen('n', 'w').write(str(ours.double(n)))";
    let told = run(script, &["--summary", "double the number"]);
    assert_eq!(told["pending"][0]["label"], "Script: double the number");
    program.store.json(
        program.workspace.path(),
        &["resolve", "apply", "--reason", "right"],
    );
    let n = fs::read_to_string(program.workspace.path().join("n")).unwrap();
    assert_eq!(n, "42");
    let told = run("1/0", &[]);
    assert!(text(&told).contains("ZeroDivisionError"), "{told:#}");
}

#[test]
fn a_file_gives_a_program_tools_with_schemas() {
    let program = Program::new("rg", &[("a.txt", "one\ntwo\n"), ("b.md", "two\n")]);
    let tools = TempDir::new().unwrap();
    let file = tools.path().join("search.toml");
    let contents = format!(
        r#"
        program = "{}"

        [[tool]]
        name = "search"
        label = "Search"
        description = "Searches files for a regular expression"
        args = ["--sort=path", ["--glob", "{{glob}}"], "--regexp={{pattern}}", "."]
        required = ["pattern"]
        read-only = true
        params.pattern = {{ type = "string", description = "A regular expression" }}
        params.glob = {{ type = "string", description = "The files to search, such as *.rs" }}
        "#,
        program.path
    );
    fs::write(&file, &contents).unwrap();
    let file = file.to_str().unwrap();
    let run = |args: &[&str]| {
        let args = [&["run", file], args].concat();
        program.store.airlock(program.workspace.path(), &args).run()
    };
    // One tool needs no name, and its params are options.
    let ran = run(&["--pattern", "t.o", "--glob", "*.md"]);
    assert_eq!((ran.code, &*ran.stdout), (0, "│ ./b.md:two\n"), "{ran:#?}");
    let ran = run(&["search", r#"{"pattern":"two"}"#, "--json"]);
    assert_eq!(text(&ran.json()), "./a.txt:two\n./b.md:two\n");
    let ran = run(&["--help"]);
    assert!(ran.stdout.contains("A regular expression"), "{ran:#?}");

    // One component of both, which is not written over the program.
    let build = |output: &str| {
        let args = ["build", file, "--output", output];
        program.store.airlock(tools.path(), &args).run()
    };
    let ran = build(&program.path);
    assert_eq!(ran.code, 2, "{ran:#?}");
    assert!(ran.stderr.contains("would be replaced"), "{ran:#?}");
    let ran = build("one.wasm");
    assert_eq!(ran.code, 0, "{ran:#?}");
    let one = tools.path().join("one.wasm");
    let args = ["run", one.to_str().unwrap(), "--pattern", "one"];
    let told = program.store.json(program.workspace.path(), &args);
    assert_eq!(text(&told), "./a.txt:one\n");

    let check = |from: &str, to: &str, says: &[&str]| {
        fs::write(file, contents.replace(from, to)).unwrap();
        let ran = run(&["--pattern", "x"]);
        assert_eq!(ran.code, 3, "{ran:#?}");
        for part in says {
            assert!(ran.stderr.contains(part), "{part}: {ran:#?}");
        }
    };
    check(
        "{pattern}",
        "{patern}",
        &["search.toml:4:9", "no param \"patern\""],
    );
    check(
        "label",
        "lable",
        &["search.toml:6:9", "unknown field `lable`"],
    );
    check(
        "rg.wasm",
        "rgx.wasm",
        &["search.toml: its program", "rgx.wasm can't be read"],
    );
    check("\"search\"", "\"search files\"", &["a tool's name must be"]);
    let [head, tool] = contents
        .split_once("[[tool]]")
        .map(<[&str; 2]>::from)
        .unwrap();
    check(&contents, head, &["search.toml: there is no `[[tool]]`"]);
    let twice = [head, tool, tool].join("[[tool]]");
    check(
        &contents,
        &twice,
        &["search.toml: two tools are named \"search\""],
    );
    let built = [one.to_str().unwrap(), "its program already had tools"];
    check(&program.path, built[0], &built[1..]);
}
