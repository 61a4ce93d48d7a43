//! What a guest gives its host: definitions, schemas, results.
//!
//! One component, whose functions return what lies at fixed places of its memory; what lies there
//! is the fuzzer's.

use std::sync::LazyLock;
use std::time::Duration;

use airlock_host::{CallOutcome, Engine, Error, Limits, LoadError, Plugin, Session};
use airlock_render::{Block, Renderer};
use serde_json::{Value, json};

use super::{Bytes, block_on};
use crate::wat;

/// Bytes of each of the two places.
const PLACE: usize = 16 << 10;

/// Where `definitions` points to.
const DEFINITIONS: u32 = 65_536;

/// Where `execute` points to.
const RESULT: u32 = DEFINITIONS + PLACE as u32;

/// The component, with its places found by what fills them.
struct Template {
    component: Vec<u8>,
    definitions: usize,
    result: usize,
}

static TEMPLATE: LazyLock<Template> = LazyLock::new(|| {
    let data = format!(
        "(data (i32.const {DEFINITIONS}) \"{}\") (data (i32.const {RESULT}) \"{}\")",
        "D".repeat(PLACE),
        "R".repeat(PLACE)
    );
    let module = wat::module(&format!("i32.const {DEFINITIONS}"), &data)
        .replacen(
            "(result i32) unreachable",
            &format!("(result i32) i32.const {RESULT}"),
            1,
        )
        // Params are put there; none are as long as that.
        .replace(
            "(param i32 i32 i32 i32) (result i32) unreachable",
            "(param i32 i32 i32 i32) (result i32) i32.const 131072",
        )
        .replace("(export \"memory\") 1)", "(export \"memory\") 4)");
    let component = wat::component(&module);
    let find = |byte: u8| {
        let place = vec![byte; PLACE];
        let found = component.windows(PLACE).position(|window| window == place);
        found.expect("the data is as it was written")
    };
    Template {
        definitions: find(b'D'),
        result: find(b'R'),
        component,
    }
});

/// What lies at a place: values are at its beginning, and what they point to behind.
struct Place {
    base: u32,
    bytes: Vec<u8>,
    end: usize,
}

impl Place {
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
    place: &mut Place,
    at: usize,
    texts: [&[u8]; 4],
    output: Option<&[u8]>,
    flags: u8,
) {
    for (number, text) in texts.into_iter().enumerate() {
        place.text(at + 8 * number, text);
    }
    if let Some(output) = output {
        place.bytes[at + 32] = 1;
        place.text(at + 36, output);
    }
    place.bytes[at + 44] = flags;
}

/// A plugin with a tool `t` that takes these params.
fn tool(parameters: &[u8], output: Option<&[u8]>) -> Vec<u8> {
    let mut place = Place::new(DEFINITIONS, 8 + DEFINITION);
    place.number(0, DEFINITIONS + 8);
    place.number(4, 1);
    let texts: [&[u8]; 4] = [b"t", b"T", b"what it does", parameters];
    one_definition(&mut place, 8, texts, output, 0);
    place.bytes
}

fn load(definitions: &[u8], result: &[u8]) -> Result<Plugin, LoadError> {
    static ENGINE: LazyLock<Engine> = LazyLock::new(|| {
        let limits = Limits::default().with_call_time(Duration::from_secs(5));
        let engine = Engine::builder().limits(limits).live_instances(8);
        engine.build().expect("an engine")
    });
    let template = &*TEMPLATE;
    let mut component = template.component.clone();
    component[template.definitions..][..definitions.len()].copy_from_slice(definitions);
    component[template.result..][..result.len()].copy_from_slice(result);
    block_on(Plugin::from_bytes(&ENGINE, "fuzz", component))
}

fn call(plugin: &Plugin, params: &Value) -> Result<CallOutcome, Error> {
    let session = Session::builder().bind(plugin).open();
    block_on(session.expect("a session").call("t", params))
}

/// Definitions with any texts, and now and then with pointers that lead anywhere.
pub fn definitions(bytes: &[u8]) {
    let mut bytes = Bytes(bytes);
    let shape = bytes.byte();
    let count = usize::from(shape % 4);
    let mut place = Place::new(DEFINITIONS, 8 + 4 * DEFINITION);
    place.number(0, DEFINITIONS + 8);
    place.number(4, count as u32);
    for number in 0..count {
        let texts = [bytes.some(1), bytes.some(1), bytes.some(8), bytes.some(16)];
        let flags = bytes.byte();
        let output = (flags & 0x80 != 0).then(|| bytes.some(16));
        one_definition(&mut place, 8 + number * DEFINITION, texts, output, flags);
    }
    if shape & 0xc0 == 0xc0 {
        let values = bytes.rest();
        let length = values.len().min(8 + 4 * DEFINITION);
        place.bytes[..length].copy_from_slice(&values[..length]);
    }
    match load(&place.bytes, &[]) {
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

/// A schema, and params for it.
pub fn schema(bytes: &[u8]) {
    let mut bytes = Bytes(bytes);
    let schema = bytes.some(16);
    let params = String::from_utf8_lossy(bytes.rest());
    let params = serde_json::from_str(&params).unwrap_or_else(|_| json!({"a": params}));
    // A result that is none: what counts is what comes before.
    if let Ok(plugin) = load(&tool(schema, None), &[]) {
        let _ = call(&plugin, &params);
    }
}

/// A result of any shape, and what people are shown of it.
pub fn output(bytes: &[u8]) {
    let mut bytes = Bytes(bytes);
    let shape = bytes.byte();
    let result = match shape & 1 {
        0 => result(&mut bytes),
        // Whatever lies there.
        _ => bytes.rest()[..].iter().copied().take(PLACE).collect(),
    };
    let plugin = load(&tool(br#"{"type":"object"}"#, None), &result).expect("a tool");
    match call(&plugin, &json!({})) {
        Ok(outcome) => {
            let block = Block::call(&outcome);
            super::rendering::check(&Renderer::plain().width(40).render(&block));
        }
        Err(error) => assert_ne!(error.kind(), "host", "{error}"),
    }
}

/// A result as it should be, but for its texts.
fn result(bytes: &mut Bytes<'_>) -> Vec<u8> {
    const CONTENT: usize = 32;
    let shape = bytes.byte();
    let mut place = Place::new(RESULT, 24 + 3 * CONTENT);
    if shape & 0x80 != 0 {
        place.bytes[0] = 1;
        place.bytes[4] = shape % 4;
        place.text(8, bytes.some(16));
        return place.bytes;
    }
    let count = usize::from(shape % 4);
    place.number(4, RESULT + 24);
    place.number(8, count as u32);
    for number in 0..count {
        let at = 24 + number * CONTENT;
        let kind = bytes.byte() % 4;
        place.bytes[at] = kind;
        place.text(at + 4, bytes.some(8));
        if kind > 0 {
            place.text(at + 12, bytes.some(1));
        }
        if kind == 2 && bytes.byte() & 1 == 1 {
            place.bytes[at + 20] = 1;
            place.text(at + 24, bytes.some(1));
        }
    }
    if shape & 0x40 != 0 {
        place.bytes[12] = 1;
        place.text(16, bytes.some(16));
    }
    place.bytes
}

pub fn seeds() -> Vec<Vec<u8>> {
    let mut schema = br##"{"type":"object","$defs":{"n":{"anyOf":[{"properties":{"a":{"$ref":"#/$defs/n"}}}]}},"$ref":"#/$defs/n"}"##.to_vec();
    schema.resize(schema.len().next_multiple_of(16), b' ');
    let mut recursive = vec![(schema.len() / 16) as u8];
    recursive.extend(&schema);
    recursive.extend(br#"{"a":{"a":{"a":{}}}}"#);
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
    vec![recursive, tools, result]
}
