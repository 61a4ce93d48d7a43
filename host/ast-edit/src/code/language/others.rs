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

/// What most languages have in common.
const PROGRAM: Other = Other {
    parser: tree_sitter_sequel::LANGUAGE,
    spellings: &[],
    endings: &[],
    files: &[],
    // Its character is a Greek letter.
    metavariables: SupportLang::Python,
    has_variables_with_dollars: false,
    has_quoted_metavariables: false,
    is_data: false,
    has_parentheses: true,
};

pub(super) const DOCKERFILE: Other = Other {
    parser: tree_sitter_containerfile::LANGUAGE,
    spellings: &["dockerfile", "containerfile", "docker"],
    endings: &["dockerfile", "containerfile"],
    files: &["Dockerfile", "Containerfile"],
    has_variables_with_dollars: true,
    has_parentheses: false,
    ..PROGRAM
};

pub(super) const JULIA: Other = Other {
    parser: tree_sitter_julia::LANGUAGE,
    spellings: &["julia", "jl"],
    endings: &["jl"],
    ..PROGRAM
};

pub(super) const OCAML: Other = Other {
    parser: tree_sitter_ocaml::LANGUAGE_OCAML,
    spellings: &["ocaml", "ml"],
    endings: &["ml"],
    // Names are of ASCII letters.
    metavariables: SupportLang::Css,
    ..PROGRAM
};

pub(super) const PROTOBUF: Other = Other {
    parser: tree_sitter_proto::LANGUAGE,
    spellings: &["protobuf", "proto"],
    endings: &["proto"],
    metavariables: SupportLang::Css,
    is_data: true,
    has_parentheses: false,
    ..PROGRAM
};

pub(super) const SQL: Other = Other {
    parser: tree_sitter_sequel::LANGUAGE,
    spellings: &["sql"],
    endings: &["sql"],
    metavariables: SupportLang::Css,
    ..PROGRAM
};

pub(super) const TOML: Other = Other {
    parser: tree_sitter_toml_ng::LANGUAGE,
    spellings: &["toml"],
    endings: &["toml"],
    has_quoted_metavariables: true,
    is_data: true,
    has_parentheses: false,
    ..PROGRAM
};
