//! What a path is by all names that lead to it.

use airlock_model::effects::{Change, ChangeKind, Effects};
use airlock_rules::Verdict::{self, Allow, Ask, AskAtTerminal, Refuse};

use super::{Workspace, change, judged_with, link, moved_directory, renamed, rules};

const ALL: &str = "[[rule]]\nname = 'all'\nthen = 'allow'";

fn created(path: &str) -> Change {
    change(ChangeKind::Created, path)
}

fn modified(path: &str) -> Change {
    change(ChangeKind::Modified, path)
}

#[track_caller]
fn check_with(operator: &str, workspace: &Workspace, changes: Vec<Change>, expected: Verdict) {
    let effects = Effects::verified(changes);
    let judgement = judged_with(&rules(operator, ""), Some(&effects), Allow, workspace);
    assert_eq!(judgement.verdict, expected, "{effects:?}\n{judgement:?}");
}

#[track_caller]
fn check(workspace: &[&str], changes: Vec<Change>, expected: Verdict) {
    check_with(ALL, &Workspace::of(workspace), changes, expected);
}

#[test]
fn what_makes_a_directory_a_git_repository_is_a_control_file() {
    check(&["notes/a.md"], vec![created("notes/HEAD")], Allow);
    let whole = ["notes/HEAD", "notes/config", "notes/objects/x"].map(created);
    check(&["notes/a.md"], whole.to_vec(), AskAtTerminal);
    // Some of it is there already.
    check(
        &["notes/HEAD"],
        vec![created("notes/config")],
        AskAtTerminal,
    );
    check(
        &["notes/objects/"],
        vec![created("notes/HEAD")],
        AskAtTerminal,
    );
    check(&["HEAD"], vec![created("refs/heads/main")], AskAtTerminal);
    check(
        &["notes/HEAD", "notes/refs/"],
        vec![modified("notes/hooks/x")],
        AskAtTerminal,
    );
    // It comes from elsewhere.
    check(
        &["a/x", "b/objects/"],
        vec![renamed("a/x", "b/HEAD")],
        AskAtTerminal,
    );
    check(
        &["a/HEAD", "b/x"],
        vec![moved_directory("b", "a/objects")],
        AskAtTerminal,
    );
    // It is moved away meanwhile.
    check(
        &["a/HEAD"],
        vec![renamed("a/HEAD", "b"), created("a/config")],
        Allow,
    );
}

#[test]
fn a_link_is_what_it_is_called_together_with_what_is_below_it() {
    let flow = || created("g/workflows/evil.yml");
    check(&["g/"], vec![flow()], Allow);
    check(&["g/"], vec![flow(), link(".github", "g")], AskAtTerminal);
    check(
        &["g/workflows/a.yml"],
        vec![link(".github", "g")],
        AskAtTerminal,
    );
    check(&["g/a"], vec![link(".github", "g")], Allow);
    // Through a link that was there before.
    check(
        &["ci/", ".github -> ci"],
        vec![created("ci/workflows/a.yml")],
        AskAtTerminal,
    );
    check(
        &["docs/ai.md", "CLAUDE.md -> docs/ai.md"],
        vec![modified("docs/ai.md")],
        AskAtTerminal,
    );
    // Through two.
    check(
        &["w/", "g/workflows -> ../w", ".github -> g"],
        vec![created("w/a.yml")],
        AskAtTerminal,
    );
    check(
        &["w/", "g/", ".github -> /home/ann/project/g"],
        vec![created("g/workflows/a.yml")],
        AskAtTerminal,
    );
    // The link is made of one that is moved.
    check(
        &["g/workflows/a.yml", "x -> g"],
        vec![renamed_link("x", ".github")],
        AskAtTerminal,
    );
    check(
        &["g/workflows/a.yml", "d/x -> ../g"],
        vec![moved_directory("d", "e")],
        Allow,
    );
}

fn renamed_link(from: &str, to: &str) -> Change {
    let mut change = link(to, "g");
    change.kind = ChangeKind::Renamed;
    change.from = Some(from.to_owned());
    change
}

#[test]
fn a_link_that_is_moved_is_judged_by_where_it_leads_from_there() {
    let workspace = ["a/b/c/l -> ../../../etc", "etc/"];
    check(&workspace, vec![moved_directory("a/b/c", "x/y/z")], Allow);
    check(
        &workspace,
        vec![moved_directory("a/b/c", "c")],
        AskAtTerminal,
    );
    let git = ["a/l -> ../x/.git", ".git/config"];
    check(&git, vec![moved_directory("a", "a2")], AskAtTerminal);
    // By way of another link, `..` is of where that one leads.
    check(
        &["s -> a/b", "a/b/"],
        vec![link("l", "s/../../../x")],
        AskAtTerminal,
    );
    check(&["s -> a/b", "a/b/"], vec![link("l", "s/../x")], Allow);
}

#[test]
fn a_rule_that_refuses_a_path_is_about_every_name_of_it() {
    let refuse = "[[rule]]\nname = 'no'\npaths = ['deploy/']\nthen = 'refuse'\n";
    let both = format!("{refuse}{ALL}");
    let workspace = Workspace::of(["deploy -> infra", "infra/a"]);
    check_with(&both, &workspace, vec![modified("infra/a")], Refuse);
    check_with(&both, &workspace, vec![modified("other/a")], Allow);
    // A rule that lets through what is there needs no rule about each link to it.
    let infra = "[[rule]]\nname = 'infra'\npaths = ['infra/']\nthen = 'allow'";
    check_with(infra, &workspace, vec![modified("infra/a")], Allow);
}

#[test]
fn links_that_lead_to_each_other_end() {
    let packages = (0..40).flat_map(|one| {
        let links = (0..40).filter(move |other| *other != one);
        links.map(move |other| format!("p{one}/node_modules/p{other} -> ../../p{other}"))
    });
    let files = (0..40).map(|one| format!("p{one}/a.js"));
    let round = ["up -> .", "p1/up -> ..", "loop -> loop"].map(str::to_owned);
    let workspace = Workspace::of(packages.chain(files).chain(round));
    check_with(ALL, &workspace, vec![modified("p1/a.js")], Allow);
    check_with(
        ALL,
        &workspace,
        vec![modified("p1/.git/config")],
        AskAtTerminal,
    );
}

#[test]
fn where_the_workspace_lies_and_what_nobody_saw_counts() {
    let mut workspace = Workspace::of(["a"]);
    workspace.above = "project/.github";
    check_with(
        ALL,
        &workspace,
        vec![created("workflows/a.yml")],
        AskAtTerminal,
    );
    check_with(ALL, &workspace, vec![created("ISSUE_TEMPLATE/a.md")], Allow);
    let mut workspace = Workspace::of(["a"]);
    workspace.links.is_all = false;
    check_with(ALL, &workspace, vec![created("b")], AskAtTerminal);
}

#[test]
fn a_rule_can_be_about_what_builds_run() {
    let builds = "[[rule]]\nname = 'builds'\nbuilds = true\nthen = 'ask-at-terminal'\n";
    let both = format!("{builds}{ALL}");
    let workspace = Workspace::of(["a"]);
    check_with(
        &both,
        &workspace,
        vec![modified("x/package.json")],
        AskAtTerminal,
    );
    check_with(&both, &workspace, vec![modified("x/a.js")], Allow);
    check_with(ALL, &workspace, vec![modified("Makefile")], Allow);
}

#[test]
fn a_rename_with_other_contents_is_a_modification_too() {
    let rule = |kinds: &str, then: &str| {
        format!("[[rule]]\nname = 'kinds'\nkinds = [{kinds}]\nthen = '{then}'\n")
    };
    let rewritten = || {
        let mut change = renamed("a", "b");
        change.after.as_mut().unwrap().size += 1;
        vec![change]
    };
    let check = |kinds: &str, then: &str, changes: Vec<Change>, expected: Verdict| {
        let ask = "[[rule]]\nname = 'else'\nthen = 'ask'";
        let rules = format!("{}{ask}", rule(kinds, then));
        check_with(&rules, &Workspace::of(["a"]), changes, expected);
    };
    check("'renamed'", "allow", vec![renamed("a", "b")], Allow);
    check("'renamed'", "allow", rewritten(), Ask);
    check("'renamed', 'modified'", "allow", rewritten(), Allow);
    check("'modified'", "refuse", rewritten(), Refuse);
    check("'renamed'", "refuse", rewritten(), Refuse);
}
