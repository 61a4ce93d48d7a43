//! A view of a value for a validator, which counts the accesses to it.
//!
//! `jsonschema` validates anything that implements its `Json`, and accesses a value only through
//! that trait. So this implementation can count everything a schema does with a value: each access
//! costs steps, and larger results cost more. Once the steps or the stack are used up, every value
//! appears empty. Nothing is left to descend into, and each call on the stack only finishes its own
//! subschemas, which [`Cost`] bounds. The resulting answer is meaningless, and [`run`] returns an
//! error instead.

use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use jsonschema::JsonType;
use jsonschema::json::{self, Json, NodeIdentity};
use serde_json::{Map, Number, Value};

use super::cost::Cost;
use super::equality;

/// Steps between two checks whether to continue.
const SLICE: u64 = 50_000;

/// Bytes of text that one step covers, if each byte is read once.
const BYTES_A_STEP: u64 = 64;

/// Steps that dividing a number may take.
const DIVISION: u64 = 200;

/// Resources that a check may use.
#[derive(Clone, Default)]
pub(super) struct Allowance {
    pub steps: u64,
    /// Bytes of stack.
    pub stack: usize,
    /// The state that can stop it.
    pub going: Option<Arc<Going>>,
}

/// The deadline and stop flag of a check.
#[derive(Debug)]
pub(super) struct Going {
    pub until: Option<Instant>,
    pub is_stopped: AtomicBool,
}

impl Going {
    fn on(&self) -> bool {
        !self.is_stopped.load(Ordering::Relaxed)
            && self.until.is_none_or(|until| Instant::now() < until)
    }
}

/// The reason why there is no answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stopped {
    /// The steps are used up.
    Steps,
    /// The stack is used up.
    Stack,
    /// The check was stopped, or its time is up.
    Told,
}

/// The meter of a thread.
struct Meter {
    /// Steps until the next check.
    left: Cell<u64>,
    /// Steps that are left beyond those.
    beyond: Cell<u64>,
    /// The lowest address that the stack may reach.
    lowest: Cell<usize>,
    stopped: Cell<Option<Stopped>>,
    cost: Cell<Cost>,
    going: RefCell<Option<Arc<Going>>>,
}

thread_local! {
    static METER: Meter = const {
        Meter {
            left: Cell::new(0),
            beyond: Cell::new(0),
            lowest: Cell::new(0),
            stopped: Cell::new(None),
            cost: Cell::new(Cost::NONE),
            going: RefCell::new(None),
        }
    };
}

/// Runs `check` within the allowance. One runs per thread at a time.
///
/// # Errors
/// The resource that ran out.
pub(super) fn run<T>(
    cost: Cost,
    allowance: Allowance,
    check: impl FnOnce() -> T,
) -> Result<T, Stopped> {
    let here = 0_u8;
    let first = allowance.steps.min(SLICE);
    let beyond = allowance.steps - first;
    METER.with(|meter| {
        meter.left.set(first);
        meter.beyond.set(beyond);
        let top = std::ptr::from_ref(&here).addr();
        meter.lowest.set(top.saturating_sub(allowance.stack));
        meter.stopped.set(None);
        meter.cost.set(cost);
        *meter.going.borrow_mut() = allowance.going;
    });
    let answer = check();
    METER.with(|meter| {
        *meter.going.borrow_mut() = None;
        match meter.stopped.get() {
            None => Ok(answer),
            Some(stopped) => Err(stopped),
        }
    })
}

impl Meter {
    /// Counts steps. Returns false if values must appear empty.
    #[inline]
    fn spend(&self, steps: u64) -> bool {
        let here = 0_u8;
        let is_deep = std::ptr::from_ref(&here).addr() < self.lowest.get();
        match self.left.get().checked_sub(steps) {
            Some(left) if !is_deep => {
                self.left.set(left);
                true
            }
            _ => self.look_again(steps, is_deep),
        }
    }

    #[cold]
    fn look_again(&self, steps: u64, is_deep: bool) -> bool {
        if self.stopped.get().is_some() {
            return false;
        }
        let left = self.left.get() + self.beyond.get();
        let going = self.going.borrow();
        let stopped = match left.checked_sub(steps) {
            _ if is_deep => Stopped::Stack,
            None => Stopped::Steps,
            Some(_) if going.as_ref().is_some_and(|going| !going.on()) => Stopped::Told,
            Some(left) => {
                let next = left.min(SLICE);
                self.left.set(next);
                self.beyond.set(left - next);
                return true;
            }
        };
        self.stopped.set(Some(stopped));
        self.left.set(0);
        self.beyond.set(0);
        false
    }
}

#[inline]
pub(super) fn spend(steps: u64) -> bool {
    METER.with(|meter| meter.spend(steps))
}

/// Descends into a part of a value, to which all subschemas of that location apply.
#[inline]
fn descend() -> bool {
    METER.with(|meter| meter.spend(meter.cost.get().in_place))
}

pub(super) fn steps_of(bytes: usize) -> u64 {
    1 + bytes as u64 / BYTES_A_STEP
}

/// Charges for a copy: a violation is noted with the value, and each subschema of an `anyOf` or
/// `oneOf` that notes it copies the whole value.
fn spend_on_a_copy(value: &Value) -> bool {
    match value {
        Value::Array(items) => spend(1) && items.iter().all(spend_on_a_copy),
        Value::Object(members) => {
            let mut members = members.iter();
            spend(1)
                && members
                    .all(|(name, value)| spend(steps_of(name.len())) && spend_on_a_copy(value))
        }
        Value::String(text) => spend(steps_of(text.len())),
        _ => spend(1),
    }
}

/// Charges for a text that patterns may be matched with.
fn show(text: &str, weight: impl FnOnce(Cost) -> u64) -> bool {
    METER.with(|meter| {
        let bytes = text.len() as u64;
        let matching = bytes.saturating_mul(weight(meter.cost.get())) / 8;
        meter.spend(steps_of(text.len()).saturating_add(matching))
    })
}

/// `serde_json`'s values, metered.
pub(super) struct Metered;

impl Json for Metered {
    type Node<'a> = &'a Value;
    type PreparedKey = String;
    type StringBuffer = Value;

    const KEYS_PER_LOOKUP: usize = 2;

    fn prepare_key(key: &str) -> String {
        key.to_owned()
    }

    fn with_string_node<T>(buffer: &mut Value, string: &str, f: impl FnOnce(&Value) -> T) -> T {
        spend(steps_of(string.len()));
        *buffer = Value::String(string.to_owned());
        f(buffer)
    }
}

impl<'a> json::Node<'a, Metered> for &'a Value {
    type Object = &'a Map<String, Value>;
    type Array = &'a [Value];
    type Number = &'a Number;

    fn as_object(&self) -> Option<&'a Map<String, Value>> {
        match self {
            Value::Object(members) if spend(1) => Some(members),
            _ => None,
        }
    }

    fn as_array(&self) -> Option<&'a [Value]> {
        match self {
            Value::Array(items) if spend(1) => Some(items),
            _ => None,
        }
    }

    fn as_string(&self) -> Option<Cow<'a, str>> {
        match self {
            Value::String(text) if show(text, |cost| cost.pattern) => Some(Cow::Borrowed(text)),
            _ => None,
        }
    }

    fn as_number(&self) -> Option<&'a Number> {
        let divides = || METER.with(|meter| meter.cost.get().divides);
        match self {
            Value::Number(number) if spend(if divides() { DIVISION } else { 1 }) => Some(number),
            _ => None,
        }
    }

    fn as_boolean(&self) -> Option<bool> {
        match self {
            Value::Bool(boolean) if spend(1) => Some(*boolean),
            _ => None,
        }
    }

    fn is_null(&self) -> bool {
        !spend(1) || matches!(self, Value::Null)
    }

    fn is_number(&self) -> bool {
        spend(1) && matches!(self, Value::Number(_))
    }

    fn is_string(&self) -> bool {
        spend(1) && matches!(self, Value::String(_))
    }

    fn json_type(&self) -> JsonType {
        match self {
            _ if !spend(1) => JsonType::Null,
            Value::Null => JsonType::Null,
            Value::Bool(_) => JsonType::Boolean,
            Value::Number(_) => JsonType::Number,
            Value::String(_) => JsonType::String,
            Value::Array(_) => JsonType::Array,
            Value::Object(_) => JsonType::Object,
        }
    }

    fn string_length(&self) -> Option<u64> {
        match self {
            Value::String(text) if spend(steps_of(text.len())) => Some(text.chars().count() as u64),
            _ => None,
        }
    }

    fn equals_value(&self, expected: &Value) -> bool {
        equality::are_equal(self, expected)
    }

    fn to_value(&self) -> Cow<'a, Value> {
        if spend_on_a_copy(self) {
            Cow::Borrowed(self)
        } else {
            Cow::Owned(Value::Null)
        }
    }

    fn identity(&self) -> Option<NodeIdentity> {
        spend(1);
        Some(NodeIdentity::new(std::ptr::from_ref::<Value>(self).addr()))
    }
}

pub(super) struct Members<'a>(serde_json::map::Iter<'a>);

impl<'a> Iterator for Members<'a> {
    type Item = (&'a str, &'a Value);

    fn next(&mut self) -> Option<Self::Item> {
        let (name, value) = self.0.next()?;
        (descend() && show(name, |cost| cost.names)).then_some((name.as_str(), value))
    }
}

impl<'a> json::Object<'a, Metered> for &'a Map<String, Value> {
    type Node = &'a Value;
    type MemberName = &'a str;
    type MembersIter = Members<'a>;

    fn len(&self) -> usize {
        if spend(1) { Map::len(self) } else { 0 }
    }

    fn get(&self, key: &String) -> Option<&'a Value> {
        if !spend(steps_of(key.len())) {
            return None;
        }
        let value = (*self).get(key.as_str())?;
        descend().then_some(value)
    }

    fn members(&self) -> Members<'a> {
        spend(1);
        Members((*self).iter())
    }
}

pub(super) struct Elements<'a>(std::slice::Iter<'a, Value>);

impl<'a> Iterator for Elements<'a> {
    type Item = &'a Value;

    fn next(&mut self) -> Option<&'a Value> {
        let value = self.0.next()?;
        descend().then_some(value)
    }
}

impl<'a> json::Array<'a, Metered> for &'a [Value] {
    type Node = &'a Value;
    type ElementsIter = Elements<'a>;

    fn len(&self) -> usize {
        if spend(1) { <[Value]>::len(self) } else { 0 }
    }

    fn elements(&self) -> Elements<'a> {
        spend(1);
        Elements((*self).iter())
    }

    fn is_unique(&self) -> bool {
        equality::are_unique(self)
    }
}
