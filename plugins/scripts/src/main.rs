//! A program for WASI that runs JavaScript: the script is on standard input, and its arguments are
//! those of the program. Scripts find the usual modules of Node for files and paths, and the
//! current directory is their workspace.
//!
//! `engine` runs a script in QuickJS. What scripts see is written in JavaScript, in `js`; `native`
//! has the functions that it can't write itself, and `files` those of them for files.

mod builtins;
#[cfg(test)]
mod cases;
mod engine;
mod errno;
mod files;
mod hex;
mod hooks;
mod imports;
mod native;
mod outcome;
mod world;

use std::io::{self, Read, Write};
use std::path::PathBuf;
use std::process;

use world::{Output, Script};

fn main() {
    let mut source = String::new();
    if let Err(error) = io::stdin().read_to_string(&mut source) {
        // There is nothing to do about an error about an error.
        let _ = writeln!(
            io::stderr(),
            "The script can't be read from standard input: {error}"
        );
        process::exit(1);
    }
    let script = Script {
        source,
        args: std::env::args().skip(1).collect(),
        root: PathBuf::new(),
        modules: "/modules".to_owned(),
    };
    let output = Output {
        stdout: Box::new(io::BufWriter::new(io::stdout())),
        stderr: Box::new(io::stderr()),
    };
    process::exit(engine::run(script, output));
}
