//! A program that compiles components for the tests of the library, which start it.

fn main() {
    airlock_host::compiler_main();
    println!("the tests of the library start this");
}
