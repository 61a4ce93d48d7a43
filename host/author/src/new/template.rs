//! The templates, which are part of this program.

use super::NewLanguage;

/// The files of a new project.
pub struct Template {
    pub files: &'static [(&'static str, &'static str)],
    /// What must be on the machine, for people.
    pub needs: &'static str,
    /// What is run once, before the first build.
    pub prepare: &'static [&'static str],
}

/// A language's files, and those that all languages have.
macro_rules! template {
    ($language:literal: $($place:literal <- $file:literal),+ $(,)?) => {
        &[
            $(($place, include_str!(concat!("../../templates/", $language, "/", $file))),)+
            ("airlock-test.toml", include_str!("../../templates/airlock-test.toml")),
            (".gitignore", include_str!(concat!("../../templates/", $language, "/gitignore"))),
        ]
    };
}

const RUST: Template = Template {
    files: template!("rust":
        "Cargo.toml" <- "Cargo.toml.template",
        "src/lib.rs" <- "lib.rs",
        "README.md" <- "README.md",
        ".github/workflows/ci.yml" <- "ci.yml",
    ),
    needs: "with Rust and its target wasm32-wasip2",
    prepare: &[],
};

const TYPESCRIPT: Template = Template {
    files: template!("ts":
        "package.json" <- "package.json.template",
        "tsconfig.json" <- "tsconfig.json",
        "src/tool.ts" <- "tool.ts",
        "README.md" <- "README.md",
        ".github/workflows/ci.yml" <- "ci.yml",
    ),
    needs: "with Node.js 20 or later",
    prepare: &["npm install"],
};

const JAVASCRIPT: Template = Template {
    files: template!("js":
        "package.json" <- "package.json.template",
        "src/tool.js" <- "tool.js",
        "README.md" <- "README.md",
        ".github/workflows/ci.yml" <- "ci.yml",
    ),
    needs: "with Node.js 20 or later",
    prepare: &["npm install"],
};

const PYTHON: Template = Template {
    files: template!("python":
        "pyproject.toml" <- "pyproject.toml.template",
        "src/tool.py" <- "tool.py",
        "tests/test_tool.py" <- "test_tool.py",
        "README.md" <- "README.md",
        ".github/workflows/ci.yml" <- "ci.yml",
    ),
    needs: "with Python 3.11 or later",
    // An environment that was just made has the pip that came with its Python, and groups need
    // 25.1.
    prepare: &[
        "python3 -m venv --upgrade-deps .venv",
        ".venv/bin/pip install --group dev",
    ],
};

const GO: Template = Template {
    files: template!("go":
        "go.mod" <- "go.mod.template",
        "airlock.toml" <- "airlock.toml",
        "src/tool.go" <- "tool.go",
        "README.md" <- "README.md",
        ".github/workflows/ci.yml" <- "ci.yml",
    ),
    needs: "with Go 1.24 or later",
    prepare: &[],
};

const C: Template = Template {
    files: template!("c":
        "airlock.toml" <- "airlock.toml",
        "src/tool.c" <- "tool.c",
        "README.md" <- "README.md",
        ".github/workflows/ci.yml" <- "ci.yml",
    ),
    needs: "with zig, for example from `pip install ziglang`",
    prepare: &[],
};

pub fn of(language: NewLanguage) -> &'static Template {
    match language {
        NewLanguage::Rust => &RUST,
        NewLanguage::TypeScript => &TYPESCRIPT,
        NewLanguage::JavaScript => &JAVASCRIPT,
        NewLanguage::Python => &PYTHON,
        NewLanguage::Go => &GO,
        NewLanguage::C => &C,
    }
}

/// Puts a project's own words into a file.
pub fn fill(text: &str, name: &str, sdk: &str) -> String {
    text.replace("{{name}}", name)
        .replace("{{tool}}", &name.replace('-', "_"))
        .replace("{{label}}", &label(name))
        .replace("{{version}}", env!("CARGO_PKG_VERSION"))
        .replace("{{sdk}}", sdk)
}

/// As people write it: `rename-photos` is `Rename photos`.
fn label(name: &str) -> String {
    let words = name.replace('-', " ");
    match words.split_at_checked(1) {
        Some((first, rest)) => format!("{}{rest}", first.to_ascii_uppercase()),
        None => words,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_gets_the_projects_own_words() {
        let filled = fill(
            "{{name}} {{tool}} {{label}} {{sdk}}",
            "add-a-line",
            "\"0.1.0\"",
        );
        assert_eq!(filled, "add-a-line add_a_line Add a line \"0.1.0\"");
    }

    #[test]
    fn nothing_is_left_to_fill_in() {
        for language in NewLanguage::ALL {
            for (file, text) in of(language).files {
                let filled = fill(text, "name", "");
                // GitHub's own places are `${{ … }}`.
                assert!(
                    !filled.replace("${{", "").contains("{{"),
                    "{language:?}: {file}"
                );
            }
        }
    }
}
