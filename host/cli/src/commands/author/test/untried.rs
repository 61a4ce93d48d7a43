//! The checks that were not tried, for people.

use airlock_render::{Block, Line, Role};
use airlock_test_kit::{Untried, UntriedKind};

/// Returns an empty block if everything was tried. `cases` is the place of an author's cases.
pub fn block(untried: &[Untried], strict: bool, cases: &str) -> Block {
    if untried.is_empty() {
        return Block::new();
    }
    let role = if strict { Role::Error } else { Role::Note };
    let heading = Line::new().with_role(role, "UNTRIED");
    let heading = heading.with("  no try could look at this, so nothing above speaks for it");
    let mut block = Block::new().line("").line(heading.hanging(9));
    for it in untried {
        block = block.block(of(it));
    }
    let mut lines = Vec::new();
    if untried.iter().any(|it| it.case.is_some()) {
        lines.push(format!(
            "A case goes into {cases}; `airlock test --help` has the format."
        ));
    }
    if !strict {
        lines.push("With --strict, an untried property fails the test.".to_owned());
    }
    lines
        .into_iter()
        .map(|line| Line::from(line).indented(2).hanging(2))
        .fold(block, Block::line)
}

fn of(untried: &Untried) -> Block {
    // The host rejects tools without a name, too.
    let name = if untried.tool.is_empty() {
        Line::from("A tool without a name")
    } else {
        Line::from("Tool ").with_quoted(Role::Title, &*untried.tool)
    };
    let line = name.with(format!(": {}", untried.why));
    let mut block = Block::from(line.indented(2).hanging(2));
    let placed = |line: Line| line.indented(4).hanging(13);
    if let Some(told) = &untried.told {
        let label = match untried.kind {
            UntriedKind::LeftOut => "reason       ",
            _ => "most often   ",
        };
        block = block.line(placed(Line::from(label).with_quoted(Role::Plain, told)));
    }
    if !untried.properties.is_empty() {
        let names = untried.properties.join(", ");
        block = block.line(placed(Line::from(format!("not tried    {names}"))));
    }
    let label = Line::new().with_role(Role::Hint, "what to do");
    block = block.line(placed(label.with(format!("   {}", untried.advice))));
    let case = untried.case.iter().flat_map(|case| case.lines());
    case.map(|line| Line::from(line).indented(17).quoted())
        .fold(block, Block::line)
}
