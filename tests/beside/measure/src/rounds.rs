//! Rounds in which all contestants take turns, and what is told of them.

use std::time::Duration;

/// How long something took, in seconds.
#[derive(Debug, Clone, Copy, Default)]
pub struct Sample {
    /// By the clock.
    pub clock: f64,
    /// Of all processors, for the contestant and the processes that it started.
    pub processor: f64,
}

/// One who takes turns.
pub struct Entry<'a> {
    /// Who, and what it does.
    pub name: &'static str,
    /// Does it so many times, and says how long all of that took.
    pub work: Box<dyn FnMut(u32) -> anyhow::Result<Sample> + 'a>,
}

impl<'a> Entry<'a> {
    /// A new one.
    pub fn new(name: &'static str, work: impl FnMut(u32) -> anyhow::Result<Sample> + 'a) -> Self {
        let work = Box::new(work);
        Self { name, work }
    }
}

/// How much is measured.
#[derive(Debug, Clone, Copy)]
pub struct Effort {
    /// How often all take their turn.
    pub rounds: usize,
    /// About how long one works in its turn, which is once at least.
    pub turn: Duration,
}

/// What came of each round for one of them: the time of one piece of work.
pub struct Measured {
    /// Who, and what it did.
    pub name: &'static str,
    /// One for each round.
    pub samples: Vec<Sample>,
}

/// Has all take turns; a different one begins each round.
pub fn measure(effort: Effort, mut entries: Vec<Entry>) -> anyhow::Result<Vec<Measured>> {
    let mut counts = Vec::new();
    for Entry { name, work } in &mut entries {
        eprintln!("  {name}");
        // These warm it up, too.
        work(1)?;
        let one = work(2)?.clock / 2.0;
        let fits = effort.turn.as_secs_f64() / one;
        counts.push((fits as u32).clamp(1, 20_000));
    }
    let mut measured: Vec<Measured> = entries
        .iter()
        .map(|entry| Measured {
            name: entry.name,
            samples: Vec::new(),
        })
        .collect();
    for round in 0..effort.rounds {
        for turn in 0..entries.len() {
            let index = (round + turn) % entries.len();
            let count = counts[index];
            let took = (entries[index].work)(count)?;
            measured[index].samples.push(Sample {
                clock: took.clock / f64::from(count),
                processor: took.processor / f64::from(count),
            });
        }
    }
    Ok(measured)
}

/// The median, between the first tenth and the last.
#[derive(Debug, Clone, Copy)]
pub struct Spread {
    /// A tenth is less.
    pub low: f64,
    /// Half is less.
    pub median: f64,
    /// A tenth is more.
    pub high: f64,
}

impl Spread {
    /// Of any number of values but none.
    pub fn of(values: impl IntoIterator<Item = f64>) -> Self {
        let mut values: Vec<f64> = values.into_iter().collect();
        values.sort_by(f64::total_cmp);
        let at = |share: f64| values[((values.len() - 1) as f64 * share).round() as usize];
        Self {
            low: at(0.1),
            median: at(0.5),
            high: at(0.9),
        }
    }
}

impl Measured {
    /// By the clock.
    pub fn clock(&self) -> Spread {
        Spread::of(self.samples.iter().map(|sample| sample.clock))
    }

    /// In processor time.
    pub fn processor(&self) -> Spread {
        Spread::of(self.samples.iter().map(|sample| sample.processor))
    }

    /// How many times as much another took, by the clock and in processor time: the median of the
    /// rounds' own ratios.
    pub fn ratio_of(&self, other: &Self) -> [f64; 2] {
        let ratio = |of: fn(&Sample) -> f64| {
            let both = self.samples.iter().zip(&other.samples);
            Spread::of(both.map(|(mine, its)| of(its) / of(mine))).median
        };
        [ratio(|it| it.clock), ratio(|it| it.processor)]
    }
}
