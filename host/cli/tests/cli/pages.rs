//! The commands in the project's pages: each has its subcommand and its options.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use crate::airlock::airlock;

const PAGES: [&str; 11] = [
    "README.md",
    "SECURITY.md",
    "host/ast-edit/README.md",
    "host/cli/README.md",
    "host/core/README.md",
    "host/desk/CONFIGURATION.md",
    "host/desk/PROGRAMS.md",
    "host/rules/README.md",
    "host/serve/SAFE-WORKSPACE.md",
    "host/serve/README.md",
    "host/store-sqlite/README.md",
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The help that a page's commands are compared with, by subcommand.
#[derive(Default)]
struct Help(BTreeMap<Vec<String>, Option<String>>);

impl Help {
    fn of(&mut self, command: &[&str]) -> Option<&str> {
        let key: Vec<String> = command.iter().map(|it| (*it).to_owned()).collect();
        let help = self.0.entry(key).or_insert_with(|| {
            let ran = airlock(&[command, &["--help"]].concat()).run();
            (ran.code == 0).then_some(ran.stdout)
        });
        help.as_deref()
    }
}

/// The commands in code of a page, without their prompts and output.
fn commands(page: &str) -> Vec<String> {
    let text = fs::read_to_string(root().join(page)).unwrap();
    let mut commands = Vec::new();
    let mut in_block = false;
    for line in text.lines() {
        if line.starts_with("```") {
            in_block = !in_block;
        } else if in_block {
            let line = line.trim().trim_start_matches("$ ");
            commands.extend(line.starts_with("airlock ").then(|| line.to_owned()));
        } else {
            let code = line.split('`').skip(1).step_by(2);
            commands.extend(
                code.filter(|it| it.starts_with("airlock "))
                    .map(str::to_owned),
            );
        }
    }
    commands
}

/// What is wrong with a command, if anything.
fn problem(command: &str, help: &mut Help) -> Option<String> {
    // A tool and a program have their own options.
    let command = command.split(" -- ").next().unwrap_or(command);
    let words: Vec<&str> = command.split([' ', '\'', '"', '=', ')']).skip(1).collect();
    let is_name = |word: &&&str| word.starts_with(|it: char| it.is_ascii_lowercase());
    let names: Vec<&str> = words.iter().take_while(is_name).copied().collect();
    let is_known = |count: &usize| {
        help.of(&names[..*count])
            .is_some_and(|it| it.contains("Usage"))
    };
    let most = names.len().min(2);
    let subcommand = match (1..=most).rev().find(is_known) {
        Some(count) => names[..count].to_vec(),
        // Such as `airlock --version`, or with a word that stands for any command.
        None if names.is_empty() || words.contains(&"COMMAND") => return None,
        None => return Some("no such command".to_owned()),
    };
    let text = help.of(&subcommand)?.to_owned();
    let is_tools = subcommand == ["run"];
    let options = words
        .iter()
        .filter(|it| it.starts_with("--") && it.len() > 2);
    let options = options.map(|it| it.trim_end_matches([',', ';', '.', ':']));
    let mut missing = options.filter(|it| {
        let tools = [
            "--files",
            "--find",
            "--replace",
            "--ops.",
            "--paths",
            "--pattern",
            "--glob",
        ];
        let is_tools = is_tools && tools.iter().any(|tool| it.starts_with(tool));
        !is_tools && !text.contains(*it)
    });
    missing.next().map(|it| format!("no option {it}"))
}

#[test]
fn each_command_in_a_page_exists_with_its_options() {
    let mut help = Help::default();
    let (mut problems, mut count) = (Vec::new(), 0);
    for page in PAGES {
        for command in commands(page) {
            count += 1;
            problems
                .extend(problem(&command, &mut help).map(|it| format!("{page}: {command}: {it}")));
        }
    }
    assert!(count > 60, "{count}");
    assert!(problems.is_empty(), "{problems:#?}");
}
