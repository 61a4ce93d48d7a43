//! The ways on which links lead to control files, and files that git names.

use airlock_model::effects::ChangeKind::{Created, Deleted, Modified};
use airlock_model::effects::{Change, Effects};
use airlock_rules::Verdict;
use airlock_rules::Verdict::{Allow, AskAtTerminal};

use crate::workspace::Workspace;
use crate::{change, judged_with, link, moved_directory, renamed, rules};

#[test]
fn a_change_of_anything_on_a_links_way_is_one_of_what_the_link_is_called() {
    let rules = rules("[[rule]]\nname = 'all'\nthen = 'allow'", "");
    let check = |objects: &[&str], changes: &[Change], expected: Verdict| {
        let workspace = Workspace::of(objects);
        let effects = Effects::verified(changes.to_vec());
        let judgement = judged_with(&rules, Some(&effects), Allow, &workspace);
        assert_eq!(judgement.verdict, expected, "{objects:?} {effects:?}");
    };
    let two = ["CLAUDE.md -> a/x.md", "a -> c", "c/x.md", "d/x.md"];
    check(&two, &[link("a", "d")], AskAtTerminal);
    check(&two, &[change(Deleted, "a")], AskAtTerminal);
    check(&two, &[renamed("a", "b")], AskAtTerminal);
    check(&two, &[change(Modified, "c/x.md")], AskAtTerminal);
    check(&two, &[change(Modified, "d/x.md")], Allow);
    check(
        &["CLAUDE.md -> a/x.md", "d/x.md"],
        &[link("a", "d")],
        AskAtTerminal,
    );
    check(
        &["CLAUDE.md -> x.md", "x.md", "y"],
        &[link("x.md", "y")],
        AskAtTerminal,
    );
    check(
        &[".claude -> cfg", "cfg/", "e/"],
        &[link("cfg", "e")],
        AskAtTerminal,
    );
    let hooks = [".git/hooks -> ../tools/hooks", "tools/hooks/x", "e/hooks/x"];
    check(
        &hooks,
        &[moved_directory("tools", "old"), link("tools", "e")],
        AskAtTerminal,
    );
    // Out of the workspace and back.
    for target in [
        "../project/docs/x.md",
        "/home/ann/project/docs/x.md",
        "/home/ann/../ann/project/docs/x.md",
        "/alias/docs/x.md",
        "../../../alias/docs/../docs/x.md",
        "l/docs/x.md",
    ] {
        let link = format!("CLAUDE.md -> {target}");
        let objects = [&*link, "l -> ../project", "docs/x.md", "docs/y.md"];
        check(&objects, &[change(Modified, "docs/x.md")], AskAtTerminal);
        check(&objects, &[change(Modified, "docs/y.md")], Allow);
    }
    let away = ["CLAUDE.md -> ../docs/x.md", "docs/x.md"];
    check(&away, &[change(Modified, "docs/x.md")], Allow);
}

#[test]
fn what_git_reads_and_runs_is_a_control_file_by_any_name() {
    let rules = rules("[[rule]]\nname = 'all'\nthen = 'allow'", "");
    let mut workspace = Workspace::of(["tools/hooks/x", "team.gitconfig", "l -> tools"]);
    let paths = ["tools/hooks", "team.gitconfig"];
    workspace.of_git.paths = paths.map(str::to_owned).into();
    let check = |change: Change, expected: Verdict| {
        let effects = Effects::verified(vec![change]);
        let judgement = judged_with(&rules, Some(&effects), Allow, &workspace);
        assert_eq!(judgement.verdict, expected, "{effects:?}");
    };
    check(change(Modified, "team.gitconfig"), AskAtTerminal);
    check(change(Created, "tools/hooks/new/deep"), AskAtTerminal);
    check(renamed("x", "tools/hooks"), AskAtTerminal);
    check(moved_directory("tools", "kept"), AskAtTerminal);
    check(change(Created, "tools/x"), Allow);
    check(change(Created, "tools/hooks-of-mine"), Allow);

    workspace.of_git.paths = [String::new()].into();
    let judge = |workspace: &Workspace| {
        let effects = Effects::verified(vec![change(Created, "a")]);
        judged_with(&rules, Some(&effects), Allow, workspace).verdict
    };
    assert_eq!(judge(&workspace), AskAtTerminal);
    workspace.of_git.paths.clear();
    assert_eq!(judge(&workspace), Allow);
    workspace.of_git.is_all = false;
    assert_eq!(judge(&workspace), AskAtTerminal);
}
