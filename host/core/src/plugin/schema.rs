//! JSON Schemas from guests: checked when a plugin is loaded, compiled on first use, and run within
//! bounds.
//!
//! A schema can ask for any amount of work. Recursive references with `anyOf` double it at each
//! level of a value, and a list of violations can be exponential even if the verdict is not. So
//! every check is metered ([`meter`]): it ends after a number of steps, at a deadline or on
//! request, whatever the schema and the value are. The cost of a step is bounded in advance
//! ([`cost`]). Values that are nested too deep for recursive code are refused. Most checks run on
//! the calling thread; a longer one continues on a separate thread with a large stack.

mod cost;
mod equality;
mod meter;
mod params;
mod size;
mod violations;

use std::fmt;
use std::sync::OnceLock;

use airlock_model::error::Violation;
use airlock_model::json::{self, Json};
use jsonschema::{Draft, PatternOptions, Validator};
use serde_json::Value;

use cost::Cost;
use meter::{Allowance, Metered, Stopped};
pub(super) use size::Size;
use violations::violations;

pub(crate) use params::{Checks, ParamsSchema};

/// Maximum number of violations in an error.
const LISTED: usize = 20;

/// Maximum length of a violation's message, in bytes: it quotes the value.
const MESSAGE_BYTES: usize = 300;

/// Maximum number of steps for listing violations. Each step may leave a note of about a hundred
/// bytes.
const LISTING: u64 = 200_000;

/// Maximum bytes of a compiled pattern, and of its matching cache.
const PATTERN_BYTES: usize = 1 << 20;
const PATTERN_CACHE_BYTES: usize = 1 << 17;

/// A schema with a longer text is compiled on a separate stack.
const SMALL: usize = 4096;

/// Bytes of such a stack; unused pages take no memory.
const STACK: usize = 64 << 20;

/// Bytes of the stack that a check may use.
const STACK_USED: usize = 16 << 20;

/// Allowance for checks on the calling thread.
const QUICK: Allowance = Allowance {
    steps: 10_000,
    stack: 128 << 10,
    going: None,
};

/// An untrusted JSON Schema (2020-12). For any schema and any value, a check ends after a number of
/// steps and uses little memory.
#[derive(Debug)]
pub struct Schema {
    text: Json,
    /// Compiled on first use: a schema from the compile cache was checked before, and may never be
    /// used.
    compiled: OnceLock<Result<Compiled, String>>,
}

#[derive(Debug)]
struct Compiled {
    validator: Validator<Metered>,
    cost: Cost,
}

/// The result of judging a value.
#[derive(Debug, PartialEq)]
pub(crate) enum Judged {
    Fits,
    /// The violations, in the schema's order.
    Misfits(Vec<Violation>),
    Stopped(Stopped),
}

/// The reason why a value does not match a [`Schema`].
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Misfit {
    /// The violations; not empty.
    Violations(Vec<Violation>),
    /// The check takes more steps than allowed.
    TooManySteps,
}

impl Schema {
    /// Wraps a schema that was checked before, or is checked on first use.
    pub(super) fn unchecked(text: Json) -> Self {
        let compiled = OnceLock::new();
        Self { text, compiled }
    }

    /// Compiles a schema.
    ///
    /// # Errors
    /// A clause that says why the schema can't be used.
    pub fn new(text: &Json) -> Result<Self, String> {
        let schema = Self::unchecked(text.clone());
        match schema.compiled() {
            Ok(_) => Ok(schema),
            Err(reason) => Err(reason.clone()),
        }
    }

    /// Returns its memory size; zero if it can't be used.
    fn size(&self) -> Size {
        self.compiled().map_or(Size::default(), |it| it.cost.size)
    }

    /// Checks whether a value matches. Blocks until done; `steps` bounds the time. A hundred
    /// million steps take seconds.
    ///
    /// # Errors
    /// [`Misfit`].
    pub fn check(&self, value: &Value, steps: u64) -> Result<(), Misfit> {
        let allowance = Allowance {
            steps,
            stack: STACK_USED,
            going: None,
        };
        let judged = match self.judge_quickly(value) {
            Some(judged) => judged,
            None => on_own_stack(|| self.judge(value, allowance)).unwrap_or_else(misfit),
        };
        match judged {
            Judged::Fits => Ok(()),
            Judged::Misfits(violations) => Err(Misfit::Violations(violations)),
            Judged::Stopped(_) => Err(Misfit::TooManySteps),
        }
    }

    /// Judges a value on the calling thread. Returns `None` if it takes more than a moment.
    fn judge_quickly(&self, value: &Value) -> Option<Judged> {
        if json::check_depth(value).is_err() {
            return Some(misfit(json::TooDeep.to_string()));
        }
        if self.compiled.get().is_none() && self.text.as_str().len() > SMALL {
            return None;
        }
        match self.judge_with(value, QUICK, QUICK.steps) {
            Judged::Stopped(_) => None,
            judged => Some(judged),
        }
    }

    /// Judges a value as far as the allowance permits. Call it with a large stack, and a value that
    /// is not too deep.
    fn judge(&self, value: &Value, allowance: Allowance) -> Judged {
        match self.judge_with(value, allowance, LISTING) {
            Judged::Stopped(stopped) => Judged::Stopped(stopped),
            judged => judged,
        }
    }

    fn judge_with(&self, value: &Value, allowance: Allowance, listing: u64) -> Judged {
        let Compiled { validator, cost } = match self.compiled() {
            Ok(compiled) => compiled,
            Err(reason) => {
                return misfit(format!("the tool's schema can't be used: {reason}"));
            }
        };
        let is_quick = allowance.steps <= QUICK.steps;
        let ran = meter::run(*cost, allowance.clone(), || validator.is_valid(value));
        match ran {
            Err(stopped) => return Judged::Stopped(stopped),
            // Most calls are valid, and checking that is cheaper than listing violations.
            Ok(true) => return Judged::Fits,
            Ok(false) => {}
        }
        let listing = Allowance {
            steps: listing,
            ..allowance
        };
        let listed = meter::run(*cost, listing.clone(), || {
            let errors: Vec<_> = validator.iter_errors(value).take(LISTED).collect();
            violations(&errors)
        });
        match listed {
            Ok(violations) if !violations.is_empty() => Judged::Misfits(violations),
            Err(stopped) if is_quick || stopped == Stopped::Told => Judged::Stopped(stopped),
            _ => misfit(format!(
                "they don't fit; the places are not listed, since finding them all takes more than {} steps",
                listing.steps
            )),
        }
    }

    fn compiled(&self) -> Result<&Compiled, &String> {
        let compiled = self.compiled.get_or_init(|| {
            if self.text.as_str().len() <= SMALL {
                compile(&self.text)
            } else {
                on_own_stack(|| compile(&self.text)).flatten()
            }
        });
        compiled.as_ref()
    }
}

/// Returns a violation of the whole value.
fn misfit(message: String) -> Judged {
    Judged::Misfits(vec![Violation {
        path: String::new(),
        message,
    }])
}

/// Runs work that may recurse deeply on a separate stack, and waits for it.
///
/// # Errors
/// A clause, if the system has no more threads.
fn on_own_stack<T: Send>(work: impl FnOnce() -> T + Send) -> Result<T, String> {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(STACK);
        match thread.spawn_scoped(scope, work) {
            Ok(working) => match working.join() {
                Ok(done) => Ok(done),
                Err(panicked) => std::panic::resume_unwind(panicked),
            },
            Err(error) => Err(format!("no thread could be started for it: {error}")),
        }
    })
}

/// Parses a schema, checks that it can be used, and returns its memory size. `what` names the
/// schema in the reason.
pub(super) fn parse(what: &str, text: &str) -> Result<(Json, Size), String> {
    let json =
        Json::checked(text).map_err(|error| format!("its {what} schema is not JSON: {error}"))?;
    if !json.as_str().starts_with('{') {
        return Err(format!("its {what} schema is not a JSON object"));
    }
    let schema = Schema::new(&json)
        .map_err(|reason| format!("its {what} schema can't be used: {reason}"))?;
    Ok((json, schema.size()))
}

/// Returns whether the schema has the type `object`.
pub(super) fn is_of_objects(schema: &Json) -> bool {
    #[derive(serde::Deserialize)]
    struct Type<'a> {
        #[serde(borrow, rename = "type")]
        name: std::borrow::Cow<'a, str>,
    }
    let named = schema.parse::<Type<'_>>();
    named.is_ok_and(|named| named.name == "object")
}

fn compile(text: &Json) -> Result<Compiled, String> {
    let schema = text.value();
    let cost = Cost::of(&schema)?;
    // A guest's pattern must not be able to take exponential time.
    let patterns = PatternOptions::regex()
        .size_limit(PATTERN_BYTES)
        .dfa_size_limit(PATTERN_CACHE_BYTES);
    let validator = jsonschema::options_for::<Metered>()
        .with_draft(Draft::Draft202012)
        .with_pattern_options(patterns)
        .build(&schema)
        .map_err(|error| match error.instance_path().to_string() {
            path if path.is_empty() => cut(&error),
            path => cut(&format_args!("{path}: {error}")),
        })?;
    Ok(Compiled { validator, cost })
}

/// Returns the beginning of a text that may be as long as a value.
fn cut(text: &impl fmt::Display) -> String {
    let (mut beginning, is_all) = json::beginning(text, MESSAGE_BYTES);
    if !is_all {
        beginning.push('…');
    }
    beginning
}

#[cfg(test)]
mod tests;
