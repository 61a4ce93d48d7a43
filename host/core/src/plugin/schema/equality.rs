//! Equality of JSON values, counted in steps of the meter.

use std::collections::HashMap;
use std::hash::{BuildHasher, Hasher, RandomState};

use jsonschema::json::cmp;
use serde_json::Value;

use super::meter::{spend, steps_of};

/// Returns whether no two values are equal. Uses a keyed hash, which distinguishes values that
/// `jsonschema`'s own hash confuses (all arrays around the same values).
pub(super) fn are_unique(values: &[Value]) -> bool {
    let state = RandomState::new();
    let mut seen: HashMap<u64, Vec<&Value>> = HashMap::new();
    for value in values {
        let mut hasher = state.build_hasher();
        if !hash(value, &state, &mut hasher) {
            return true;
        }
        let alike = seen.entry(hasher.finish()).or_default();
        if alike.iter().any(|other| are_equal(value, other)) {
            return false;
        }
        alike.push(value);
    }
    true
}

/// Returns whether two values are equal by the rules of JSON Schema.
pub(super) fn are_equal(one: &Value, other: &Value) -> bool {
    if !spend(1) {
        return false;
    }
    match (one, other) {
        (Value::String(one), Value::String(other)) => {
            one.len() == other.len() && spend(steps_of(one.len())) && one == other
        }
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len()
                && one
                    .iter()
                    .zip(other)
                    .all(|(one, other)| are_equal(one, other))
        }
        (Value::Object(one), Value::Object(other)) => {
            one.len() == other.len()
                && one.iter().all(|(name, one)| {
                    let other = other.get(name).filter(|_| spend(steps_of(name.len())));
                    other.is_some_and(|other| are_equal(one, other))
                })
        }
        _ => cmp::equal(one, other),
    }
}

/// Hashes a value. Returns whether steps are left.
fn hash(value: &Value, state: &RandomState, hasher: &mut impl Hasher) -> bool {
    match value {
        Value::Null => hasher.write_u8(0),
        Value::Bool(boolean) => hasher.write(&[1, u8::from(*boolean)]),
        Value::Number(number) => {
            hasher.write_u8(2);
            // 1 and 1.0 are equal.
            match (number.as_i64(), number.as_u64(), number.as_f64()) {
                (Some(integer), ..) => hasher.write_i128(integer.into()),
                (_, Some(integer), _) => hasher.write_i128(integer.into()),
                (.., Some(float)) if float.fract() == 0.0 && float.abs() < 1e38 => {
                    hasher.write_i128(float as i128);
                }
                (.., float) => hasher.write_u64(float.unwrap_or_default().to_bits()),
            }
        }
        Value::String(text) => {
            hasher.write_u8(3);
            hasher.write(text.as_bytes());
            return spend(steps_of(text.len()));
        }
        Value::Array(items) => {
            hasher.write_u8(4);
            hasher.write_usize(items.len());
            return spend(1) && items.iter().all(|item| hash(item, state, hasher));
        }
        Value::Object(members) => {
            hasher.write_u8(5);
            hasher.write_usize(members.len());
            // Independent of the order.
            let mut sum = 0_u64;
            let has_steps = members.iter().all(|(name, value)| {
                let mut member = state.build_hasher();
                member.write(name.as_bytes());
                let has_steps = spend(steps_of(name.len())) && hash(value, state, &mut member);
                sum = sum.wrapping_add(member.finish());
                has_steps
            });
            hasher.write_u64(sum);
            return has_steps && spend(1);
        }
    }
    spend(1)
}
