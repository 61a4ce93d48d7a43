//! Has all contestants take turns, and prints the tables; `tests/beside/run` builds them and tells
//! where they are. `--quick` measures less; `UPDATE_EXPECT=1` writes the tables into the README.

mod library;
mod memory;
mod place;
mod processor;
mod readme;
mod rounds;
mod running;
mod served;
mod table;
mod versions;
mod whole;

use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;

use tokio::runtime::Runtime;

use place::Place;
use rounds::Effort;

fn main() -> anyhow::Result<()> {
    let is_quick = std::env::args().any(|it| it == "--quick");
    let place = Place::new()?;
    let measured = measure(&place, is_quick).inspect_err(|_| eprint!("{}", place.complained()))?;
    print!("{measured}");
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        readme::update(&measured)?;
    }
    Ok(())
}

fn measure(place: &Place, is_quick: bool) -> anyhow::Result<String> {
    let runtime = Arc::new(Runtime::new()?);
    let rounds = |full| if is_quick { 3 } else { full };
    let calls = Effort {
        rounds: rounds(21),
        turn: Duration::from_millis(100),
    };
    let loads = Effort {
        rounds: rounds(11),
        turn: Duration::from_millis(200),
    };
    let processes = Effort {
        rounds: rounds(31),
        turn: Duration::ZERO,
    };
    let held_rounds = rounds(5);

    whole::check(place)?;
    let mut text = String::new();
    for sentence in versions::all(place)? {
        let _ = writeln!(text, "{sentence}");
    }
    let _ = writeln!(
        text,
        "{} processors; {} rounds of calls and instances, {} of loads, {} of processes, {held_rounds} of memory.\n",
        std::thread::available_parallelism()?,
        calls.rounds,
        loads.rounds,
        processes.rounds,
    );
    let mut say = |table: String| {
        eprintln!("\n{table}");
        text += &table;
        text += "\n";
    };

    let whole = rounds::measure(processes, whole::entries(place, &runtime))?;
    let ours = [whole::BUNDLED, whole::RUN, whole::SERVE];
    say(table::times(
        "Whole processes: a start, one call, the end",
        &whole,
        &ours,
    ));

    let contestants = running::Contestants::start(place, &runtime)?;
    let front_doors = [running::LIBRARY, running::STDIO];
    let nothing = rounds::measure(calls, contestants.of_nothing())?;
    say(table::times(
        "A call that finds nothing",
        &nothing,
        &front_doors,
    ));
    let previews = rounds::measure(calls, contestants.of_previews())?;
    say(table::times(
        "A call that previews 12 renames",
        &previews,
        &front_doors,
    ));
    let instances = rounds::measure(calls, contestants.of_instances())?;
    let library = [running::LIBRARY];
    say(table::times(
        "A new instance, its first call, and its end",
        &instances,
        &library,
    ));
    let cold = rounds::measure(loads, contestants.of_cold_loads())?;
    say(table::times("A load that compiles", &cold, &library));
    let cached = rounds::measure(calls, contestants.of_cached_loads())?;
    say(table::times(
        "A load of what was compiled",
        &cached,
        &library,
    ));
    drop(contestants);

    let held = memory::measure(held_rounds, place, &runtime)?;
    say(table::memory("Memory, held and not in use", &held));
    Ok(text)
}
