//! What the crate adds to the bare operations that it needs: both sides in one process, on the same
//! file system, taking turns.
//!
//! ```console
//! $ cargo bench -p airlock-workspace                     # all of it
//! $ cargo bench -p airlock-workspace -- --quick          # a first impression
//! $ cargo bench -p airlock-workspace -- commit           # what has this in its name
//! $ cargo bench -p airlock-workspace -- --in /mnt/xfs    # on another file system
//! ```
//!
//! It prints a table of medians. The ratio is the median of the rounds' own ratios, since what
//! slows a machine down often lasts longer than a round.
//!
//! What the bare side does is a hand-written program's least for the same: see the head of each
//! module.

#![expect(clippy::print_stdout, reason = "it is its output")]

mod access;
mod bare;
mod commits;
mod folder;
mod large;
mod memory;
mod passes;
mod rounds;
mod undos;

use std::path::PathBuf;

use folder::Fixture;
use rounds::Report;

/// What was asked for on the command line.
struct Asked {
    quick: bool,
    place: PathBuf,
    filters: Vec<String>,
}

impl Asked {
    fn parse() -> Self {
        let mut asked = Self {
            quick: false,
            place: PathBuf::from(env!("CARGO_TARGET_TMPDIR")),
            filters: Vec::new(),
        };
        let mut arguments = std::env::args().skip(1);
        while let Some(argument) = arguments.next() {
            match &*argument {
                "--quick" => asked.quick = true,
                // Given by cargo itself.
                "--bench" => {}
                "--in" => {
                    let place = arguments.next();
                    asked.place = place.expect("--in is followed by a directory").into();
                }
                filter => asked.filters.push(filter.to_owned()),
            }
        }
        asked
    }
}

fn main() {
    if let Some(what) = memory::asked_for() {
        return memory::print_resident(&what);
    }
    let asked = Asked::parse();
    let place = Fixture::new(&asked.place);
    let mut report = Report::new(asked.quick, asked.filters);
    access::measure(&place, &mut report);
    commits::measure(&place, &mut report);
    undos::measure(&place, &mut report);
    passes::measure(&place, &mut report);
    large::measure(&place, &mut report);
    memory::measure(&place, &mut report);
}
