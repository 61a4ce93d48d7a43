//! Bounds the cost of a schema before it is used: of compiling it, and per location in a value.
//!
//! The meter counts accesses to a value. Between two accesses, a validator may go through
//! subschemas that apply to the same location (`allOf`, `$ref`, …). So their number, with
//! references expanded, is bounded here, and charged for each location visited. For that, a schema
//! must not refer back to itself at the same location, which would be meaningless anyway.
//! References may double their targets at each step, so all sizes count every reference expanded.

use std::borrow::Cow;
use std::collections::HashMap;

use serde_json::Value;

use super::size::{Size, positions};

/// Maximum number of nodes of a schema with its references expanded.
const MAX_NODES: u64 = 200_000;

/// Maximum total bytes of the paths to all nodes, each from the root of the schema: a validator
/// keeps the path of each keyword. Without this limit, 8,000 subschemas below a member with a name
/// of 100,000 bytes, 212 KB of text, took 2.3 GB.
const MAX_WAY_BYTES: u64 = 16 << 20;

/// Maximum number of subschemas that may apply to one location.
const MAX_IN_PLACE: u64 = 10_000;

/// Maximum depth of a schema through references and parts, and at the same location.
const MAX_DEPTH: usize = 1000;
const MAX_DEPTH_IN_PLACE: usize = 100;

/// Maximum number of patterns of a schema, and their maximum total weight.
const MAX_PATTERNS: usize = 256;
const MAX_PATTERN_WEIGHT: u64 = 100_000;

/// Assumed size of the meta-schemas of the drafts.
const DRAFT: Written = Written {
    nodes: 500,
    way_bytes: 50_000,
};

/// The size of a node with everything below it, references expanded.
#[derive(Debug, Clone, Copy)]
struct Written {
    nodes: u64,
    way_bytes: u64,
}

impl Written {
    const NOTHING: Self = Self {
        nodes: 0,
        way_bytes: 0,
    };

    /// Adds a part below a step whose path segment has this many bytes.
    fn with(self, step: usize, part: Self) -> Self {
        let steps = part.nodes.saturating_mul(step as u64 + 1);
        Self {
            nodes: self.nodes.saturating_add(part.nodes),
            way_bytes: self
                .way_bytes
                .saturating_add(part.way_bytes)
                .saturating_add(steps),
        }
    }
}

/// Upper bounds of the cost of using a schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Cost {
    /// Subschemas that apply to one location.
    pub in_place: u64,
    /// Positions of the heaviest pattern for a text.
    pub pattern: u64,
    /// Positions of all patterns for a member's name.
    pub names: u64,
    /// True if checking divides numbers.
    pub divides: bool,
    pub size: Size,
}

impl Cost {
    pub const NONE: Self = Self {
        in_place: 1,
        pattern: 0,
        names: 0,
        divides: false,
        size: Size {
            nodes: 0,
            patterns: 0,
            positions: 0,
        },
    };

    /// Refuses a schema that would cost too much to compile, or per location in a value.
    ///
    /// # Errors
    /// A clause about the schema.
    pub fn of(schema: &Value) -> Result<Self, String> {
        let mut reader = Reader::new(schema);
        let written = reader.written_out(schema, 0)?;
        if written.nodes > MAX_NODES {
            return Err(format!(
                "with its references expanded it has more than {MAX_NODES} nodes"
            ));
        }
        if written.way_bytes > MAX_WAY_BYTES {
            return Err(format!(
                "with its references expanded the paths to its parts are {} bytes; the limit is {MAX_WAY_BYTES}",
                written.way_bytes
            ));
        }
        let mut cost = Self::NONE;
        let (mut patterns, mut weight) = (0, 0_u64);
        for node in all(schema) {
            cost.size.nodes += 1;
            let Value::Object(members) = node else {
                continue;
            };
            cost.in_place = cost.in_place.max(reader.in_place(node, 0)?);
            cost.divides |= members.get("multipleOf").is_some_and(Value::is_number);
            if let Some(Value::String(pattern)) = members.get("pattern") {
                let positions = positions(pattern);
                cost.pattern = cost.pattern.max(positions);
                (patterns, weight) = (patterns + 1, weight.saturating_add(positions));
            }
            if let Some(Value::Object(by_pattern)) = members.get("patternProperties") {
                for pattern in by_pattern.keys() {
                    let positions = positions(pattern);
                    cost.names = cost.names.saturating_add(positions);
                    (patterns, weight) = (patterns + 1, weight.saturating_add(positions));
                }
            }
        }
        if cost.in_place > MAX_IN_PLACE {
            return Err(format!(
                "more than {MAX_IN_PLACE} of its subschemas apply to one place"
            ));
        }
        if patterns > MAX_PATTERNS {
            return Err(format!(
                "has {patterns} patterns; the limit is {MAX_PATTERNS}"
            ));
        }
        if weight > MAX_PATTERN_WEIGHT {
            return Err(format!(
                "its patterns have {weight} positions with their repetitions expanded; the limit is {MAX_PATTERN_WEIGHT}"
            ));
        }
        cost.size.patterns = patterns as u64;
        cost.size.positions = weight;
        Ok(cost)
    }
}

/// Iterates over every node of a document.
fn all(root: &Value) -> impl Iterator<Item = &Value> {
    let mut left = vec![root];
    std::iter::from_fn(move || {
        let node = left.pop()?;
        left.extend(parts(node));
        Some(node)
    })
}

fn parts<'a>(node: &'a Value) -> Box<dyn Iterator<Item = &'a Value> + 'a> {
    match node {
        Value::Array(items) => Box::new(items.iter()),
        Value::Object(members) => Box::new(members.values()),
        _ => Box::new(std::iter::empty()),
    }
}

/// State of a node's count.
#[derive(Clone, Copy)]
enum Counted {
    Begun,
    Done(u64),
}

struct Reader<'a> {
    /// The document and its nodes with an `$id`, from which a pointer may start. All are tried,
    /// which can only overestimate.
    resources: Vec<&'a Value>,
    anchors: HashMap<&'a str, Vec<&'a Value>>,
    /// Keyed by the nodes' addresses.
    written_out: HashMap<*const Value, Written>,
    in_place: HashMap<*const Value, Counted>,
}

/// The target of a reference.
enum Target<'a> {
    Here(Vec<&'a Value>),
    Draft,
}

impl<'a> Reader<'a> {
    fn new(root: &'a Value) -> Self {
        let mut reader = Self {
            resources: vec![root],
            anchors: HashMap::new(),
            written_out: HashMap::new(),
            in_place: HashMap::new(),
        };
        for node in all(root) {
            let text = |key| node.get(key).and_then(Value::as_str);
            if text("$id").is_some() && !std::ptr::eq(node, root) {
                reader.resources.push(node);
            }
            for anchor in ["$anchor", "$dynamicAnchor"].into_iter().filter_map(text) {
                reader.anchors.entry(anchor).or_default().push(node);
            }
        }
        reader
    }

    /// Returns the size of a node with all references expanded. A reference back to a node being
    /// counted ends there, as in the compiler.
    fn written_out(&mut self, node: &'a Value, depth: usize) -> Result<Written, String> {
        if let Some(written) = self.written_out.get(&std::ptr::from_ref(node)) {
            return Ok(*written);
        }
        if depth > MAX_DEPTH {
            return Err(format!(
                "its references lead more than {MAX_DEPTH} levels deep"
            ));
        }
        self.written_out
            .insert(std::ptr::from_ref(node), Written::NOTHING);
        let mut written = Written {
            nodes: 1,
            way_bytes: 0,
        };
        if let Value::Object(members) = node {
            // Definitions cost nothing themselves, only through references to them.
            let own = members.iter();
            let own = own.filter(|(key, _)| !matches!(key.as_str(), "$defs" | "definitions"));
            for (key, part) in own {
                written = written.with(key.len(), self.written_out(part, depth + 1)?);
            }
            match self.referred(node)? {
                Target::Here(targets) => {
                    for target in targets {
                        written = written.with(4, self.written_out(target, depth + 1)?);
                    }
                }
                Target::Draft => written = written.with(4, DRAFT),
            }
        } else {
            for part in parts(node) {
                written = written.with(5, self.written_out(part, depth + 1)?);
            }
        }
        self.written_out.insert(std::ptr::from_ref(node), written);
        Ok(written)
    }

    /// Returns how many subschemas apply at the location of this one.
    fn in_place(&mut self, node: &'a Value, depth: usize) -> Result<u64, String> {
        match self.in_place.get(&std::ptr::from_ref(node)) {
            Some(Counted::Done(size)) => return Ok(*size),
            Some(Counted::Begun) => {
                return Err("refers back to itself without descending into the value".to_owned());
            }
            None => {}
        }
        if depth > MAX_DEPTH_IN_PLACE {
            return Err(format!(
                "more than {MAX_DEPTH_IN_PLACE} nested subschemas of it apply to one place"
            ));
        }
        self.in_place
            .insert(std::ptr::from_ref(node), Counted::Begun);
        let mut size = 1_u64;
        for key in ["allOf", "anyOf", "oneOf"] {
            for part in node
                .get(key)
                .and_then(Value::as_array)
                .into_iter()
                .flatten()
            {
                size = size.saturating_add(self.in_place(part, depth + 1)?);
            }
        }
        for part in ["not", "if", "then", "else"]
            .into_iter()
            .filter_map(|key| node.get(key))
        {
            size = size.saturating_add(self.in_place(part, depth + 1)?);
        }
        for key in ["dependentSchemas", "dependencies"] {
            let schemas = node.get(key).and_then(Value::as_object);
            for part in schemas.into_iter().flat_map(|schemas| schemas.values()) {
                size = size.saturating_add(self.in_place(part, depth + 1)?);
            }
        }
        match self.referred(node)? {
            Target::Here(targets) => {
                for target in targets {
                    size = size.saturating_add(self.in_place(target, depth + 1)?);
                }
            }
            Target::Draft => size = size.saturating_add(DRAFT.nodes),
        }
        self.in_place
            .insert(std::ptr::from_ref(node), Counted::Done(size));
        Ok(size)
    }

    /// Returns the targets of a node's references.
    fn referred(&self, node: &'a Value) -> Result<Target<'a>, String> {
        let mut targets = Vec::new();
        for key in ["$ref", "$dynamicRef", "$recursiveRef"] {
            let Some(reference) = node.get(key).and_then(Value::as_str) else {
                continue;
            };
            let found = match self.target(reference) {
                Target::Here(found) => found,
                Target::Draft => return Ok(Target::Draft),
            };
            if found.is_empty() {
                return Err(format!("the reference {reference:?} leads nowhere in it"));
            }
            targets.extend(found);
        }
        Ok(Target::Here(targets))
    }

    fn target(&self, reference: &str) -> Target<'a> {
        let (base, fragment) = reference.split_once('#').unwrap_or((reference, ""));
        let draft = ["https://json-schema.org/", "http://json-schema.org/"];
        let resources = self.resources.iter().copied();
        if draft.iter().any(|draft| base.starts_with(draft)) {
            // Unless the document has this name itself.
            let is_here = |it: &&Value| it.get("$id").and_then(Value::as_str) == Some(base);
            if !self.resources.iter().any(is_here) {
                return Target::Draft;
            }
        }
        // A relative name may mean any resource of the document; a full name only those that could
        // have it.
        let may_name = |it: &&Value| {
            let name = it.get("$id").and_then(Value::as_str).unwrap_or_default();
            let name = name.trim_start_matches(['.', '/']).trim_end_matches('#');
            !name.is_empty() && base.ends_with(name)
        };
        if base.contains("://") && !self.resources.iter().any(may_name) {
            return Target::Here(Vec::new());
        }
        let fragment = percent_decoded(fragment);
        Target::Here(match &*fragment {
            "" => resources.collect(),
            pointer if pointer.starts_with('/') => {
                resources.filter_map(|it| it.pointer(pointer)).collect()
            }
            anchor => self.anchors.get(anchor).cloned().unwrap_or_default(),
        })
    }
}

fn percent_decoded(text: &str) -> Cow<'_, str> {
    if !text.contains('%') {
        return text.into();
    }
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, after @ ..] = rest {
        let code = after.get(..2).filter(|_| *first == b'%');
        let code = code.and_then(|code| std::str::from_utf8(code).ok());
        match code.and_then(|code| u8::from_str_radix(code, 16).ok()) {
            Some(byte) => (bytes.push(byte), rest = &after[2..]),
            None => (bytes.push(*first), rest = after),
        };
    }
    String::from_utf8_lossy(&bytes).into_owned().into()
}

#[cfg(test)]
mod tests {
    use serde_json::{Map, json};

    use super::*;

    #[track_caller]
    fn refused(schema: &Value, because: &str) {
        let reason = Cost::of(schema).unwrap_err();
        assert!(reason.contains(because), "{reason}");
    }

    /// Definitions from `l0` to `l{levels}`, each of which refers to the next.
    fn chain(levels: usize, link: impl Fn(Value) -> Value) -> Value {
        let mut definitions = Map::new();
        for level in 0..levels {
            let next = json!({"$ref": format!("#/$defs/l{}", level + 1)});
            definitions.insert(format!("l{level}"), link(next));
        }
        definitions.insert(format!("l{levels}"), json!({"type": "object"}));
        json!({"type": "object", "$ref": "#/$defs/l0", "$defs": definitions})
    }

    #[test]
    fn references_that_double_at_each_step_are_refused() {
        refused(
            &chain(40, |next| json!({"allOf": [next, next]})),
            "200000 nodes",
        );
        let down = |next: Value| json!({"properties": {"a": next, "b": next}});
        refused(&chain(40, down), "200000 nodes");
        refused(
            &chain(13, |next| json!({"allOf": [next, next]})),
            "10000 of its subschemas",
        );
    }

    #[test]
    fn references_that_lead_too_deep_are_refused() {
        refused(
            &chain(2000, |next| json!({"properties": {"a": next}})),
            "1000 levels deep",
        );
        refused(&chain(200, |next| next), "100 nested subschemas");
        assert!(Cost::of(&chain(90, |next| next)).is_ok());
    }

    /// A validator keeps each keyword with its whole path.
    #[test]
    fn many_parts_at_the_end_of_a_long_way_are_refused() {
        let below = |name: &str| json!({"properties": {name: {"prefixItems": vec![json!({"minimum": 0}); 8000]}}});
        refused(&below(&"k".repeat(100_000)), "the paths to its parts are");
        assert!(Cost::of(&below(&"k".repeat(700))).is_ok());
        let way = (0..490).fold(
            json!({}),
            |inner, _| json!({"properties": {"k".repeat(280): inner}}),
        );
        refused(&way, "the paths to its parts are");
    }

    #[test]
    fn what_leads_back_to_itself_in_the_same_place_is_refused() {
        for schema in [
            json!({"$ref": "#"}),
            json!({"anyOf": [{"not": {"$ref": "#/anyOf/0"}}]}),
            json!({"$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"if": {"$ref": "#/$defs/a"}}}, "$ref": "#/$defs/a"}),
            json!({"$dynamicAnchor": "x", "allOf": [{"$dynamicRef": "#x"}]}),
        ] {
            refused(&schema, "refers back to itself");
        }
    }

    #[test]
    fn recursion_and_plain_schemas_are_accepted() {
        for schema in [
            json!({"properties": {"child": {"$ref": "#"}, "next": {"$ref": "#"}}}),
            json!({"$id": "https://example.org/tree", "items": {"$ref": "https://example.org/tree"}}),
            json!({"$defs": {"a": {"$anchor": "a"}}, "properties": {"a": {"$ref": "#a"}}}),
            json!({"$defs": {"a b": {}}, "properties": {"a": {"$ref": "#/$defs/a%20b"}}}),
            json!({"properties": {"schema": {"$ref": "https://json-schema.org/draft/2020-12/schema"}}}),
            json!({"properties": {"not": {"$ref": "#"}, "$ref": {"type": "string"}, "pattern": {"type": "string"}}}),
        ] {
            assert!(
                Cost::of(&schema).is_ok(),
                "{schema}: {:?}",
                Cost::of(&schema)
            );
        }
    }

    #[test]
    fn a_reference_that_leads_nowhere_is_refused() {
        refused(
            &json!({"$ref": "#/$defs/none"}),
            "\"#/$defs/none\" leads nowhere",
        );
    }

    #[test]
    fn patterns_are_weighed_with_their_repetitions_written_out() {
        let check = |pattern, expected: std::ops::RangeInclusive<u64>| {
            let positions = positions(pattern);
            assert!(expected.contains(&positions), "{pattern}: {positions}");
        };
        check("^a-z$", 1..=8);
        check("^[a-z]{1,64}$", 300..=600);
        check("((a{100}){100}){100}", 1_000_000..=1_100_000);
        check("(?=a{1000})", 5000..=1_000_000);
        refused(&json!({"pattern": "((a{100}){100}){100}"}), "positions");
        let many: Map<String, Value> = (0..300).map(|n| (format!("a{n}"), json!({}))).collect();
        refused(
            &json!({"patternProperties": many}),
            "300 patterns; the limit is 256",
        );
    }
}
