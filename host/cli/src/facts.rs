//! Facts in two columns: their names, and what is known.

use crate::output::Output;
use crate::style::{DIM, paint};

/// How facts that belong together are shown.
pub struct Facts {
    columns: usize,
}

impl Facts {
    /// With names of at most so many letters.
    pub const fn named_within(columns: usize) -> Self {
        Self { columns }
    }

    /// Where what is known begins.
    pub const fn indent(&self) -> usize {
        2 + self.columns + 1
    }

    /// A fact of several lines has its name before the first.
    pub fn show(&self, out: &mut Output, name: &str, lines: impl IntoIterator<Item = String>) {
        let columns = self.columns;
        let mut name = name;
        for line in lines {
            let name = paint(DIM, format_args!("{:columns$}", std::mem::take(&mut name)));
            out.line(format_args!("  {name} {line}"));
        }
    }
}
