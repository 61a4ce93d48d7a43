//! Edits that found the wrong text, or none, or changed more than they should.

use super::{edited, edited_by, noted, replaced};

// anthropics/claude-code#9163
#[test]
fn a_file_with_tabs_is_edited_by_a_text_with_spaces() {
    let file = "func a() {\n\treturn 1\n}\n";
    assert_eq!(
        edited(file, "    return 1", "    return 2").unwrap(),
        "func a() {\n\treturn 2\n}\n"
    );
}

// anthropics/claude-code#26996
#[test]
fn new_lines_get_the_tabs_of_the_file() {
    let file = "func a() {\n\tif x {\n\t\treturn 1\n\t}\n}\n";
    let old = "    if x {\n        return 1\n    }";
    let new = "    if x {\n        log()\n        return 1\n    }";
    let expected = "func a() {\n\tif x {\n\t\tlog()\n\t\treturn 1\n\t}\n}\n";
    assert_eq!(edited(file, old, new).unwrap(), expected);
}

// anthropics/claude-code#18050
#[test]
fn a_tab_in_the_text_is_a_tab() {
    assert_eq!(edited("a\tb\n", "a\tb", "a\tc").unwrap(), "a\tc\n");
}

// anthropics/claude-code#7197
#[test]
fn white_space_at_the_ends_of_lines_is_overlooked_and_kept_elsewhere() {
    let file = "first line \n    \nthird line   \nfourth \n";
    let expected = "first line \n    \n3rd line\nfourth \n";
    assert_eq!(
        edited(file, "first line\n\nthird line", "first line\n\n3rd line").unwrap(),
        expected
    );
}

// anthropics/claude-code#29870
#[test]
fn a_space_finds_a_non_breaking_space_and_leaves_it() {
    let file = "the task list in\u{a0}current state\n";
    let expected = "the task list in\u{a0}current mood\n";
    assert_eq!(
        edited(file, "list in current state", "list in current mood").unwrap(),
        expected
    );
}

// anthropics/claude-code#26141
#[test]
fn typographic_quotes_stay_as_they_are() {
    let file = "She said, “Hello.”\n\nHe replied, “Goodbye.”\n";
    let new = edited(file, "She said, \"Hello.\"", "She said, \"Hi there.\"").unwrap();
    assert_eq!(new, "She said, “Hi there.”\n\nHe replied, “Goodbye.”\n");
    assert_eq!(edited("a\n", "a", "“b” – c").unwrap(), "“b” – c\n");
    assert_eq!(
        replaced("ü‘x’–‘x’é\n", "'x'", "'y'").unwrap(),
        "ü‘y’–‘y’é\n"
    );
}

// anthropics/claude-code#51986
#[test]
fn replace_all_replaces_each_and_nothing_beside_it() {
    let file = "**phrase** **[x]**\n**[x]** end\n\n[x]\n";
    assert_eq!(
        replaced(file, "[x]", "[y]").unwrap(),
        file.replace("[x]", "[y]")
    );
    assert_eq!(replaced("aaa", "aa", "b").unwrap(), "ba");
}

#[test]
fn more_text_than_a_plan_can_have_is_refused() {
    let refused = replaced(&"a".repeat(1000), "a", &"b".repeat(4000)).unwrap_err();
    assert!(refused.starts_with("The change is too large"), "{refused}");
    assert!(replaced(&"a\n".repeat(600_000), "a", "b").is_err());
    assert_eq!(
        replaced(&"a\n".repeat(2000), "a", "b").unwrap(),
        "b\n".repeat(2000)
    );
}

// google-gemini/gemini-cli#7550
#[test]
fn a_dollar_sign_and_a_quote_are_only_that() {
    let new = edited("match: x\nend\n", "x", "'^[sv]d[a-z]$')").unwrap();
    assert_eq!(new, "match: '^[sv]d[a-z]$')\nend\n");
}

// google-gemini/gemini-cli#5973
#[test]
fn two_dollar_signs_and_other_templates_stay() {
    assert_eq!(
        edited("$$('a'); x\n", "x", "$$('b') $& $1 $` \\1 \\n").unwrap(),
        "$$('a'); $$('b') $& $1 $` \\1 \\n\n"
    );
}

// google-gemini/gemini-cli#4576
#[test]
fn an_edit_that_was_made_before_is_told() {
    let refused = edited("let x = 2;\n", "let x = 1;", "let x = 2;").unwrap_err();
    assert!(refused.contains("`new_text` is there already"), "{refused}");
}

// google-gemini/gemini-cli#2349
#[test]
fn a_text_that_occurs_twice_is_refused_with_its_lines() {
    assert_eq!(
        edited("a {\n  x\n}\nb {\n  x\n}\n", "  x\n}", "  y\n}").unwrap_err(),
        "`old_text` occurs 2 times in `a`, at lines 2, 5. Add text around it, so that it is unique, or set `replace_all`."
    );
}

// OpenHands/software-agent-sdk#1067
#[test]
fn a_part_of_a_line_that_occurs_twice_is_refused_too() {
    assert!(edited("raise Error(a)\nraise Error(b)\n", "raise Error", "x").is_err());
    let overlapping = edited("aXaXa", "aXa", "b").unwrap_err();
    assert!(overlapping.contains("occurs 2 times"), "{overlapping}");
}

// anomalyco/opencode#15515
#[test]
fn the_second_of_two_equal_lines_is_removed_with_the_first() {
    let file = "import 'a';\nimport 'io';\nimport 'io';\n";
    assert!(edited(file, "import 'io';\n", "").is_err());
    let new = edited(file, "import 'io';\nimport 'io';\n", "import 'io';\n").unwrap();
    assert_eq!(new, "import 'a';\nimport 'io';\n");
}

// cline/cline#4067
#[test]
fn edits_may_be_in_any_order() {
    assert_eq!(
        edited_by("a\nb\nc\n", &[("c", "3"), ("a", "1")]).unwrap(),
        "1\nb\n3\n"
    );
}

// cline/cline#9555
#[test]
fn if_one_edit_has_no_place_none_is_made() {
    let refused = edited_by("a\nb\n", &[("a", "1"), ("nowhere", "2")]).unwrap_err();
    assert!(
        refused.starts_with("Edit 2 of 2: `old_text` isn't in `a`."),
        "{refused}"
    );
}

// cline/cline#11439
#[test]
fn a_text_may_end_within_a_line() {
    let file = "    f = l.f;\n}\n\n    // Build spheres with time\n";
    let new = edited(
        file,
        "}\n\n    // Build spheres",
        "}\n\n    // Make spheres",
    )
    .unwrap();
    assert_eq!(new, "    f = l.f;\n}\n\n    // Make spheres with time\n");
}

// cline/cline#11274
#[test]
fn no_blank_line_is_added() {
    let file = "try:\n    return x\nexcept E:\n    pass\n";
    let new = edited(file, "    return x\n", "    return y\n").unwrap();
    assert_eq!(new, "try:\n    return y\nexcept E:\n    pass\n");
}

// dyad-sh/dyad#4338
#[test]
fn newlines_that_only_end_the_texts_add_no_line() {
    assert_eq!(
        edited("\ta()\n\tb()", "    b()\n", "    c()\n").unwrap(),
        "\ta()\n\tc()"
    );
}

// cline/cline#5069
#[test]
fn another_number_of_blank_lines_is_refused_with_what_is_there() {
    let refused = edited("a\n\n\nb\n", "a\n\nb", "c").unwrap_err();
    let expected = "`old_text` isn't in `a`. The closest lines are 1–3:\na\n\n\n\
                    The first difference is in line 3, where this was expected:\nb";
    assert_eq!(refused, expected);
}

// RooCodeInc/Roo-Code#8020, RooCodeInc/Roo-Code#3013
#[test]
fn line_numbers_in_the_text_are_told() {
    for old in ["1 | a\n2 | b", "  1\ta\n  2\tb", "1→a"] {
        let refused = edited("a\nb\n", old, "c").unwrap_err();
        assert!(refused.contains("begin with line numbers"), "{refused}");
    }
}

// RooCodeInc/Roo-Code#1559
#[test]
fn each_of_several_edits_keeps_the_indentation() {
    let file = "class A {\n\tvoid a() {\n\t\tx();\n\t}\n\tvoid b() {\n\t\ty();\n\t}\n}\n";
    let edits = [
        ("    x();", "    x();\n    x2();"),
        ("        y();", "        y2();"),
    ];
    let expected = file
        .replace("x();", "x();\n\t\tx2();")
        .replace("y();", "y2();");
    assert_eq!(edited_by(file, &edits).unwrap(), expected);
}

// RooCodeInc/Roo-Code#90
#[test]
fn lines_after_a_single_one_are_indented_like_it() {
    let file = "if a:\n        start()\n";
    let new = edited(
        file,
        "    start() ",
        "    start()\n    go()\n    if b:\n        end()",
    )
    .unwrap();
    let expected = "if a:\n        start()\n        go()\n        if b:\n            end()\n";
    assert_eq!(new, expected);
}

// anomalyco/opencode#25953, anomalyco/opencode#24549, anomalyco/opencode#29573
#[test]
fn an_exact_text_keeps_its_indentation() {
    let file = "def f():\n    try:\n        r = g()\n        return r\n    except E as e:\n        log(e)\n";
    let old = "        r = g()\n        return r";
    let new = "        r = g()\n        check(r)\n        return r";
    assert_eq!(edited(file, old, new).unwrap(), file.replace(old, new));
}

// anomalyco/opencode#44999, anomalyco/opencode#45491
#[test]
fn a_text_that_was_not_found_exactly_is_told() {
    let notes = |file, old| noted(file, old, "x").unwrap().1;
    assert_eq!(notes("   a\n", "   a"), [""; 0]);
    assert_eq!(
        notes("   a  b\n   c\n", "    a  b\n   c"),
        ["`old_text` was found in spite of different indentation."]
    );
    assert_eq!(
        notes("‘a’\n", "'a'"),
        ["`old_text` was found in spite of different typographic characters."]
    );
    let ends = "`old_text` was found in spite of different white space at the ends of lines.";
    assert_eq!(notes("a \nb\n", "a\nb"), [ends]);
}

// Gitlawb/zero#963
#[test]
fn lines_that_differ_in_between_are_not_replaced() {
    let file = "func a() {\n\tx := 1\n\ty := 2\n\tz := 3\n\treturn\n}\n";
    let refused = edited(file, &file.replace("y := 2", "y := 99"), "").unwrap_err();
    assert!(
        refused.contains("The first difference is in line 3"),
        "{refused}"
    );
}

// zhayujie/CowAgent#2942
#[test]
fn lines_that_are_not_edited_keep_their_white_space() {
    let file = "def f():\n    x =  1 \n\t y = 2\n    return x\n";
    let new = edited(file, "  x =  1", "  x = 100").unwrap();
    assert_eq!(new, "def f():\n    x = 100 \n\t y = 2\n    return x\n");
    assert!(edited(file, "    x = 1", "    x = 100").is_err());
}

// CodebuffAI/freebuff#1291
#[test]
fn white_space_alone_is_only_found_exactly() {
    for old in [" ", "\n\n\n", "\u{a0}"] {
        assert!(edited("a\tb\nc\td\n", old, "X").is_err(), "{old:?}");
    }
    assert_eq!(edited("a b\n", " ", "_").unwrap(), "a_b\n");
}

// NousResearch/hermes-agent#52502
#[test]
fn a_space_after_the_text_is_not_taken() {
    assert_eq!(
        edited("foo\u{a0}bar baz\n", "foo bar", "XY").unwrap(),
        "XY baz\n"
    );
}

// OpenHands/openhands-aci#155
#[test]
fn an_edit_that_changes_nothing_is_refused() {
    let refused = edited("a\n", "a", "a").unwrap_err();
    assert_eq!(
        refused,
        "`old_text` and `new_text` are the same, so nothing would change."
    );
}

// OpenHands/openhands-aci#155
#[test]
fn an_empty_text_is_refused() {
    let refused = edited("a\n", "", "b").unwrap_err();
    assert!(refused.starts_with("`old_text` is empty."), "{refused}");
}

// modelcontextprotocol/servers#4501
#[test]
fn the_closest_lines_are_shown() {
    let file = "fn a() {\n    one();\n    two();\n}\n";
    let refused = edited(file, "    one();\n    three();", "").unwrap_err();
    assert!(
        refused.contains("The closest lines are 2–3:\n    one();\n    two();"),
        "{refused}"
    );
}

// Aider-AI/aider#2008
#[test]
fn the_first_line_is_replaced_like_others() {
    assert_eq!(
        edited("# v: 1\ncode\n", "# v: 1\n", "# v: 2\n").unwrap(),
        "# v: 2\ncode\n"
    );
}
