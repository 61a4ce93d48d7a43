//! Languages whose grammars ast-grep doesn't have.

use std::ffi::OsStr;
use std::path::Path;

use ast_grep_language::SupportLang;
use tree_sitter_language::LanguageFn;

/// A language that ast-grep doesn't know.
pub(super) struct Other {
    pub parser: LanguageFn,
    /// The canonical name, and other spellings.
    pub spellings: &'static [&'static str],
    /// Endings of file names.
    pub endings: &'static [&'static str],
    /// Whole file names.
    pub files: &'static [&'static str],
    /// A language of ast-grep's that has the same character for metavariables: one that may begin a
    /// name in the language.
    pub metavariables: SupportLang,
    pub has_variables_with_dollars: bool,
    pub has_quoted_metavariables: bool,
    pub is_data: bool,
    pub has_parentheses: bool,
}

impl Other {
    pub fn is_spelled(&self, name: &str) -> bool {
        self.spellings
            .iter()
            .any(|it| it.eq_ignore_ascii_case(name))
    }

    pub fn has_file(&self, path: &Path) -> bool {
        let is_one_of = |names: &[&str], name: Option<&OsStr>| {
            name.and_then(OsStr::to_str)
                .is_some_and(|name| names.contains(&name))
        };
        is_one_of(self.endings, path.extension()) || is_one_of(self.files, path.file_name())
    }
}

/// Returns a programming language whose names may begin with a Greek letter.
const fn program(
    parser: LanguageFn,
    spellings: &'static [&'static str],
    endings: &'static [&'static str],
) -> Other {
    Other {
        parser,
        spellings,
        endings,
        files: &[],
        metavariables: SupportLang::Python,
        has_variables_with_dollars: false,
        has_quoted_metavariables: false,
        is_data: false,
        has_parentheses: true,
    }
}

pub(super) const DOCKERFILE: Other = Other {
    files: &["Dockerfile", "Containerfile"],
    has_variables_with_dollars: true,
    has_parentheses: false,
    ..program(
        tree_sitter_containerfile::LANGUAGE,
        &["dockerfile", "containerfile", "docker"],
        &["dockerfile", "containerfile"],
    )
};

pub(super) const JULIA: Other = program(tree_sitter_julia::LANGUAGE, &["julia", "jl"], &["jl"]);

pub(super) const OCAML: Other = Other {
    // Names have ASCII letters only.
    metavariables: SupportLang::Css,
    ..program(tree_sitter_ocaml::LANGUAGE_OCAML, &["ocaml", "ml"], &["ml"])
};

pub(super) const PROTOBUF: Other = Other {
    metavariables: SupportLang::Css,
    is_data: true,
    has_parentheses: false,
    ..program(
        tree_sitter_proto::LANGUAGE,
        &["protobuf", "proto"],
        &["proto"],
    )
};

pub(super) const SQL: Other = Other {
    metavariables: SupportLang::Css,
    ..program(tree_sitter_sequel::LANGUAGE, &["sql"], &["sql"])
};

pub(super) const TOML: Other = Other {
    has_quoted_metavariables: true,
    is_data: true,
    has_parentheses: false,
    ..program(tree_sitter_toml_ng::LANGUAGE, &["toml"], &["toml"])
};
