//! Components from hand-written core modules, for what no compiler would emit.

use wit_component::{ComponentEncoder, StringEncoding, embed_component_metadata};
use wit_parser::Resolve;

/// The exports that a core module of the world has, each of which traps. `extra` stands in the same module, behind one memory `$memory`;
/// `definitions` is the body of the function of that name.
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
    let mut core = wat::parse_str(module).expect("the module parses");
    let mut resolve = Resolve::default();
    let wit = concat!(env!("CARGO_MANIFEST_DIR"), "/../wit");
    let (package, _) = resolve.push_path(wit).expect("the world parses");
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
