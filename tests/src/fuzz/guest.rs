//! What a guest gives its host: definitions and results.
//!
//! One component, whose functions return what lies at fixed places of its memory; what lies there
//! is the fuzzer's. Definitions are in the component's bytes, and each input of them is compiled;
//! results come with the params, so that one plugin serves all inputs.

use std::sync::LazyLock;
use std::time::Duration;

use airlock_host::content::CallOutcome;
use airlock_host::load::LoadError;
use airlock_host::{Engine, Limits, Plugin, Session};
use airlock_render::{Block, Renderer};
use serde_json::json;

use super::{Bytes, block_on};
use crate::wat;

/// Bytes of each of the two places.
const PLACE: usize = 16 << 10;

/// Where `definitions` points to.
const DEFINITIONS: u32 = 65_536;

/// Where `execute` points to.
const RESULT: u32 = DEFINITIONS + PLACE as u32;

/// Where the guest is given its arguments, one behind the other.
const ARGUMENTS: u32 = 131_072;

/// What stands in the params before the digits of a result, and behind.
const AROUND: [&str; 2] = ["{\"result\":\"", "\"}"];

/// Writes what the params say, two hexadecimal digits for each byte, where the result is.
fn execute() -> String {
    let digit = |at: &str| {
        format!(
            "(local.set $digit (i32.load8_u {at}))
            (i32.add (i32.and (local.get $digit) (i32.const 15))
                (i32.mul (i32.shr_u (local.get $digit) (i32.const 6)) (i32.const 9)))"
        )
    };
    format!(
        "(result i32) (local $to i32) (local $from i32) (local $digit i32)
            (local.set $from (i32.add (local.get 4) (i32.const {before})))
            (local.set $to (i32.const {RESULT}))
            (loop $more
                (i32.store8 (local.get $to) (i32.or (i32.shl {high} (i32.const 4)) {low}))
                (local.set $from (i32.add (local.get $from) (i32.const 2)))
                (local.set $to (i32.add (local.get $to) (i32.const 1)))
                (br_if $more (i32.lt_u (local.get $to) (i32.const {end}))))
            i32.const {RESULT}",
        before = AROUND[0].len(),
        high = block(&digit("(local.get $from)")),
        low = block(&digit("offset=1 (local.get $from)")),
        end = RESULT + PLACE as u32,
    )
}

fn block(instructions: &str) -> String {
    format!("(block (result i32) {instructions})")
}

/// The component, with the place of its definitions found by what fills it.
struct Template {
    component: Vec<u8>,
    definitions: usize,
}

static TEMPLATE: LazyLock<Template> = LazyLock::new(|| {
    let data = format!(
        "(global $next (mut i32) (i32.const {ARGUMENTS}))
        (data (i32.const {DEFINITIONS}) \"{}\")",
        "D".repeat(PLACE)
    );
    // An instance has one call, so that nothing is ever freed.
    let allocate = "(param i32 i32 i32 i32) (result i32) global.get $next
        (global.set $next (i32.add (global.get $next) (local.get 3)))";
    let module = wat::module(&format!("i32.const {DEFINITIONS}"), &data)
        .replacen("(result i32) unreachable", &execute(), 1)
        .replace("(param i32 i32 i32 i32) (result i32) unreachable", allocate)
        .replace("(export \"memory\") 1)", "(export \"memory\") 4)");
    let component = wat::component(&module);
    let filled = vec![b'D'; PLACE];
    let found = component.windows(PLACE).position(|window| window == filled);
    Template {
        definitions: found.expect("the data is as it was written"),
        component,
    }
});

/// What lies at a place: values are at its beginning, and what they point to behind.
struct MemoryRegion {
    base: u32,
    bytes: Vec<u8>,
    end: usize,
}

impl MemoryRegion {
    /// With room for values of so many bytes.
    fn new(base: u32, values: usize) -> Self {
        let bytes = vec![0; PLACE];
        let end = values;
        Self { base, bytes, end }
    }

    fn number(&mut self, at: usize, number: u32) {
        self.bytes[at..at + 4].copy_from_slice(&number.to_le_bytes());
    }

    /// Text, or what is meant to be; what doesn't fit is cut.
    fn text(&mut self, at: usize, text: &[u8]) {
        let length = text.len().min(PLACE - self.end);
        self.bytes[self.end..self.end + length].copy_from_slice(&text[..length]);
        self.number(at, self.base + self.end as u32);
        self.number(at + 4, length as u32);
        self.end += length;
    }
}

/// A definition has so many bytes: four texts, an optional one, and flags.
const DEFINITION: usize = 48;

fn one_definition(
    region: &mut MemoryRegion,
    at: usize,
    texts: [&[u8]; 4],
    output: Option<&[u8]>,
    flags: u8,
) {
    for (number, text) in texts.into_iter().enumerate() {
        region.text(at + 8 * number, text);
    }
    if let Some(output) = output {
        region.bytes[at + 32] = 1;
        region.text(at + 36, output);
    }
    region.bytes[at + 44] = flags;
}

fn load(definitions: &[u8]) -> Result<Plugin, LoadError> {
    static ENGINE: LazyLock<Engine> = LazyLock::new(|| {
        let limits = Limits::default().with_call_time(Duration::from_secs(5));
        let engine = Engine::builder().limits(limits).live_instances(8);
        engine.build().expect("an engine")
    });
    let template = &*TEMPLATE;
    let mut component = template.component.clone();
    component[template.definitions..][..definitions.len()].copy_from_slice(definitions);
    block_on(Plugin::from_bytes(&ENGINE, "fuzz", component))
}

/// Definitions with any texts, and now and then with pointers that lead anywhere.
pub fn definitions(bytes: &[u8]) {
    let mut bytes = Bytes(bytes);
    let shape = bytes.byte();
    let count = usize::from(shape % 4);
    let mut region = MemoryRegion::new(DEFINITIONS, 8 + 4 * DEFINITION);
    region.number(0, DEFINITIONS + 8);
    region.number(4, count as u32);
    for number in 0..count {
        let texts = [bytes.some(1), bytes.some(1), bytes.some(8), bytes.some(16)];
        let flags = bytes.byte();
        let output = (flags & 0x80 != 0).then(|| bytes.some(16));
        one_definition(&mut region, 8 + number * DEFINITION, texts, output, flags);
    }
    if shape & 0xc0 == 0xc0 {
        let values = bytes.rest();
        let length = values.len().min(8 + 4 * DEFINITION);
        region.bytes[..length].copy_from_slice(&values[..length]);
    }
    match load(&region.bytes) {
        Ok(plugin) => {
            for tool in plugin.tools() {
                assert!(!tool.name.is_empty() && tool.name.len() <= 64, "{tool:?}");
                assert_ne!(tool.name, "resolve");
                assert!(!tool.label.contains('\n'), "{tool:?}");
            }
        }
        Err(error) => assert!(
            ["no-definitions", "no-tools"].contains(&error.kind()),
            "{error}"
        ),
    }
}

/// A result of any shape, and what people are shown of it.
pub fn output(bytes: &[u8]) {
    try_output(bytes, |outcome| {
        let block = Block::call(outcome);
        super::rendering::check(&Renderer::plain().width(40).render(&block));
    });
}

fn try_output(bytes: &[u8], check: impl FnOnce(&CallOutcome)) {
    /// With one tool `t`, which takes any object.
    static PLUGIN: LazyLock<Plugin> = LazyLock::new(|| {
        let mut region = MemoryRegion::new(DEFINITIONS, 8 + DEFINITION);
        region.number(0, DEFINITIONS + 8);
        region.number(4, 1);
        let texts: [&[u8]; 4] = [b"t", b"T", b"what it does", br#"{"type":"object"}"#];
        one_definition(&mut region, 8, texts, None, 0);
        load(&region.bytes).expect("a tool")
    });
    let mut bytes = Bytes(bytes);
    let shape = bytes.byte();
    let mut result = match shape & 1 {
        0 => result(&mut bytes),
        // Whatever lies there.
        _ => bytes.rest().to_vec(),
    };
    result.resize(PLACE, 0);
    let digits: String = result.iter().map(|byte| format!("{byte:02x}")).collect();
    let params = json!({"result": digits});
    debug_assert_eq!(
        params.to_string(),
        format!("{}{digits}{}", AROUND[0], AROUND[1])
    );
    let session = Session::builder().model_decides().bind(&*PLUGIN).open();
    match block_on(session.expect("a session").call("t", &params)) {
        Ok(outcome) => check(&outcome),
        Err(error) => assert_ne!(error.kind(), "host", "{error}"),
    }
}

/// A result as it should be, but for its texts.
fn result(bytes: &mut Bytes<'_>) -> Vec<u8> {
    const CONTENT: usize = 32;
    let shape = bytes.byte();
    let mut region = MemoryRegion::new(RESULT, 24 + 3 * CONTENT);
    if shape & 0x80 != 0 {
        region.bytes[0] = 1;
        region.bytes[4] = shape % 4;
        region.text(8, bytes.some(16));
        return region.bytes;
    }
    let count = usize::from(shape % 4);
    region.number(4, RESULT + 24);
    region.number(8, count as u32);
    for number in 0..count {
        let at = 24 + number * CONTENT;
        let kind = bytes.byte() % 4;
        region.bytes[at] = kind;
        region.text(at + 4, bytes.some(8));
        if kind > 0 {
            region.text(at + 12, bytes.some(1));
        }
        if kind == 2 && bytes.byte() & 1 == 1 {
            region.bytes[at + 20] = 1;
            region.text(at + 24, bytes.some(1));
        }
    }
    if shape & 0x40 != 0 {
        region.bytes[12] = 1;
        region.text(16, bytes.some(16));
    }
    region.bytes
}

pub fn seeds() -> Vec<Vec<u8>> {
    let mut tools = vec![2];
    for name in [b"a", b"b"] {
        tools.extend([1, name[0], 1, b'L', 1]);
        tools.extend(b"describe");
        tools.push(2);
        tools.extend(br#"{"type":"object", "properties":{}}"#.iter().take(32));
        tools.push(0);
    }
    let mut result = vec![0, 0x41, 0, 2];
    result.extend(b"text\x1b[31m\xe2\x80\xae---+++ ");
    result.extend(b"\x02{\"diff\":\"--- a\\n+++ b\\n@@ -1 +1 @@\"");
    vec![tools, result]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_params_say_is_the_result() {
        // One content, a text; and what has another shape is nothing that the host could take.
        for (input, expected) in [
            (&b"\x00\x01\x00\x01hi there"[..], Some("hi there")),
            (
                b"\x01\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff",
                None,
            ),
        ] {
            let told = std::cell::RefCell::new(None);
            try_output(input, |outcome| {
                *told.borrow_mut() = Some(format!("{:?}", outcome.content));
            });
            let told = told.into_inner();
            assert_eq!(told.is_some(), expected.is_some(), "{told:?}");
            if let (Some(told), Some(expected)) = (told, expected) {
                assert!(told.contains(expected), "{told}");
            }
        }
    }
}
