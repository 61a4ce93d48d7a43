//! Memory size of compiled schemas, estimated from their text.

use regex_syntax::ast::{Ast, RepetitionKind, RepetitionRange, parse::Parser};

/// Size of a schema in memory while it is compiled, which is from its tool's first call on.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Size {
    /// Nodes as they are written.
    pub nodes: u64,
    /// Patterns.
    pub patterns: u64,
    /// Weight of the patterns.
    pub positions: u64,
}

impl Size {
    /// Maximum for all params schemas of a plugin together. Measured bytes of a compiled schema, in
    /// schemas of 250 KB each: per node up to 2,300 (nested `unevaluatedProperties`) or 1,050
    /// (`enum` of `{"":0}`), usually 100 to 260; per position of a pattern up to 140 (`.{100}`,
    /// `(?i)[a-z]{50}`). So all schemas of a plugin take at most about 115 MB for nodes and 70 MB
    /// for patterns. Without these limits, 1 MiB of definitions took 290 MB for nodes and 5 GB for
    /// patterns. In addition, each pattern has caches of 128 KiB once a match fills them.
    pub const MAX: Self = Self {
        nodes: 50_000,
        patterns: 512,
        positions: 500_000,
    };

    /// Adds both, unless the sum is more than [`MAX`](Self::MAX).
    ///
    /// # Errors
    /// A clause about the schema that is added.
    pub fn plus(self, other: Self) -> Result<Self, String> {
        let max = Self::MAX;
        let sum = Self {
            nodes: self.nodes.saturating_add(other.nodes),
            patterns: self.patterns.saturating_add(other.patterns),
            positions: self.positions.saturating_add(other.positions),
        };
        for (sum, max, what) in [
            (sum.nodes, max.nodes, "nodes"),
            (sum.patterns, max.patterns, "patterns"),
            (sum.positions, max.positions, "positions in their patterns"),
        ] {
            if sum > max {
                return Err(format!(
                    "its parameters schema and those before it have {sum} {what}; the limit is {max} for all"
                ));
            }
        }
        Ok(sum)
    }
}

/// Returns how many positions of a pattern a matching engine may be in at once, with repetitions
/// expanded.
pub(super) fn positions(pattern: &str) -> u64 {
    fn of(ast: &Ast) -> u64 {
        match ast {
            Ast::Repetition(repetition) => {
                let times = match &repetition.op.kind {
                    RepetitionKind::Range(RepetitionRange::Exactly(times))
                    | RepetitionKind::Range(RepetitionRange::AtLeast(times))
                    | RepetitionKind::Range(RepetitionRange::Bounded(_, times)) => *times,
                    _ => 1,
                };
                u64::from(times.max(1)).saturating_mul(of(&repetition.ast))
            }
            Ast::Group(group) => of(&group.ast).saturating_add(1),
            Ast::Alternation(branches) => sum(&branches.asts),
            Ast::Concat(items) => sum(&items.asts),
            // Letters of Unicode classes have many forms each.
            Ast::ClassUnicode(_) => 100,
            // Each has the bytes of all letters.
            Ast::Dot(_) => 10,
            Ast::ClassBracketed(class) => {
                let written = class.span.end.offset - class.span.start.offset;
                2 + written as u64 * if class.negated { 2 } else { 1 }
            }
            _ => 1,
        }
    }
    fn sum(parts: &[Ast]) -> u64 {
        parts
            .iter()
            .fold(0, |sum, part| sum.saturating_add(of(part)))
    }
    match Parser::new().parse(pattern) {
        Ok(ast) => of(&ast).max(1),
        // Syntax that only JavaScript has: assume that each number in it repeats the whole pattern.
        Err(_) => {
            let numbers = pattern.split(|c: char| !c.is_ascii_digit());
            let numbers = numbers.filter_map(|digits| digits.parse::<u64>().ok());
            numbers.fold(pattern.len() as u64, |product, times| {
                product.saturating_mul(times.max(1))
            })
        }
    }
}
