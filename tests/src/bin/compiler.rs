//! A program that compiles components and parses sources for the tests of the library, which start
//! it.

fn main() {
    airlock_host::compile::compiler_main();
    airlock_ast_edit::parser_main();
    println!("the tests of the library start this");
}
