//! Rounds in which both sides take turns, and the table of what came of them.

use std::time::Duration;

/// What is measured, and with how much effort; each row is printed as soon as it is known.
pub struct Report {
    quick: bool,
    filters: Vec<String>,
    has_head: bool,
}

/// What one thing costs on both sides, for each round.
#[derive(Default)]
pub struct Rounds {
    bare: Vec<f64>,
    ours: Vec<f64>,
}

impl Report {
    pub fn new(quick: bool, filters: Vec<String>) -> Self {
        Self {
            quick,
            filters,
            has_head: false,
        }
    }

    /// Whether any of these names was asked for.
    pub fn wants(&self, name: &str) -> bool {
        self.filters.is_empty() || self.filters.iter().any(|filter| name.contains(&**filter))
    }

    /// How many rounds: `full`, or enough for a first impression.
    pub fn rounds(&self, full: usize) -> usize {
        if self.quick {
            full.div_ceil(4).clamp(3, 5).max(full / 10)
        } else {
            full
        }
    }

    /// Measures both sides in turn, each given the round's number, and prints the row. `count`: how
    /// many of it each does in a round. `promised`: the ratio to stay within.
    pub fn compare(
        &mut self,
        name: &str,
        (rounds, count): (usize, usize),
        promised: Option<f64>,
        mut bare: impl FnMut(usize) -> Duration,
        mut ours: impl FnMut(usize) -> Duration,
    ) {
        if !self.wants(name) {
            return;
        }
        let each = |took: Duration| took.as_secs_f64() / count as f64;
        // These warm both sides up.
        bare(0);
        ours(0);
        let mut measured = Rounds::default();
        for round in 1..=self.rounds(rounds) {
            // Neither side is always the one that finds the caches cold.
            if round % 2 == 0 {
                measured.bare.push(each(bare(round)));
                measured.ours.push(each(ours(round)));
            } else {
                measured.ours.push(each(ours(round)));
                measured.bare.push(each(bare(round)));
            }
        }
        self.row(name, &measured, promised);
    }

    fn row(&mut self, name: &str, measured: &Rounds, promised: Option<f64>) {
        let rounds = measured.bare.iter().zip(&measured.ours);
        let ratio = quartiles(rounds.map(|(bare, ours)| ours / bare));
        let median = |side: &[f64]| time(quartiles(side.iter().copied())[1]);
        let promised = match promised {
            Some(most) if ratio[1] <= most => format!("{most}x: within"),
            Some(most) => format!("{most}x: missed"),
            None => String::new(),
        };
        self.line(&format!(
            "| {name} | {} | {} | {:.2}x ({:.2} to {:.2}) | {promised} |",
            median(&measured.bare),
            median(&measured.ours),
            ratio[1],
            ratio[0],
            ratio[2],
        ));
    }

    /// A row that has nothing bare beside it.
    pub fn alone(&mut self, name: &str, ours: &str) {
        self.line(&format!("| {name} | | {ours} | | |"));
    }

    fn line(&mut self, line: &str) {
        if !self.has_head {
            self.has_head = true;
            println!("| what | bare | ours | ratio (quartiles) | promised |");
            println!("| --- | --- | --- | --- | --- |");
        }
        println!("{line}");
    }
}

fn quartiles(values: impl Iterator<Item = f64>) -> [f64; 3] {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    [1, 2, 3].map(|quarter| values[values.len() * quarter / 4])
}

fn time(seconds: f64) -> String {
    match seconds * 1e6 {
        micros if micros < 10.0 => format!("{micros:.2} us"),
        micros if micros < 1e3 => format!("{micros:.0} us"),
        micros if micros < 1e4 => format!("{:.1} ms", micros / 1e3),
        micros if micros < 1e6 => format!("{:.0} ms", micros / 1e3),
        micros => format!("{:.1} s", micros / 1e6),
    }
}
