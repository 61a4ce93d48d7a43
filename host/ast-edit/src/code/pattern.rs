//! The ops, parsed as code of one language.

use std::sync::Arc;

use ast_grep_core::Matcher as _;
use ast_grep_core::language::Language as _;
use ast_grep_core::matcher::{Pattern, PatternError, PatternNode, kind_utils};
use memchr::memmem::Finder;

use super::Op;
use super::document::Document;
use super::dropped::{Leaves, name_all};
use super::embedded;
use super::grammar::Grammar;
use super::language::Language;
use super::outline::{OpOutline, Outline, Refusal};
use super::parser::ParseFailure;
use super::quoted::with_strings;
use super::selected::{PatternContext, read_selected};
use super::template::{Template, Variables};
use airlock_host::native::Stop;

/// The ops that can be parsed in one language.
pub(crate) struct Ops {
    language: Language,
    ops: Vec<ReadOp>,
    /// The refusals of the other ops, by index.
    pub refused: Vec<(usize, Refusal)>,
    /// These ops in the languages that can be embedded in this one.
    pub(super) embedded: Vec<Ops>,
}

pub(crate) struct ReadOp {
    /// The index in the params, from 0.
    pub index: usize,
    /// The possible readings of its pattern; at least one.
    pub readings: Vec<Reading>,
    pub template: Template,
    /// True if `out` has no syntax error, by itself or in the op's context.
    pub out_is_code: bool,
    /// The names of metavariables for one node.
    metavariables: Vec<String>,
}

/// A pattern, read as one kind of node.
pub(crate) struct Reading {
    pub pattern: Pattern,
    /// The kind of the nodes that it matches.
    kind: u16,
    /// The longest word of the pattern, without which there is no match.
    word: Finder<'static>,
    pub(super) leaves: Leaves,
}

impl Ops {
    pub fn read(ops: &[Op], language: Language, stop: &Arc<Stop>) -> Self {
        let mut read = Vec::new();
        let mut refused = Vec::new();
        for (index, op) in ops.iter().enumerate() {
            match ReadOp::read(index, op, language, stop) {
                Ok(op) => read.push(op),
                Err(refusal) => refused.push((index, refusal)),
            }
        }
        let inner = embedded::languages(language).iter().copied();
        Self {
            language,
            ops: read,
            refused,
            embedded: inner
                .filter_map(Language::named)
                .map(|inner| Self::read(ops, inner, stop))
                .collect(),
        }
    }

    pub fn language(&self) -> Language {
        self.language
    }

    pub fn iter(&self) -> impl Iterator<Item = &ReadOp> {
        self.ops.iter()
    }

    /// Returns the facts about the ops that are known without a parser.
    pub fn outline(&self) -> Outline {
        let mut outlines: Vec<OpOutline> = self.ops.iter().map(ReadOp::outline).collect();
        for op in self.embedded.iter().flat_map(|inner| &inner.ops) {
            // The other language has different names for its nodes.
            let OpOutline { words, .. } = op.outline();
            match outlines
                .iter_mut()
                .find(|outline| outline.index == op.index)
            {
                Some(outline) => outline.words.extend(words),
                None => outlines.push(OpOutline {
                    words,
                    kinds: Vec::new(),
                    ..op.outline()
                }),
            }
        }
        let refused = self.refused.iter();
        let refused = refused.filter(|(index, _)| outlines.iter().all(|op| op.index != *index));
        let refused = refused.cloned().collect();
        Outline::new(self.language, outlines, refused)
    }

    /// Returns whether a source is worth parsing. This check is much faster than parsing.
    pub fn may_match(&self, source: impl AsRef<[u8]>) -> bool {
        let mut readings = self.ops.iter().flat_map(|op| &op.readings);
        readings.any(|reading| reading.may_match(source.as_ref()))
    }
}

impl ReadOp {
    fn read(index: usize, op: &Op, language: Language, stop: &Arc<Stop>) -> Result<Self, Refusal> {
        let refuse = |field: &'static str| move |message| Refusal::new(field, message);
        let whole = op.context.as_deref().unwrap_or(&op.pat);
        let grammar = Grammar::for_pattern(language, whole, stop).map_err(refuse("pat"))?;
        let readings = if op.context.is_some() || op.selector.is_some() {
            vec![read_selected(op, &grammar)?]
        } else {
            read_pattern(&op.pat, &grammar).map_err(refuse("pat"))?
        };
        let mut variables = Variables::default();
        for reading in &readings {
            variables.collect(&reading.pattern.node);
        }
        let template = Template::read(&op.out, language, &variables).map_err(refuse("out"))?;
        let metavariables = variables.single().map(str::to_owned).collect();
        Ok(Self {
            index,
            readings,
            template,
            out_is_code: is_code(op, &grammar),
            metavariables,
        })
    }
}

impl ReadOp {
    fn outline(&self) -> OpOutline {
        let words = self.readings.iter();
        let kinds = self.readings.iter();
        OpOutline {
            index: self.index,
            words: words
                .map(|reading| reading.pattern.fixed_string().into_owned())
                .collect(),
            kinds: kinds.map(|reading| reading.kind).collect(),
            metavariables: self.metavariables.clone(),
        }
    }
}

impl Reading {
    /// Returns `None` if the pattern matches nodes of any kind.
    fn new(pattern: Pattern) -> Option<Self> {
        let kind = pattern.potential_kinds()?.into_iter().next()?;
        Some(Self::of_kind(pattern, u16::try_from(kind).ok()?))
    }

    pub fn of_kind(mut pattern: Pattern, kind: u16) -> Self {
        name_all(&mut pattern.node);
        let word = Finder::new(pattern.fixed_string().as_bytes()).into_owned();
        Self {
            leaves: Leaves::of(&pattern.node),
            pattern,
            kind,
            word,
        }
    }

    /// Returns whether it can match in a source.
    pub fn may_match(&self, source: impl AsRef<[u8]>) -> bool {
        self.word.find(source.as_ref()).is_some()
    }

    /// Returns whether it can match a node of this kind.
    pub fn may_be(&self, kind: u16) -> bool {
        self.kind == kind
    }
}

/// Returns the readings of a text: by itself, and in the places of a file that can hold code of the
/// language.
fn read_pattern(text: &str, grammar: &Grammar) -> Result<Vec<Reading>, String> {
    let code = grammar.pre_process_pattern(text);
    if let Err(why @ ParseFailure::TooDeep(_)) = Document::parse_pattern(&code, grammar.clone()) {
        return Err(format!("{why}; name a smaller piece of code"));
    }
    let alone = read_alone(text, grammar);
    let mut patterns: Vec<Pattern> = alone.iter().cloned().collect();
    if !matches!(&alone, Err(refusal) if refusal == EVERYTHING) {
        for (before, after) in places(grammar.language()) {
            let there = read_at(before, text.trim(), after, grammar);
            patterns.extend(there.filter(|there| !patterns.iter().any(|it| is_same(it, there))));
        }
    }
    if patterns.is_empty() && !matches!(&alone, Err(refusal) if refusal == EVERYTHING) {
        patterns.extend(with_strings(text, grammar));
        let members = members(grammar.language()).iter();
        patterns.extend(
            members.filter_map(|(before, after)| read_at(before, text.trim(), after, grammar)),
        );
    }
    if patterns.is_empty() {
        alone.map(|_| Vec::new())
    } else {
        Ok(patterns.into_iter().filter_map(Reading::new).collect())
    }
}

/// Returns the context of code that is only valid there, such as class members: the text before it
/// and after it.
fn members(language: Language) -> &'static [(&'static str, &'static str)] {
    if language.is_script() {
        &[("class C {\n", "\n}\n")]
    } else {
        &[]
    }
}

pub(super) fn read_alone(text: &str, grammar: &Grammar) -> Result<Pattern, String> {
    let name = grammar.language().name();
    if !grammar.language().opening().is_empty() && !text.trim().is_empty() {
        return match read_at("", text.trim(), "", grammar) {
            Some(pattern) => Ok(pattern),
            None if is_variable(text.trim(), grammar) => Err(EVERYTHING.to_owned()),
            None => Err(format!("it can't be read as {name}: {ERROR_INSIDE}")),
        };
    }
    let pattern = Pattern::try_new(text, grammar.clone()).map_err(|error| match error {
        PatternError::NoContent(_) => "it has no code in it".to_owned(),
        PatternError::MultipleNode(_) => format!(
            "it is more than one piece of code as {name}; give one, or put it in the block that it belongs in"
        ),
        PatternError::RootMultiMetaVar(_) => EVERYTHING.to_owned(),
        error => format!("it can't be read as {name}: {error}"),
    })?;
    if let PatternNode::MetaVar { .. } = pattern.node {
        return Err(EVERYTHING.to_owned());
    }
    if has_error(&pattern.node) {
        return Err(format!("it can't be read as {name}: {ERROR_INSIDE}"));
    }
    Ok(pattern)
}

fn is_variable(text: &str, grammar: &Grammar) -> bool {
    grammar
        .extract_meta_var(&grammar.pre_process_pattern(text))
        .is_some()
}

/// Returns whether a replacement can be parsed: as a file, as a pattern, or in one of the places
/// for code.
fn is_code(op: &Op, grammar: &Grammar) -> bool {
    let parses = |before: &str, after: &str| {
        let [before, out, after] =
            [before, &op.out, after].map(|part| grammar.pre_process_pattern(part));
        let opening = grammar.language().opening();
        let code = format!("{opening}{before}{out}{after}");
        let document = Document::parse_pattern(&code, grammar.clone());
        document.is_ok_and(|document| !document.tree().root_node().has_error())
    };
    let context = op
        .context
        .as_deref()
        .and_then(|context| context.split_once(op.pat.trim()));
    let places = places(grammar.language()).iter().copied();
    let mut places = [("", "")].into_iter().chain(context).chain(places);
    read_alone(&op.out, grammar).is_ok() || places.any(|(before, after)| parses(before, after))
}

/// Returns the contexts in which code has another meaning than at the top of a file: the text
/// before it and after it. Outside of a function, a call in Go is a type conversion and a call in C
/// is a macro. Outside of a class, a field in Java is a variable.
fn places(language: Language) -> &'static [(&'static str, &'static str)] {
    match language.name() {
        "c" => &[("void f(void) {\n", ";\n}\n")],
        "csharp" | "java" => &[("class C {\n", "\n}\n")],
        "css" => &[("a {\n", "\n}\n")],
        "php" => &[("class C {\n", "\n}\n")],
        "dart" => &[("void f() {\n", ";\n}\n")],
        "solidity" => &[("contract C { function f() public {\n", ";\n} }\n")],
        "go" => &[("package p\n\nfunc f() {\n", "\n}\n")],
        "json" => &[("{\n", "\n}\n")],
        _ => &[],
    }
}

/// Returns `None` if the text is not valid in that context.
pub(super) fn read_at(before: &str, text: &str, after: &str, grammar: &Grammar) -> Option<Pattern> {
    let (document, range) = PatternContext {
        before,
        text,
        after,
    }
    .parse(grammar)
    .ok()?;
    let root = document.into_root();
    let root = root.root();
    let node = root.dfs().filter(|node| node.range() == range).last()?;
    let pattern = Pattern::from(node);
    let is_code = !has_error(&pattern.node) && !matches!(pattern.node, PatternNode::MetaVar { .. });
    is_code.then_some(pattern)
}

fn is_same(one: &Pattern, other: &Pattern) -> bool {
    fn is_same_node(one: &PatternNode, other: &PatternNode) -> bool {
        match (one, other) {
            (PatternNode::MetaVar { meta_var: one }, PatternNode::MetaVar { meta_var: other }) => {
                one == other
            }
            (
                PatternNode::Terminal {
                    text: one,
                    kind_id: kind,
                    ..
                },
                PatternNode::Terminal {
                    text: other,
                    kind_id,
                    ..
                },
            ) => kind == kind_id && one == other,
            (
                PatternNode::Internal {
                    kind_id: kind,
                    children: one,
                },
                PatternNode::Internal {
                    kind_id,
                    children: other,
                },
            ) => {
                let mut pairs = one.iter().zip(other);
                kind == kind_id
                    && one.len() == other.len()
                    && pairs.all(|(one, other)| is_same_node(one, other))
            }
            _ => false,
        }
    }
    is_same_node(&one.node, &other.node)
}

pub(crate) const EVERYTHING: &str =
    "it is only a metavariable, which matches everything; make it more specific";

pub(crate) const ERROR_INSIDE: &str = "it has a syntax error; give a complete expression, statement or declaration, or say with `context` where it stands";

pub(crate) fn has_error(node: &PatternNode) -> bool {
    match node {
        PatternNode::MetaVar { .. } => false,
        PatternNode::Terminal { kind_id, .. } => kind_utils::is_error_kind(*kind_id),
        PatternNode::Internal { kind_id, children } => {
            kind_utils::is_error_kind(*kind_id) || children.iter().any(has_error)
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(lang: &str, pat: &str, out: &str) -> Result<(), Refusal> {
        let op = Op {
            pat: pat.to_owned(),
            out: out.to_owned(),
            selector: None,
            context: None,
        };
        ReadOp::read(0, &op, Language::named(lang).unwrap(), &stop()).map(drop)
    }

    fn stop() -> Arc<Stop> {
        Arc::new(Stop::after(std::time::Duration::from_secs(3600)))
    }

    #[test]
    fn what_is_no_single_piece_of_code_is_refused() {
        let check = |lang: &str, pat: &str, why: &str| {
            let refusal = read(lang, pat, "x").unwrap_err();
            assert_eq!(refusal.field, "pat", "{pat}");
            assert!(refusal.message.contains(why), "{pat}: {}", refusal.message);
        };
        check("rust", " ", "no code");
        check("rust", "$A", "matches everything");
        check("rust", "$$$A", "matches everything");
        check("rust", "$$$", "matches everything");
        check("rust", "fn {", "syntax error");
        check("rust", "foo($A) +", "syntax error");
        check("python", "def def def", "as python");
        check("rust", "a(); b();", "more than one piece");
        check("json", "fn main() {}", "as json");
        let deep = |open: &str, close: &str| format!("{}1{}", open.repeat(300), close.repeat(300));
        check("rust", &deep("(", ")"), "nested more than 200 deep");
        check("javascript", &deep("[", "]"), "nested more than 200 deep");
    }

    #[test]
    fn out_may_use_what_pat_binds() {
        let check = |pat, out, refused: Option<&str>| {
            let refusal = read("rust", pat, out).err();
            assert_eq!(
                refusal.as_ref().map(|refusal| refusal.message.as_str()),
                refused,
                "{pat} -> {out}"
            );
        };
        check("foo($A)", "bar($A)", None);
        check("foo($$$A)", "bar($$$A)", None);
        check("foo($A)", "costs $5 and $a", None);
        check("foo($_)", "bar()", None);
        check(
            "foo($A)",
            "bar($B)",
            Some("it uses `$B`, which `pat` doesn't have"),
        );
        check(
            "foo($_)",
            "bar($_)",
            Some("it uses `$_`, which `pat` doesn't have"),
        );
        check(
            "foo($$$A)",
            "bar($A)",
            Some("it uses `$A`, and `pat` has `$$$A`; write it the same way"),
        );
        check(
            "foo($A)",
            "bar($$$A)",
            Some("it uses `$$$A`, and `pat` has `$A`; write it the same way"),
        );
    }

    #[test]
    fn code_means_also_what_it_means_in_its_place() {
        let readings = |lang, pat| {
            let grammar = Grammar::new(Language::named(lang).unwrap(), &stop());
            read_pattern(pat, &grammar).unwrap().len()
        };
        assert_eq!(readings("go", "p.f($A)"), 2);
        assert_eq!(readings("go", "p.f($A, $B)"), 1);
        assert_eq!(readings("c", "f($A)"), 2);
        assert_eq!(readings("java", "int x = 1;"), 2);
        assert_eq!(readings("rust", "f($A)"), 1);
    }

    proptest! {
        #[test]
        fn no_pattern_makes_the_reader_panic(lang in 0..crate::code::language::COUNT, pat in "\\PC{0,40}") {
            let names = crate::code::language::names();
            let lang = names.split(", ").nth(lang).unwrap();
            let _ = read(lang, &pat, "x");
        }
    }
}
