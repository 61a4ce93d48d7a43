//! Between the files that libFuzzer works with, one for each input, and those that are kept, one
//! for each target.
//!
//! `fuzz_corpus unpack TARGET FOLDER` writes a target's seeds and what is kept of its corpus.
//! `fuzz_corpus pack TARGET FOLDER` keeps what is in the folder.

use std::path::{Path, PathBuf};

use airlock_tests::fuzz;

fn main() -> std::io::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments.as_slice() {
        ["unpack", target, folder] => unpack(target, Path::new(folder)),
        ["pack", target, folder] => pack(target, Path::new(folder)),
        _ => {
            eprintln!("usage: fuzz_corpus unpack|pack TARGET FOLDER");
            std::process::exit(2);
        }
    }
}

fn unpack(target: &str, folder: &Path) -> std::io::Result<()> {
    std::fs::create_dir_all(folder)?;
    let inputs = fuzz::seeds(target).into_iter().chain(fuzz::corpus(target));
    for (number, input) in inputs.enumerate() {
        std::fs::write(folder.join(format!("input-{number}")), input)?;
    }
    Ok(())
}

fn pack(target: &str, folder: &Path) -> std::io::Result<()> {
    let mut paths = Vec::<PathBuf>::new();
    for entry in std::fs::read_dir(folder)? {
        paths.push(entry?.path());
    }
    let inputs: Result<Vec<_>, _> = paths.iter().map(std::fs::read).collect();
    let mut inputs = inputs?;
    // In an order that says nothing about when they were found, so that two runs that find the same
    // keep the same.
    inputs.sort();
    inputs.dedup();
    fuzz::keep(target, &inputs)
}
