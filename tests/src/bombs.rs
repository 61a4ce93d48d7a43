//! Components that are small, valid, and dear to compile or to read; none of them is what a
//! compiler would make.

use std::fmt::Write;

use crate::wat;

/// A module's text that is not worth a component of the world: it exports nothing that a host would
/// call.
pub fn misfit(module: &str) -> Vec<u8> {
    ::wat::parse_str(format!("(component (core module {module}))")).expect("the component parses")
}

/// A component of the world with this beside what the world asks for. Its tools can't be asked for:
/// `definitions` traps.
pub fn fitting(extra: &str) -> Vec<u8> {
    wat::component(&wat::module("unreachable", extra))
}

/// A function of about so many bytes without a branch, all of whose values are there at one time.
pub fn straight(bytes: usize) -> String {
    // Five bytes or more to load each, and one to add it up.
    let count = bytes / 8;
    let mut text = "(func (param i32) (result i32) ".to_owned();
    for number in 0..count {
        let _ = write!(text, "local.get 0 i32.load offset={} ", 16_384 + number);
    }
    text + &"i32.add ".repeat(count - 1) + ")"
}

/// A function of about so many bytes, each `if` of which sets one of so many locals.
pub fn ifs(bytes: usize, locals: usize) -> String {
    let mut text = format!("(func (param i32) (local {})", "i32 ".repeat(locals));
    // Some eleven bytes each.
    for number in 0..bytes / 11 {
        let (from, to) = (1 + number % locals, 1 + number * 7 % locals);
        let _ = write!(text, " local.get {from} if local.get 0 local.set {to} end");
    }
    text + ")"
}

/// So many functions that do nothing.
pub fn functions(count: usize) -> String {
    "(func) ".repeat(count)
}

/// So many types, each another.
pub fn types(count: usize) -> String {
    let kinds = ["i32", "i64", "f32", "f64"];
    let mut text = String::new();
    for number in 0..count {
        let params = (0..10).map(|digit| kinds[number >> (2 * digit) & 3]);
        let params: Vec<&str> = params.collect();
        let _ = write!(text, "(type (func (param {}))) ", params.join(" "));
    }
    text
}

/// Blocks inside of each other.
pub fn blocks(depth: usize) -> String {
    format!("(func {} {})", "block ".repeat(depth), "end ".repeat(depth))
}

/// A jump table with so many places, of nearly two bytes each, to go to, all different.
pub fn jump_table(places: usize) -> String {
    let targets: Vec<String> = (0..places)
        .map(|place| (place % 1000).to_string())
        .collect();
    format!(
        "(func (param i32) {} local.get 0 br_table {} {})",
        "block ".repeat(1000),
        targets.join(" "),
        "end ".repeat(1000)
    )
}

/// So many exports of one function.
pub fn exports(count: usize) -> String {
    let mut text = "(func $f) ".to_owned();
    for number in 0..count {
        let _ = write!(text, "(export \"e{number}\" (func $f)) ");
    }
    text
}

/// So many segments of one byte, into one memory.
pub fn segments(count: usize) -> String {
    "(data \"a\") ".repeat(count)
}

/// Components inside of each other.
pub fn nested(depth: usize) -> Vec<u8> {
    const BEGINNING: &[u8] = b"\0asm\x0d\0\x01\0";
    const COMPONENT: u8 = 4;
    let mut component = BEGINNING.to_vec();
    for _ in 1..depth {
        let mut around = BEGINNING.to_vec();
        around.push(COMPONENT);
        let mut length = component.len();
        while length > 0x7f {
            around.push(length as u8 | 0x80);
            length >>= 7;
        }
        around.push(length as u8);
        around.append(&mut component);
        component = around;
    }
    component
}
