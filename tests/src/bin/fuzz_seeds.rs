//! Writes what a fuzzing target begins with, a file for each: `fuzz_seeds TARGET FOLDER`.

use std::path::PathBuf;

use airlock_tests::fuzz;

fn main() -> std::io::Result<()> {
    let mut arguments = std::env::args().skip(1);
    let (Some(target), Some(folder)) = (arguments.next(), arguments.next()) else {
        eprintln!("usage: fuzz_seeds TARGET FOLDER");
        std::process::exit(2);
    };
    let folder = PathBuf::from(folder);
    std::fs::create_dir_all(&folder)?;
    for (number, seed) in fuzz::seeds(&target).iter().enumerate() {
        std::fs::write(folder.join(format!("seed-{number}")), seed)?;
    }
    Ok(())
}
