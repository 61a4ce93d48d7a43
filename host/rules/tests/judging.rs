//! What rules say of actions.

use std::path::Path;

use airlock_model::digest::Digest;
use airlock_model::effects::{Change, ChangeKind, Effects, Facts, ObjectKind};
use airlock_rules::{Control, Judgement, Rule, RuleSet, Rules, Subject, Verdict, resolve_plugins};
use serde::Deserialize;

use workspace::Workspace;

use ChangeKind::{Created, Deleted, Link, Mode, Modified, Renamed};
use Verdict::{Allow, Ask, AskAtTerminal, Refuse};

#[derive(Deserialize, Default)]
#[serde(default)]
struct File {
    rule: Vec<Rule>,
    control: Control,
    budget: airlock_rules::Budget,
}

fn set(text: &str) -> RuleSet {
    let file: File = toml::from_str(text).unwrap();
    let mut rules = file.rule;
    let problems = resolve_plugins(&mut rules, |_| Ok(Digest::of(b"its bytes")));
    assert_eq!(problems, [""; 0]);
    RuleSet {
        rules,
        control: file.control,
        budget: file.budget,
    }
}

fn rules(operator: &str, workspace: &str) -> Rules {
    Rules::new(set(operator), set(workspace), ["state/pending.db"])
}

fn facts(object: ObjectKind, mode: u32) -> Facts {
    let mut facts = Facts::new(object);
    (facts.size, facts.mode) = (10, mode);
    facts
}

/// As a host tells of it, of a file.
fn change(kind: ChangeKind, path: &str) -> Change {
    let mut change = Change::new(kind, path);
    if kind != Created {
        change.before = Some(facts(ObjectKind::File, 0o644));
    }
    if kind != Deleted {
        change.after = Some(facts(ObjectKind::File, 0o644));
    }
    change
}

fn renamed(from: &str, to: &str) -> Change {
    let mut change = change(Renamed, to);
    change.from = Some(from.to_owned());
    change
}

fn moved_directory(from: &str, to: &str) -> Change {
    let mut change = renamed(from, to);
    change.before = Some(facts(ObjectKind::Directory, 0o755));
    change.after = Some(facts(ObjectKind::Directory, 0o755));
    change
}

fn link(path: &str, target: &str) -> Change {
    let mut change = Change::new(Link, path);
    let mut after = facts(ObjectKind::Link, 0);
    after.target = Some(target.to_owned());
    change.after = Some(after);
    change
}

fn executable(path: &str) -> Change {
    let mut change = change(Mode, path);
    change.after = Some(facts(ObjectKind::File, 0o755));
    change
}

fn judged(rules: &Rules, effects: Option<&Effects>, default: Verdict) -> Judgement {
    let nothing = Workspace::of([""; 0]);
    judged_with(rules, effects, default, &nothing)
}

fn judged_with(
    rules: &Rules,
    effects: Option<&Effects>,
    default: Verdict,
    workspace: &Workspace,
) -> Judgement {
    let subject = Subject {
        tool: "rename",
        plugin: Digest::of(b"its bytes"),
        workspace: Some(Path::new("/home/ann/project")),
        effects,
    };
    rules.judge(&subject, default, workspace)
}

#[test]
#[expect(clippy::too_many_lines, reason = "it is a table")]
fn each_path_takes_the_first_rule_about_it_and_the_strictest_counts() {
    let operator = "
        [[rule]]
        name = 'no keys'
        paths = ['*.key']
        then = 'refuse'

        [[rule]]
        name = 'small edits of notes'
        paths = ['notes/']
        kinds = ['created', 'modified', 'renamed']
        executable = false
        links = false
        max-files = 3
        max-bytes = '1KiB'
        then = 'allow'

        [[rule]]
        name = 'deletions'
        kinds = ['deleted']
        max-deletions = 2
        then = 'ask-at-terminal'

        [[rule]]
        name = 'more deletions'
        kinds = ['deleted']
        then = 'refuse'

        [[rule]]
        name = 'tests'
        tools = ['rename']
        plugins = ['batch-rename']
        workspaces = ['/home/ann/project']
        paths = ['tests/']
        then = 'allow'

        [[rule]]
        name = 'of another tool'
        tools = ['mv']
        then = 'allow'
    ";
    let rules = rules(operator, "");
    let check = |changes: &[Change], expected: Verdict, why: &str| {
        let effects = Effects::verified(changes.to_vec());
        let judgement = judged(&rules, Some(&effects), Ask);
        assert_eq!(judgement.verdict, expected, "{changes:?}\n{judgement:?}");
        let first = judgement.first().unwrap().to_string();
        assert_eq!(first, why, "{changes:?}");
    };
    let notes = "rule `small edits of notes`";
    check(
        &[change(Created, "notes/a")],
        Allow,
        &format!("`notes/a`: {notes}"),
    );
    check(
        &[change(Modified, "notes/a"), change(Created, "notes/b/c")],
        Allow,
        &format!("`notes/a` and 1 more: {notes}"),
    );
    check(
        &[change(Modified, "src/a")],
        Ask,
        "no rule matches `src/a`, so the default applies",
    );
    check(
        &[renamed("src/a", "notes/a")],
        Ask,
        "no rule matches `src/a`, so the default applies",
    );
    check(
        &[renamed("notes/b", "notes/a")],
        Allow,
        &format!("`notes/a` and 1 more: {notes}"),
    );
    check(
        &[renamed("notes/b.key", "notes/a")],
        Refuse,
        "`notes/b.key`: rule `no keys`",
    );
    check(
        &[executable("notes/run")],
        Ask,
        "no rule matches `notes/run`, so the default applies",
    );
    check(
        &[link("notes/l", "a")],
        Ask,
        "no rule matches `notes/l`, so the default applies",
    );
    let many = ["a", "b", "c", "d"].map(|it| change(Created, &format!("notes/{it}")));
    check(
        &many,
        Ask,
        "no rule matches `notes/a` and 3 more, so the default applies",
    );
    let mut large = change(Created, "notes/a");
    large.after.as_mut().unwrap().size = 1025;
    check(
        &[large],
        Ask,
        "no rule matches `notes/a`, so the default applies",
    );
    let gone = |count| -> Vec<_> {
        (0..count)
            .map(|at| change(Deleted, &format!("notes/{at}")))
            .collect()
    };
    check(
        &gone(2),
        AskAtTerminal,
        "`notes/0` and 1 more: rule `deletions`",
    );
    check(
        &gone(3),
        Refuse,
        "`notes/0` and 2 more: rule `more deletions`",
    );
    check(
        &[change(Modified, "tests/a")],
        Allow,
        "`tests/a`: rule `tests`",
    );
    check(
        &[],
        Ask,
        "no rule matches the action, so the default applies",
    );
    check(
        &[change(Created, "a\n`b`")],
        Ask,
        "no rule matches `a\\n\\u{60}b\\u{60}`, so the default applies",
    );
}

#[test]
fn a_control_file_asks_at_the_terminal_whatever_lets_all_through() {
    let all = "[[rule]]\nname = 'all'\nthen = 'allow'\n[control]\nalso = ['deploy/']";
    let rules = rules(all, "[control]\nalso = ['*.sql']");
    let mut workspace = Workspace::of(["vendor/a/", "vendor/a/.git/hooks/post-checkout"]);
    workspace.huge = vec!["huge"];
    let hook = Effects::verified(vec![change(Created, ".git/hooks/x")]);
    assert_eq!(
        judged(&rules, Some(&hook), Allow).because[0].to_string(),
        "`.git/hooks/x` is a control file (kind: .git), which can run commands when version control reads it"
    );
    let check = |change: Change, expected: Verdict| {
        let effects = Effects::verified(vec![self::change(Modified, "a"), change]);
        let judgement = judged_with(&rules, Some(&effects), Allow, &workspace);
        assert_eq!(judgement.verdict, expected, "{effects:?}");
    };
    for path in [
        ".git/hooks/pre-commit",
        ".git/config",
        ".GIT/Config",
        "sub/.git",
        ".vscode/tasks.json",
        ".claude/settings.json",
        ".mcp.json",
        ".github/workflows/ci.yml",
        ".bashrc",
        "home/.zshenv",
        ".env",
        "api/.env.production",
        "airlock-host.toml",
        ".airlock/x",
        "state/pending.db",
        "deploy/prod.yml",
        "db/1.sql",
    ] {
        check(change(Created, path), AskAtTerminal);
        check(change(Modified, path), AskAtTerminal);
        check(change(Deleted, path), AskAtTerminal);
        check(executable(path), AskAtTerminal);
        check(renamed(path, "x.txt"), AskAtTerminal);
        check(renamed("x.txt", path), AskAtTerminal);
        check(link(path, "x"), AskAtTerminal);
        check(link("a/b/l", &format!("../../{path}")), AskAtTerminal);
    }
    check(moved_directory("vendor", "third-party"), AskAtTerminal);
    check(moved_directory("huge", "large"), AskAtTerminal);
    check(moved_directory("x", "sub/.git"), AskAtTerminal);
    check(link("l", "../outside"), AskAtTerminal);
    check(link("l", "/etc/passwd"), AskAtTerminal);
    check(link("a/l", "../b"), Allow);
    check(moved_directory("x", "y"), Allow);
    check(renamed("x", "y"), Allow);
}

#[test]
fn an_operator_names_a_control_file_in_a_rule_and_the_workspace_can_not() {
    let env = "[[rule]]\nname = 'env'\npaths = ['.env']\ncontrol = ['.env']\nthen = 'allow'\n";
    let all = "[[rule]]\nname = 'all'\nthen = 'allow'\n";
    let check = |operator: &str, workspace: &str, path: &str, expected: Verdict| {
        let effects = Effects::verified(vec![change(Modified, path)]);
        let judgement = judged(&rules(operator, workspace), Some(&effects), Ask);
        assert_eq!(judgement.verdict, expected, "{operator} {workspace} {path}");
        judgement
    };
    let through = check(env, "", ".env", Allow);
    assert_eq!(through.let_through_by(), Some(vec!["env"]));
    // The rule is about this file alone.
    check(env, "", "api/.env.local", AskAtTerminal);
    check(env, "", ".git/config", AskAtTerminal);
    // Another rule before it, which doesn't name the file, is not about it.
    check(&format!("{all}{env}"), "", ".env", Allow);
    check(all, env, ".env", AskAtTerminal);
    // A stricter rule is about control files too.
    check("[[rule]]\nname = 'no'\nthen = 'refuse'", "", ".env", Refuse);
}

#[test]
fn the_rules_of_a_workspace_only_narrow() {
    let allow = "[[rule]]\nname = 'all'\nthen = 'allow'";
    let refuse = "[[rule]]\nname = 'src'\npaths = ['src/']\nthen = 'refuse'";
    let check = |operator: &str, workspace: &str, path: &str, expected: Verdict| {
        let effects = Effects::verified(vec![change(Modified, path)]);
        let judgement = judged(&rules(operator, workspace), Some(&effects), Ask);
        assert_eq!(judgement.verdict, expected, "{operator} {workspace} {path}");
    };
    check(allow, refuse, "src/a", Refuse);
    check(allow, refuse, "a", Allow);
    check(refuse, allow, "src/a", Refuse);
    check("", allow, "a", Ask);
    let effects = Effects::verified(Vec::new());
    let nothing = judged(
        &rules(allow, "[[rule]]\nname='n'\nthen='refuse'"),
        Some(&effects),
        Ask,
    );
    assert_eq!(nothing.verdict, Refuse);
    let budget = |files: &str| set(&format!("[budget]\n{files}"));
    let both = Rules::new(
        budget("files = 5\nbytes = '1MiB'"),
        budget("files = 9\ndeletions = 1"),
        [],
    );
    let both = both.budget();
    assert_eq!((both.files, both.deletions), (Some(5), Some(1)));
    assert_eq!(both.bytes.unwrap().to_string(), "1MiB");
}

#[test]
fn names_that_are_taken_or_unknown_are_problems_of_a_file() {
    let rule = |name: &str, control: &str| {
        format!("[[rule]]\nname='{name}'\nthen='allow'\ncontrol=['{control}']\n")
    };
    let also = "[control]\nalso=['deploy/']\n";
    let good = rule("a", ".env") + &rule("b", "outside") + &rule("c", "deploy/") + also;
    assert_eq!(set(&good).problems(), [""; 0]);
    let bad = rule("a", ".env") + &rule("a", ".evn");
    let problems = set(&bad).problems();
    assert_eq!(problems.len(), 2, "{problems:?}");
    assert_eq!(problems[0], "two rules are called \"a\"");
    assert!(problems[1].contains("\".evn\"") && problems[1].contains(".mcp.json"));
}

#[test]
fn what_the_host_has_not_seen_counts_as_the_worst() {
    let check = |operator: &str, workspace: &str, default: Verdict, expected: Verdict| {
        let failed = Effects::unverified("it hung");
        for effects in [None, Some(&failed)] {
            let judgement = judged(&rules(operator, workspace), effects, default);
            assert_eq!(
                judgement.verdict, expected,
                "{operator} {workspace} {default}"
            );
            assert_eq!(judgement.totals, None);
        }
    };
    let rule =
        |then: &str, more: &str| format!("[[rule]]\nname='r{then}'\nthen='{then}'\n{more}\n");
    check("", "", Allow, AskAtTerminal);
    check("", "", Refuse, Refuse);
    check(&rule("allow", ""), "", Allow, AskAtTerminal);
    check(&rule("allow", "paths = ['a']"), "", Allow, AskAtTerminal);
    check(&rule("refuse", "paths = ['a']"), "", Allow, Refuse);
    let seen = rule("allow", "tools = ['rename']\nunverified = true");
    check(&seen, "", Ask, Allow);
    let others = rule("allow", "tools = ['other']\nunverified = true");
    check(&others, "", Ask, AskAtTerminal);
    // What stands before it could have been about it.
    check(&(rule("ask", "paths = ['a']") + &seen), "", Allow, Ask);
    check(&(seen.clone() + &rule("refuse", "")), "", Allow, Allow);
    check(&seen, &rule("refuse", "paths = ['a']"), Allow, Refuse);
    check("", &seen, Allow, AskAtTerminal);
}

mod links;
mod thousand;
mod ways;
mod workspace;
