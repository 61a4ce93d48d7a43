//! The supported languages.

use std::path::Path;

use ast_grep_language::{Language as _, LanguageExt as _, SupportLang};

/// All languages with their canonical names. The other spellings that ast-grep knows are accepted
/// too.
const ALL: &[(SupportLang, &str)] = &[
    (SupportLang::Bash, "bash"),
    (SupportLang::C, "c"),
    (SupportLang::Cpp, "cpp"),
    (SupportLang::CSharp, "csharp"),
    (SupportLang::Css, "css"),
    #[cfg(feature = "more-languages")]
    (SupportLang::Dart, "dart"),
    #[cfg(feature = "more-languages")]
    (SupportLang::Elixir, "elixir"),
    (SupportLang::Go, "go"),
    #[cfg(feature = "more-languages")]
    (SupportLang::Haskell, "haskell"),
    #[cfg(feature = "more-languages")]
    (SupportLang::Hcl, "hcl"),
    (SupportLang::Html, "html"),
    (SupportLang::Java, "java"),
    (SupportLang::JavaScript, "javascript"),
    (SupportLang::Json, "json"),
    #[cfg(feature = "more-languages")]
    (SupportLang::Kotlin, "kotlin"),
    #[cfg(feature = "more-languages")]
    (SupportLang::Lua, "lua"),
    #[cfg(feature = "more-languages")]
    (SupportLang::Markdown, "markdown"),
    #[cfg(feature = "more-languages")]
    (SupportLang::Nix, "nix"),
    (SupportLang::Php, "php"),
    (SupportLang::Python, "python"),
    (SupportLang::Ruby, "ruby"),
    (SupportLang::Rust, "rust"),
    #[cfg(feature = "more-languages")]
    (SupportLang::Scala, "scala"),
    #[cfg(feature = "more-languages")]
    (SupportLang::Solidity, "solidity"),
    #[cfg(feature = "more-languages")]
    (SupportLang::Swift, "swift"),
    (SupportLang::Tsx, "tsx"),
    (SupportLang::TypeScript, "typescript"),
    (SupportLang::Yaml, "yaml"),
    #[cfg(feature = "more-languages")]
    (SupportLang::Zig, "zig"),
];

/// The number of languages.
pub(crate) const COUNT: usize = ALL.len();

/// A language whose grammar is part of this program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Language(usize);

impl Language {
    /// Returns the language with this name, such as `rust`, or another spelling of it, such as
    /// `rs`.
    pub fn named(name: &str) -> Option<Self> {
        Self::of(name.parse().ok()?)
    }

    /// Returns the language of a file, by its name.
    pub fn of_file(path: &Path) -> Option<Self> {
        let ending = path.extension().and_then(std::ffi::OsStr::to_str);
        match ending {
            // Vue and Svelte components are HTML with scripts and styles.
            Some("vue" | "svelte") => Self::of(SupportLang::Html),
            _ => Self::of(SupportLang::from_path(path)?),
        }
    }

    /// Returns all languages, by index.
    pub fn all() -> impl Iterator<Item = Self> {
        (0..COUNT).map(Self)
    }

    fn of(grammar: SupportLang) -> Option<Self> {
        let mut all = ALL.iter();
        all.position(|(known, _)| *known == grammar).map(Self)
    }

    pub fn name(self) -> &'static str {
        ALL[self.0].1
    }

    /// Returns the index, which is less than [`COUNT`].
    pub fn index(self) -> usize {
        self.0
    }

    pub fn grammar(self) -> SupportLang {
        ALL[self.0].0
    }

    /// Returns the parser. PHP is parsed with the text around it, as in files, which ast-grep's PHP
    /// grammar doesn't support.
    pub fn parser(self) -> tree_sitter::Language {
        match self.grammar() {
            SupportLang::Php => tree_sitter_php::LANGUAGE_PHP.into(),
            known => known.get_ts_language(),
        }
    }

    /// Returns the text that must precede code at the start of a file.
    pub fn opening(self) -> &'static str {
        match self.grammar() {
            SupportLang::Php => "<?php\n",
            _ => "",
        }
    }

    /// Returns whether the language's own variables start with the sign of metavariables.
    pub fn has_variables_with_dollars(self) -> bool {
        matches!(self.grammar(), SupportLang::Bash | SupportLang::Php)
    }

    /// Returns whether the language is JavaScript or includes it.
    pub fn is_script(self) -> bool {
        matches!(
            self.grammar(),
            SupportLang::JavaScript | SupportLang::Tsx | SupportLang::TypeScript
        )
    }

    /// Returns whether the language is for data or documents. Patterns for programs are rarely
    /// meant for it.
    pub fn is_data(self) -> bool {
        matches!(
            self.grammar(),
            SupportLang::Css
                | SupportLang::Hcl
                | SupportLang::Html
                | SupportLang::Json
                | SupportLang::Markdown
                | SupportLang::Yaml
        )
    }

    /// Returns whether parentheses around an expression only group it.
    pub fn has_parentheses(self) -> bool {
        !matches!(
            self.grammar(),
            SupportLang::Bash
                | SupportLang::Css
                | SupportLang::Html
                | SupportLang::Json
                | SupportLang::Yaml
        )
    }

    /// Returns the name of a node kind.
    pub fn kind_name(self, kind: u16) -> String {
        let parser = self.parser();
        parser.node_kind_for_id(kind).unwrap_or_default().to_owned()
    }
}

/// Returns all names, for a message.
pub(crate) fn names() -> String {
    let names: Vec<&str> = ALL.iter().map(|(_, name)| *name).collect();
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
        for (language, name) in ALL {
            assert!(language.get_ts_language().node_kind_count() > 0, "{name}");
        }
        for name in ["cobol", ""] {
            assert_eq!(Language::named(name), None, "{name}");
        }
        let has_more = cfg!(feature = "more-languages");
        for file in ["a.kt", "a.swift", "a.lua", "a.zig", "main.tf"] {
            assert_eq!(
                Language::of_file(Path::new(file)).is_some(),
                has_more,
                "{file}"
            );
        }
        assert_eq!(Language::of_file(Path::new("Makefile")), None);
    }
}
