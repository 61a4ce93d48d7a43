//! The supported languages.

#[cfg(feature = "more-languages")]
mod others;

use std::path::Path;

use ast_grep_language::{Language as _, LanguageExt as _, SupportLang};

/// The languages with their canonical names. The other spellings that ast-grep knows are accepted
/// too.
const ALL: &[(&str, Syntax)] = &[
    ("bash", Syntax::AstGrep(SupportLang::Bash)),
    ("c", Syntax::AstGrep(SupportLang::C)),
    ("cpp", Syntax::AstGrep(SupportLang::Cpp)),
    ("csharp", Syntax::AstGrep(SupportLang::CSharp)),
    ("css", Syntax::AstGrep(SupportLang::Css)),
    #[cfg(feature = "more-languages")]
    ("dart", Syntax::AstGrep(SupportLang::Dart)),
    #[cfg(feature = "more-languages")]
    ("dockerfile", Syntax::Other(&others::DOCKERFILE)),
    #[cfg(feature = "more-languages")]
    ("elixir", Syntax::AstGrep(SupportLang::Elixir)),
    ("go", Syntax::AstGrep(SupportLang::Go)),
    #[cfg(feature = "more-languages")]
    ("haskell", Syntax::AstGrep(SupportLang::Haskell)),
    #[cfg(feature = "more-languages")]
    ("hcl", Syntax::AstGrep(SupportLang::Hcl)),
    ("html", Syntax::AstGrep(SupportLang::Html)),
    ("java", Syntax::AstGrep(SupportLang::Java)),
    ("javascript", Syntax::AstGrep(SupportLang::JavaScript)),
    ("json", Syntax::AstGrep(SupportLang::Json)),
    #[cfg(feature = "more-languages")]
    ("julia", Syntax::Other(&others::JULIA)),
    #[cfg(feature = "more-languages")]
    ("kotlin", Syntax::AstGrep(SupportLang::Kotlin)),
    #[cfg(feature = "more-languages")]
    ("lua", Syntax::AstGrep(SupportLang::Lua)),
    #[cfg(feature = "more-languages")]
    ("markdown", Syntax::AstGrep(SupportLang::Markdown)),
    #[cfg(feature = "more-languages")]
    ("nix", Syntax::AstGrep(SupportLang::Nix)),
    #[cfg(feature = "more-languages")]
    ("ocaml", Syntax::Other(&others::OCAML)),
    ("php", Syntax::AstGrep(SupportLang::Php)),
    #[cfg(feature = "more-languages")]
    ("protobuf", Syntax::Other(&others::PROTOBUF)),
    ("python", Syntax::AstGrep(SupportLang::Python)),
    ("ruby", Syntax::AstGrep(SupportLang::Ruby)),
    ("rust", Syntax::AstGrep(SupportLang::Rust)),
    #[cfg(feature = "more-languages")]
    ("scala", Syntax::AstGrep(SupportLang::Scala)),
    #[cfg(feature = "more-languages")]
    ("solidity", Syntax::AstGrep(SupportLang::Solidity)),
    #[cfg(feature = "more-languages")]
    ("sql", Syntax::Other(&others::SQL)),
    #[cfg(feature = "more-languages")]
    ("swift", Syntax::AstGrep(SupportLang::Swift)),
    #[cfg(feature = "more-languages")]
    ("toml", Syntax::Other(&others::TOML)),
    ("tsx", Syntax::AstGrep(SupportLang::Tsx)),
    ("typescript", Syntax::AstGrep(SupportLang::TypeScript)),
    ("yaml", Syntax::AstGrep(SupportLang::Yaml)),
    #[cfg(feature = "more-languages")]
    ("zig", Syntax::AstGrep(SupportLang::Zig)),
];

/// The source of a language's grammar and properties.
#[derive(Clone, Copy)]
enum Syntax {
    AstGrep(SupportLang),
    #[cfg(feature = "more-languages")]
    Other(&'static others::Other),
}

/// The number of languages.
pub(crate) const COUNT: usize = ALL.len();

/// A language whose grammar is part of this program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Language(usize);

impl Language {
    /// Returns the language with this name, such as `rust`, or another spelling of it, such as
    /// `rs`.
    pub fn named(name: &str) -> Option<Self> {
        let known: Option<SupportLang> = name.parse().ok();
        Self::find(|syntax| match syntax {
            Syntax::AstGrep(language) => known == Some(language),
            #[cfg(feature = "more-languages")]
            Syntax::Other(other) => other.is_spelled(name),
        })
    }

    /// Returns the language of a file, by its name.
    pub fn of_file(path: &Path) -> Option<Self> {
        let ending = path.extension().and_then(std::ffi::OsStr::to_str);
        let known = match ending {
            // Vue and Svelte components are HTML with scripts and styles.
            Some("vue" | "svelte") => Some(SupportLang::Html),
            _ => SupportLang::from_path(path),
        };
        Self::find(|syntax| match syntax {
            Syntax::AstGrep(language) => known == Some(language),
            #[cfg(feature = "more-languages")]
            Syntax::Other(other) => other.has_file(path),
        })
    }

    fn find(is_it: impl Fn(Syntax) -> bool) -> Option<Self> {
        let mut all = ALL.iter();
        all.position(|(_, syntax)| is_it(*syntax)).map(Self)
    }

    pub fn name(self) -> &'static str {
        ALL[self.0].0
    }

    /// Returns the index, which is less than [`COUNT`].
    pub fn index(self) -> usize {
        self.0
    }

    /// Returns ast-grep's language, unless ast-grep doesn't have it.
    fn known(self) -> Option<SupportLang> {
        match ALL[self.0].1 {
            Syntax::AstGrep(language) => Some(language),
            #[cfg(feature = "more-languages")]
            Syntax::Other(_) => None,
        }
    }

    /// Returns the language of ast-grep's that reads metavariables in the same way.
    pub fn metavariables(self) -> SupportLang {
        match ALL[self.0].1 {
            Syntax::AstGrep(language) => language,
            #[cfg(feature = "more-languages")]
            Syntax::Other(other) => other.metavariables,
        }
    }

    /// Returns the parser. PHP is parsed with the text around it, as in files, which ast-grep's PHP
    /// grammar doesn't support.
    pub fn parser(self) -> tree_sitter::Language {
        match ALL[self.0].1 {
            Syntax::AstGrep(SupportLang::Php) => tree_sitter_php::LANGUAGE_PHP.into(),
            Syntax::AstGrep(language) => language.get_ts_language(),
            #[cfg(feature = "more-languages")]
            Syntax::Other(other) => other.parser.into(),
        }
    }

    /// Returns the text that must precede code at the start of a file.
    pub fn opening(self) -> &'static str {
        match self.known() {
            Some(SupportLang::Php) => "<?php\n",
            _ => "",
        }
    }

    /// Returns whether the language's own variables start with the sign of metavariables.
    pub fn has_variables_with_dollars(self) -> bool {
        match ALL[self.0].1 {
            Syntax::AstGrep(language) => matches!(language, SupportLang::Bash | SupportLang::Php),
            #[cfg(feature = "more-languages")]
            Syntax::Other(other) => other.has_variables_with_dollars,
        }
    }

    /// Returns whether metavariables are in the places of the language's strings, because it has no
    /// bare names.
    pub fn has_quoted_metavariables(self) -> bool {
        match ALL[self.0].1 {
            Syntax::AstGrep(_) => false,
            #[cfg(feature = "more-languages")]
            Syntax::Other(other) => other.has_quoted_metavariables,
        }
    }

    /// Returns whether the language is JavaScript or includes it.
    pub fn is_script(self) -> bool {
        use SupportLang::{JavaScript, Tsx, TypeScript};
        matches!(self.known(), Some(JavaScript | Tsx | TypeScript))
    }

    /// Returns whether the language is for data or documents. Patterns for programs are rarely
    /// meant for it.
    pub fn is_data(self) -> bool {
        use SupportLang::{Css, Hcl, Html, Json, Markdown, Yaml};
        match ALL[self.0].1 {
            Syntax::AstGrep(language) => {
                matches!(language, Css | Hcl | Html | Json | Markdown | Yaml)
            }
            #[cfg(feature = "more-languages")]
            Syntax::Other(other) => other.is_data,
        }
    }

    /// Returns whether parentheses around an expression only group it.
    pub fn has_parentheses(self) -> bool {
        use SupportLang::{Bash, Css, Html, Json, Yaml};
        match ALL[self.0].1 {
            Syntax::AstGrep(language) => !matches!(language, Bash | Css | Html | Json | Yaml),
            #[cfg(feature = "more-languages")]
            Syntax::Other(other) => other.has_parentheses,
        }
    }

    /// Returns the name of a node kind.
    pub fn kind_name(self, kind: u16) -> String {
        let parser = self.parser();
        parser.node_kind_for_id(kind).unwrap_or_default().to_owned()
    }
}

/// Returns all names, for a message.
pub(crate) fn names() -> String {
    let names: Vec<&str> = ALL.iter().map(|(name, _)| *name).collect();
    names.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_language_goes_by_its_name_its_other_spellings_and_its_files() {
        let check = |name: &str, file: &str, expected: &str| {
            assert_eq!(Language::named(name).unwrap().name(), expected, "{name}");
            let of_file = Language::of_file(Path::new(file)).unwrap();
            assert_eq!(of_file.name(), expected, "{file}");
        };
        check("rust", "src/lib.rs", "rust");
        check("rs", "build.rs", "rust");
        check("TS", "a.mts", "typescript");
        check("tsx", "a.tsx", "tsx");
        check("c++", "a.cc", "cpp");
        check("cs", "a.cs", "csharp");
        check("golang", "main.go", "go");
        check("html", "App.vue", "html");
        check("html", "App.svelte", "html");
        check("yml", ".github/workflows/ci.yaml", "yaml");
    }

    /// ast-grep knows more languages than this program has grammars for, and would panic.
    #[test]
    fn every_language_has_its_grammar_and_no_other_is_known() {
        for language in (0..COUNT).map(Language) {
            let name = language.name();
            assert!(language.parser().node_kind_count() > 0, "{name}");
            assert_eq!(Language::named(name), Some(language));
        }
        for name in ["cobol", ""] {
            assert_eq!(Language::named(name), None, "{name}");
        }
        let has_more = cfg!(feature = "more-languages");
        for file in [
            "a.kt",
            "a.swift",
            "a.lua",
            "a.zig",
            "main.tf",
            "Dockerfile",
            "web.dockerfile",
            "a.jl",
            "a.ml",
            "a.proto",
            "a.sql",
            "Cargo.toml",
        ] {
            assert_eq!(
                Language::of_file(Path::new(file)).is_some(),
                has_more,
                "{file}"
            );
        }
        assert_eq!(Language::of_file(Path::new("Makefile")), None);
    }
}
