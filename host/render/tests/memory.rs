//! The memory that rendering takes, as the system counts it for this process.

use std::fs;

use airlock_render::Block;

/// The most resident memory that this process had so far, in bytes.
fn peak() -> usize {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|it| it.strip_prefix("VmHWM:"));
    let kib = line.and_then(|it| it.split_whitespace().next());
    kib.unwrap().parse::<usize>().unwrap() * 1024
}

#[test]
fn a_text_of_millions_of_lines_takes_a_few_times_its_size() {
    let text = "x\n".repeat(1_000_000);
    let before = peak();
    let shown = Block::new().named(airlock_render::Role::Plain, "it says:", &text, 2);
    let shown = Block::new().text(&text).block(shown).indented(2);
    let shown = shown.to_string();
    assert!(shown.ends_with("x"));
    let taken = peak() - before;
    assert!(
        taken < 20 * text.len(),
        "{} bytes, for {}",
        taken,
        text.len()
    );
}
