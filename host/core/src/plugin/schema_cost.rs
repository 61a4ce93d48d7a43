//! How much work a schema can make of one value.
//!
//! References let a schema of a few hundred bytes stand for one of billions of nodes (`a` is twice `b`, `b` is twice `c`, and
//! so on), and validating against it would take as long. Its size with every reference written out bounds that work.

use std::collections::HashMap;

use serde_json::Value;

/// The most nodes that a schema may have when its references are written out.
const MAX_NODES: u64 = 1_000_000;

/// Refuses a schema that would be too large when written out.
pub(super) fn check(schema: &Value) -> Result<(), String> {
    let mut named = HashMap::new();
    collect_names(schema, &mut named);
    let mut expansion = Expansion {
        root: schema,
        named,
        sizes: HashMap::new(),
    };
    match expansion.size(schema) {
        nodes if nodes > MAX_NODES => Err(format!(
            "with its references written out it has more than {MAX_NODES} nodes"
        )),
        _ => Ok(()),
    }
}

/// Finds what a reference can name other than by its place.
fn collect_names<'a>(node: &'a Value, named: &mut HashMap<&'a str, &'a Value>) {
    match node {
        Value::Object(members) => {
            for key in ["$id", "$anchor", "$dynamicAnchor"] {
                if let Some(name) = members.get(key).and_then(Value::as_str) {
                    named.insert(name, node);
                }
            }
            members
                .values()
                .for_each(|value| collect_names(value, named));
        }
        Value::Array(items) => items.iter().for_each(|item| collect_names(item, named)),
        _ => {}
    }
}

struct Expansion<'a> {
    root: &'a Value,
    named: HashMap<&'a str, &'a Value>,
    /// Of each node that was counted, by its address; 0 while it is being counted, since the validator
    /// stops where a reference leads back to a node on the way to it.
    sizes: HashMap<*const Value, u64>,
}

impl<'a> Expansion<'a> {
    fn size(&mut self, node: &'a Value) -> u64 {
        if let Some(size) = self.sizes.get(&std::ptr::from_ref(node)) {
            return *size;
        }
        self.sizes.insert(std::ptr::from_ref(node), 0);
        let children: u64 = match node {
            Value::Object(members) => {
                let referred = ["$ref", "$dynamicRef"]
                    .into_iter()
                    .filter_map(|key| self.target(members.get(key)?.as_str()?))
                    .collect::<Vec<_>>();
                // Definitions cost nothing where they stand: only where they are referred to.
                let own = members
                    .iter()
                    .filter(|(key, _)| !matches!(key.as_str(), "$defs" | "definitions"))
                    .map(|(_, value)| value);
                own.chain(referred)
                    .fold(0, |sum, child| sum.saturating_add(self.size(child)))
            }
            Value::Array(items) => items
                .iter()
                .fold(0, |sum: u64, item| sum.saturating_add(self.size(item))),
            _ => 0,
        };
        let size = children.saturating_add(1);
        self.sizes.insert(std::ptr::from_ref(node), size);
        size
    }

    fn target(&self, reference: &str) -> Option<&'a Value> {
        match reference.split_once('#') {
            Some(("", "")) => Some(self.root),
            Some(("", pointer)) if pointer.starts_with('/') => self.root.pointer(pointer),
            Some(("", anchor)) => self.named.get(anchor).copied(),
            Some((id, _)) => self.named.get(id).copied(),
            None => self.named.get(reference).copied(),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Map, json};

    use super::*;

    #[test]
    fn references_that_double_at_each_step_are_refused() {
        let mut definitions = Map::new();
        for level in 0..40 {
            let next = json!({"$ref": format!("#/$defs/l{}", level + 1)});
            definitions.insert(format!("l{level}"), json!({"allOf": [next, next]}));
        }
        definitions.insert("l40".to_owned(), json!({"type": "object"}));
        let schema = json!({"type": "object", "$ref": "#/$defs/l0", "$defs": definitions});
        assert!(check(&schema).unwrap_err().contains("1000000 nodes"));
    }

    #[test]
    fn recursion_and_plain_schemas_are_accepted() {
        for schema in [
            json!({"$ref": "#"}),
            json!({"properties": {"child": {"$ref": "#"}, "next": {"$ref": "#"}}}),
            json!({"$id": "https://example.org/tree", "items": {"$ref": "https://example.org/tree"}}),
            json!({"$defs": {"a": {"$anchor": "a"}}, "properties": {"a": {"$ref": "#a"}}}),
        ] {
            assert_eq!(check(&schema), Ok(()), "{schema}");
        }
    }
}
