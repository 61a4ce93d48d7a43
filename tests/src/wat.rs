//! Components from hand-written core modules, for what no compiler would emit.

use std::fs;
use std::path::Path;

use wit_component::{ComponentEncoder, StringEncoding, embed_component_metadata};
use wit_parser::Resolve;

/// The exports that a core module of the world has, each of which traps. `extra` stands in the same
/// module, behind one memory `$memory`; `definitions` is the body of the function of that name.
pub fn module(definitions: &str, extra: &str) -> String {
    format!(
        r#"(module
            (memory $memory (export "memory") 1)
            {extra}
            (func (export "airlock:tool/tool@0.1.0#definitions") (result i32) {definitions})
            (func (export "airlock:tool/tool@0.1.0#execute") (param i32 i32 i32 i32 i32 i32) (result i32) unreachable)
            (func (export "airlock:tool/resolver@0.1.0#apply")
                (param i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32) (result i32) unreachable)
            (func (export "airlock:tool/resolver@0.1.0#reject")
                (param i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32) (result i32) unreachable)
            (func (export "cabi_realloc") (param i32 i32 i32 i32) (result i32) unreachable)
        )"#
    )
}

/// Makes a component of the world from such a module.
///
/// # Panics
/// Where the text is no such module.
pub fn component(module: &str) -> Vec<u8> {
    component_of(module, &[], |_, text| text)
}

/// Makes a component of another world: `change` gets the name and the text of each file of ours,
/// and `packages` are others, each by a name for its file and its text.
///
/// # Panics
/// Where the module does not fit that world.
pub fn component_of(
    module: &str,
    packages: &[(&str, &str)],
    change: impl Fn(&str, String) -> String,
) -> Vec<u8> {
    let mut core = wat::parse_str(module).expect("the module parses");
    let world = tempfile::TempDir::new().expect("a temporary directory");
    let wit = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../wit/0.1.0"));
    for file in fs::read_dir(wit).expect("the world").flatten() {
        let name = file.file_name();
        let text = fs::read_to_string(file.path()).expect("a file of the world");
        let changed = change(&name.to_string_lossy(), text);
        fs::write(world.path().join(name), changed).expect("a temporary file");
    }
    for (name, text) in packages {
        let folder = world.path().join("deps").join(name);
        fs::create_dir_all(&folder).expect("a temporary directory");
        fs::write(folder.join("package.wit"), text).expect("a temporary file");
    }
    let mut resolve = Resolve::default();
    let (package, _) = resolve.push_path(world.path()).expect("the world parses");
    let world = resolve
        .select_world(&[package], Some("custom-tool"))
        .expect("the world is there");
    embed_component_metadata(&mut core, &resolve, world, StringEncoding::UTF8)
        .expect("it can be embedded");
    let encoder = ComponentEncoder::default()
        .validate(true)
        .module(&core)
        .expect("the module fits");
    let mut encoder = encoder;
    encoder.encode().expect("it can be encoded")
}

/// A component with these tools, which it can't run: each by its name, and the schema of its
/// params.
///
/// # Panics
/// Where they have more bytes than a memory of four gigabytes.
pub fn defining(tools: &[(&str, &str)]) -> Vec<u8> {
    running(tools, 0, |_| "unreachable".to_owned())
}

/// The same with tools that run: `execute` makes the body of the function of that name, from the
/// address of so many pages of memory that are its own. Its params lie on the first of them.
///
/// # Panics
/// As [`defining`].
pub fn running(
    tools: &[(&str, &str)],
    more: usize,
    execute: impl FnOnce(usize) -> String,
) -> Vec<u8> {
    // A list, then its elements (eight bytes for each text, and what has none), then the texts.
    const ELEMENT: usize = 48;
    let mut texts = String::new();
    let mut list = Vec::new();
    let start = 8 + ELEMENT * tools.len();
    for (name, parameters) in tools {
        for text in [*name, "A tool", "It is never run.", *parameters] {
            for number in [start + texts.len(), text.len()] {
                list.extend(u32::try_from(number).expect("a memory").to_le_bytes());
            }
            texts.push_str(text);
        }
        list.extend([0; ELEMENT - 32]);
    }
    let mut bytes = Vec::new();
    for number in [8, tools.len()] {
        bytes.extend(u32::try_from(number).expect("a memory").to_le_bytes());
    }
    bytes.extend(list);
    bytes.extend(texts.into_bytes());
    let data: String = bytes.iter().map(|byte| format!("\\{byte:02x}")).collect();
    let pages = bytes.len().div_ceil(1 << 16) + 1;
    let module = module("i32.const 0", &format!("(data (i32.const 0) \"{data}\")"));
    let memory = r#"(memory $memory (export "memory") 1)"#;
    assert!(module.contains(memory));
    let larger = memory.replace(") 1)", &format!(") {})", pages + more));
    let free = pages << 16;
    let runs = format!("(result i32) {}", execute(free));
    let place = match more {
        0 => "unreachable".to_owned(),
        _ => format!("i32.const {free}"),
    };
    let takes = format!("(param i32 i32 i32 i32) (result i32) {place}");
    let module = module
        .replace(memory, &larger)
        .replacen("(result i32) unreachable", &runs, 1)
        .replace("(param i32 i32 i32 i32) (result i32) unreachable", &takes);
    component(&module)
}
