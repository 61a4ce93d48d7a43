//! Rounds in which both sides take turns, and what is told of them.

use std::time::{Duration, Instant};

/// How much is measured.
#[derive(Debug, Clone, Copy)]
pub struct Effort {
    /// How often each side compiles a component, at least.
    pub compile_rounds: usize,
    /// A component that takes less is compiled more often within it, but not more often than there
    /// are rounds of calls.
    pub compile_time: Duration,
    /// How often the sides take turns in calling.
    pub call_rounds: usize,
    /// About how long one side calls in such a round.
    pub call_time: Duration,
    /// How many processes with instances there are on each side.
    pub memory_rounds: usize,
}

impl Effort {
    pub const QUICK: Self = Self {
        compile_rounds: 1,
        compile_time: Duration::from_secs(4),
        call_rounds: 7,
        call_time: Duration::from_millis(40),
        memory_rounds: 1,
    };

    pub const FULL: Self = Self {
        compile_rounds: 3,
        compile_time: Duration::from_secs(40),
        call_rounds: 21,
        call_time: Duration::from_millis(100),
        memory_rounds: 3,
    };
}

/// What came of each round, in whatever was measured.
#[derive(Debug, Default)]
pub struct Rounds {
    ours: Vec<f64>,
    bare: Vec<f64>,
}

impl Rounds {
    pub fn ours(&self) -> f64 {
        quartiles(self.ours.iter().copied())[1]
    }

    pub fn bare(&self) -> f64 {
        quartiles(self.bare.iter().copied())[1]
    }

    /// Quartiles of the rounds' own ratios: what slows a machine down often lasts longer than a
    /// round.
    pub fn ratio(&self) -> [f64; 3] {
        quartiles(self.ours.iter().zip(&self.bare).map(|(a, b)| a / b))
    }

    pub fn count(&self) -> usize {
        self.ours.len()
    }

    /// One more; neither side is always the one that finds the caches cold.
    async fn add(
        &mut self,
        ours: &mut impl AsyncFnMut(usize) -> anyhow::Result<f64>,
        bare: &mut impl AsyncFnMut(usize) -> anyhow::Result<f64>,
    ) -> anyhow::Result<()> {
        let round = self.count();
        if round.is_multiple_of(2) {
            self.ours.push(ours(round + 1).await?);
            self.bare.push(bare(round + 1).await?);
        } else {
            self.bare.push(bare(round + 1).await?);
            self.ours.push(ours(round + 1).await?);
        }
        Ok(())
    }
}

/// So many rounds; each side is given the round's number, from 1.
pub async fn in_turn(
    count: usize,
    mut ours: impl AsyncFnMut(usize) -> anyhow::Result<f64>,
    mut bare: impl AsyncFnMut(usize) -> anyhow::Result<f64>,
) -> anyhow::Result<Rounds> {
    let mut rounds = Rounds::default();
    for _ in 0..count {
        rounds.add(&mut ours, &mut bare).await?;
    }
    Ok(rounds)
}

/// Rounds of what can take many seconds at a time, and is done once in each.
pub async fn compile(
    effort: Effort,
    mut ours: impl AsyncFnMut(usize) -> anyhow::Result<Duration>,
    mut bare: impl AsyncFnMut(usize) -> anyhow::Result<Duration>,
) -> anyhow::Result<Rounds> {
    let mut ours = async |round| Ok(ours(round).await?.as_secs_f64());
    let mut bare = async |round| Ok(bare(round).await?.as_secs_f64());
    let (mut rounds, began) = (Rounds::default(), Instant::now());
    while rounds.count() < effort.compile_rounds
        || rounds.count() < effort.call_rounds && began.elapsed() < effort.compile_time
    {
        rounds.add(&mut ours, &mut bare).await?;
    }
    Ok(rounds)
}

/// Rounds of what is done several times in each, as often as fits; each side is given that number,
/// and returns the time of all.
pub async fn calls(
    effort: Effort,
    mut ours: impl AsyncFnMut(u32) -> anyhow::Result<Duration>,
    mut bare: impl AsyncFnMut(u32) -> anyhow::Result<Duration>,
) -> anyhow::Result<Rounds> {
    // These warm both sides up, too.
    ours(1).await?;
    bare(1).await?;
    let one = ours(2).await?.max(bare(2).await?) / 2;
    let fits = effort.call_time.as_secs_f64() / one.as_secs_f64();
    let count = (fits as u32).clamp(1, 20_000);
    in_turn(
        effort.call_rounds,
        async |_| Ok(ours(count).await?.as_secs_f64() / f64::from(count)),
        async |_| Ok(bare(count).await?.as_secs_f64() / f64::from(count)),
    )
    .await
}

fn quartiles(values: impl Iterator<Item = f64>) -> [f64; 3] {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    [1, 2, 3].map(|quarter| values[values.len() * quarter / 4])
}
