//! The ops, read as code of one language.

use std::borrow::Cow;
use std::collections::BTreeSet;

use ast_grep_core::matcher::{Pattern, PatternError, PatternNode, kind_utils};
use ast_grep_core::meta_var::MetaVariable;
use ast_grep_core::replacer::TemplateFix;
use ast_grep_core::tree_sitter::StrDoc;
use ast_grep_language::{Language as _, LanguageExt as _};
use memchr::memmem::Finder;

use super::language::Language;
use super::params::Op;

/// How deep the nodes of a pattern may lie inside each other. Deeper ones are no code that somebody wrote, and matching them recurses.
const MAX_DEPTH: u32 = 200;

/// The ops that can be read in one language.
pub(super) struct Ops {
    language: Language,
    ops: Vec<ReadOp>,
    /// Why the others can't, by their index.
    pub refused: Vec<(usize, Refusal)>,
}

pub(super) struct ReadOp {
    /// Counted from 0, in the params.
    pub index: usize,
    /// What its pattern may mean; at least one.
    pub readings: Vec<Reading>,
    pub template: TemplateFix,
}

/// A pattern as one kind of node.
pub(super) struct Reading {
    pub pattern: Pattern,
    /// The longest word of the pattern, without which there is no match.
    word: Finder<'static>,
}

/// Why an op can't be done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Refusal {
    /// `pat` or `out`.
    pub field: &'static str,
    pub message: String,
}

impl Ops {
    pub fn read(ops: &[Op], language: Language) -> Self {
        let mut read = Vec::new();
        let mut refused = Vec::new();
        for (index, op) in ops.iter().enumerate() {
            match ReadOp::read(index, op, language) {
                Ok(op) => read.push(op),
                Err(refusal) => refused.push((index, refusal)),
            }
        }
        Self {
            language,
            ops: read,
            refused,
        }
    }

    pub fn language(&self) -> Language {
        self.language
    }

    pub fn is_empty(&self) -> bool {
        self.ops.is_empty()
    }

    pub fn iter(&self) -> impl Iterator<Item = &ReadOp> {
        self.ops.iter()
    }

    /// Whether it is worth while to parse the source: not parsing is much quicker.
    pub fn may_match(&self, source: impl AsRef<[u8]>) -> bool {
        let mut readings = self.ops.iter().flat_map(|op| &op.readings);
        readings.any(|reading| reading.word.find(source.as_ref()).is_some())
    }
}

impl ReadOp {
    fn read(index: usize, op: &Op, language: Language) -> Result<Self, Refusal> {
        let refuse = |field| move |message| Refusal { field, message };
        let readings = read_pattern(&op.pat, language).map_err(refuse("pat"))?;
        let mut variables = Variables::default();
        for reading in &readings {
            variables.collect(&reading.pattern.node);
        }
        check_template(&op.out, &variables).map_err(refuse("out"))?;
        let Ok(template) = TemplateFix::try_new(&op.out, &language.grammar());
        Ok(Self {
            index,
            readings,
            template,
        })
    }
}

impl Reading {
    fn new(pattern: Pattern) -> Self {
        let word = Finder::new(pattern.fixed_string().as_bytes()).into_owned();
        Self { pattern, word }
    }
}

/// What the text means by itself, and what it means where it may stand in a file of the language.
fn read_pattern(text: &str, language: Language) -> Result<Vec<Reading>, String> {
    if depth(&language.grammar().pre_process_pattern(text), language) > MAX_DEPTH {
        return Err(format!(
            "it is nested more than {MAX_DEPTH} deep; name a smaller piece of code"
        ));
    }
    let alone = read_alone(text, language);
    let mut patterns: Vec<Pattern> = alone.iter().cloned().collect();
    if !matches!(&alone, Err(refusal) if refusal == EVERYTHING) {
        for place in places(language) {
            let there = read_at(place, text, language);
            patterns.extend(there.filter(|there| !patterns.iter().any(|it| is_same(it, there))));
        }
    }
    match patterns.is_empty() {
        true => alone.map(|_| Vec::new()),
        false => Ok(patterns.into_iter().map(Reading::new).collect()),
    }
}

fn read_alone(text: &str, language: Language) -> Result<Pattern, String> {
    let (grammar, name) = (language.grammar(), language.name());
    let pattern = Pattern::try_new(text, grammar).map_err(|error| match error {
        PatternError::NoContent(_) => "it has no code in it".to_owned(),
        PatternError::MultipleNode(_) => format!(
            "it is more than one piece of code as {name}; give one, or put it in the block that it stands in"
        ),
        PatternError::RootMultiMetaVar(_) => EVERYTHING.to_owned(),
        error => format!("it can't be read as {name}: {error}"),
    })?;
    if let PatternNode::MetaVar { .. } = pattern.node {
        return Err(EVERYTHING.to_owned());
    }
    if has_error(&pattern.node) {
        return Err(format!(
            "it can't be read as {name}: there is an error of syntax in it; give a complete expression, statement or declaration"
        ));
    }
    Ok(pattern)
}

/// Where code stands that means something else at the top of a file: what comes before it there, and after. A call in Go is a conversion of
/// types outside of a function, one in C a macro, and a field in Java a variable outside of a class.
fn places(language: Language) -> &'static [(&'static str, &'static str)] {
    match language.name() {
        "c" => &[("void f(void) {\n", ";\n}\n")],
        "csharp" | "java" => &[("class C {\n", "\n}\n")],
        "css" => &[("a {\n", "\n}\n")],
        "go" => &[("package p\n\nfunc f() {\n", "\n}\n")],
        "json" => &[("{\n", "\n}\n")],
        _ => &[],
    }
}

/// None where it is nothing there.
fn read_at(place: &(&str, &str), text: &str, language: Language) -> Option<Pattern> {
    let grammar = language.grammar();
    let code = grammar.pre_process_pattern(text.trim());
    let (before, after) = place;
    let document = grammar.ast_grep(format!("{before}{code}{after}"));
    let range = before.len()..before.len() + code.len();
    let root = document.root();
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

const EVERYTHING: &str =
    "it is nothing but a metavariable, which matches everything; say more about what is meant";

fn has_error(node: &PatternNode) -> bool {
    match node {
        PatternNode::MetaVar { .. } => false,
        PatternNode::Terminal { kind_id, .. } => kind_utils::is_error_kind(*kind_id),
        PatternNode::Internal { kind_id, children } => {
            kind_utils::is_error_kind(*kind_id) || children.iter().any(has_error)
        }
    }
}

fn depth(text: &str, language: Language) -> u32 {
    let Ok(document) = StrDoc::try_new(text, language.grammar()) else {
        return 0;
    };
    let mut cursor = document.tree.walk();
    let mut deepest = 0;
    loop {
        deepest = deepest.max(cursor.depth());
        if cursor.goto_first_child() || cursor.goto_next_sibling() {
            continue;
        }
        loop {
            if !cursor.goto_parent() {
                return deepest;
            }
            if cursor.goto_next_sibling() {
                break;
            }
        }
    }
}

/// The metavariables that a pattern binds.
#[derive(Default)]
struct Variables<'a> {
    single: BTreeSet<Cow<'a, str>>,
    multiple: BTreeSet<Cow<'a, str>>,
}

impl<'a> Variables<'a> {
    fn collect(&mut self, node: &'a PatternNode) {
        match node {
            PatternNode::Terminal { .. } => {}
            PatternNode::Internal { children, .. } => {
                for child in children {
                    self.collect(child);
                }
            }
            PatternNode::MetaVar { meta_var } => match meta_var {
                MetaVariable::Capture(name, _) => {
                    self.single.insert(name.as_str().into());
                }
                MetaVariable::MultiCapture(name) => {
                    self.multiple.insert(name.as_str().into());
                }
                MetaVariable::Dropped(_) | MetaVariable::Multiple => {}
            },
        }
    }
}

/// A template may use what its pattern binds, in the way in which it is bound.
fn check_template(template: &str, variables: &Variables<'_>) -> Result<(), String> {
    for (dollars, name) in used_in(template) {
        let (here, other) = match dollars {
            3 => (&variables.multiple, &variables.single),
            _ => (&variables.single, &variables.multiple),
        };
        if here.contains(name) {
            continue;
        }
        let used = format!("{}{name}", "$".repeat(dollars));
        let there = if dollars == 3 { "$" } else { "$$$" };
        return Err(match other.contains(name) {
            true => format!("it uses `{used}`, and `pat` has `{there}{name}`; write it as there"),
            false => format!("it uses `{used}`, which `pat` doesn't have"),
        });
    }
    Ok(())
}

/// The metavariables of a template, each with the number of its dollar signs, by the rules of [`TemplateFix`].
fn used_in(template: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut rest = template;
    std::iter::from_fn(move || {
        loop {
            rest = &rest[rest.find('$')?..];
            let dollars = rest
                .bytes()
                .take(3)
                .take_while(|byte| *byte == b'$')
                .count();
            let name = &rest[dollars..];
            let is_name = |c: char| matches!(c, 'A'..='Z' | '_' | '0'..='9');
            let length = name.find(|c| !is_name(c)).unwrap_or(name.len());
            let starts = name.starts_with(|c| matches!(c, 'A'..='Z' | '_'));
            if length > 0 && starts {
                rest = &name[length..];
                return Some((dollars, &name[..length]));
            }
            // Only the first of these dollar signs is certain to begin none.
            rest = &rest[1..];
        }
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(lang: &str, pat: &str, out: &str) -> Result<(), Refusal> {
        let op = Op {
            pat: pat.to_owned(),
            out: out.to_owned(),
        };
        ReadOp::read(0, &op, Language::named(lang).unwrap()).map(drop)
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
        check("rust", "fn {", "error of syntax");
        check("rust", "foo($A) +", "error of syntax");
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
            Some("it uses `$A`, and `pat` has `$$$A`; write it as there"),
        );
        check(
            "foo($A)",
            "bar($$$A)",
            Some("it uses `$$$A`, and `pat` has `$A`; write it as there"),
        );
    }

    #[test]
    fn code_means_also_what_it_means_in_its_place() {
        let readings = |lang, pat| {
            let language = Language::named(lang).unwrap();
            read_pattern(pat, language).unwrap().len()
        };
        assert_eq!(readings("go", "p.f($A)"), 2);
        assert_eq!(readings("go", "p.f($A, $B)"), 1);
        assert_eq!(readings("c", "f($A)"), 2);
        assert_eq!(readings("java", "int x = 1;"), 2);
        assert_eq!(readings("rust", "f($A)"), 1);
    }

    proptest! {
        /// Else what is checked is not what is replaced.
        #[test]
        fn the_variables_of_a_template_are_those_that_the_library_finds(template in "[$A-C_1a ]{0,12}") {
            let grammar = Language::named("rust").unwrap().grammar();
            let Ok(fix) = TemplateFix::try_new(&template, &grammar);
            let theirs: BTreeSet<&str> = fix.used_vars().into_iter().collect();
            let ours: BTreeSet<&str> = used_in(&template).map(|(_, name)| name).collect();
            prop_assert_eq!(ours, theirs);
        }

        #[test]
        fn no_pattern_makes_the_reader_panic(lang in 0..super::super::language::COUNT, pat in "\\PC{0,40}") {
            let names = super::super::language::names();
            let lang = names.split(", ").nth(lang).unwrap();
            let _ = read(lang, &pat, "x");
        }
    }
}
