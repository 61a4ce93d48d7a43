//! Never comes back when it is asked for its definitions.

use std::hint::black_box;

use bad_definitions::{Definitions, ToolDefinition};

struct Spin;

impl Definitions for Spin {
    fn definitions() -> Vec<ToolDefinition> {
        let mut turns: u64 = 0;
        loop {
            turns = black_box(turns.wrapping_add(1));
        }
    }
}

bad_definitions::export!(Spin);
