//! The built-in templates for new projects.

use super::NewLanguage;
use super::sdk::SdkReference;
use crate::build::sdk;

/// The files of a new project.
pub struct Start {
    pub files: &'static [(&'static str, &'static str)],
    /// The software that building it requires, as text for people.
    pub needs: &'static str,
    /// Commands to run once before the first build, with placeholders.
    pub prepare: &'static [&'static str],
}

/// The wants of a new tool, for the languages whose own file has the other facts.
const WANTS: &str = include_str!("../../templates/airlock.toml");

/// Lists a language's files and those that all languages share.
macro_rules! template {
    ($language:literal $(and $wants:ident)?: $($place:literal <- $file:literal),+ $(,)?) => {
        &[
            $(($place, include_str!(concat!("../../templates/", $language, "/", $file))),)+
            $(("airlock.toml", $wants),)?
            ("airlock-test.toml", include_str!("../../templates/airlock-test.toml")),
            (".gitignore", include_str!(concat!("../../templates/", $language, "/gitignore"))),
        ]
    };
}

const RUST: Start = Start {
    files: template!("rust" and WANTS:
        "Cargo.toml" <- "Cargo.toml.template",
        "src/lib.rs" <- "lib.rs",
        "README.md" <- "README.md",
        ".github/workflows/ci.yml" <- "ci.yml",
    ),
    needs: "with Rust and its target wasm32-wasip2",
    prepare: &[],
};

const TYPESCRIPT: Start = Start {
    files: template!("ts" and WANTS:
        "package.json" <- "package.json.template",
        "tsconfig.json" <- "tsconfig.json",
        "src/tool.ts" <- "tool.ts",
        "README.md" <- "README.md",
        ".github/workflows/ci.yml" <- "ci.yml",
    ),
    needs: "with Node.js 20 or later",
    prepare: &["npm install"],
};

const JAVASCRIPT: Start = Start {
    files: template!("js" and WANTS:
        "package.json" <- "package.json.template",
        "src/tool.js" <- "tool.js",
        "README.md" <- "README.md",
        ".github/workflows/ci.yml" <- "ci.yml",
    ),
    needs: "with Node.js 20 or later",
    prepare: &["npm install"],
};

const PYTHON: Start = Start {
    files: template!("python" and WANTS:
        "pyproject.toml" <- "pyproject.toml.template",
        "src/tool.py" <- "tool.py",
        "tests/test_tool.py" <- "test_tool.py",
        "README.md" <- "README.md",
        ".github/workflows/ci.yml" <- "ci.yml",
    ),
    needs: "with Python 3.11 or later",
    // A new environment has the pip that came with its Python, but dependency groups need pip
    // 25.1. A group can't name a folder below the project's.
    prepare: &[
        "python3 -m venv --upgrade-deps .venv",
        ".venv/bin/pip install --group dev {{sdk-folder}}",
    ],
};

const GO: Start = Start {
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

const C: Start = Start {
    files: template!("c":
        "airlock.toml" <- "airlock.toml",
        "src/tool.c" <- "tool.c",
        "compile_flags.txt" <- "compile_flags.txt",
        "README.md" <- "README.md",
        ".github/workflows/ci.yml" <- "ci.yml",
    ),
    needs: "with zig, for example from `pip install ziglang`",
    prepare: &[],
};

pub fn of(language: NewLanguage) -> &'static Start {
    match language {
        NewLanguage::Rust => &RUST,
        NewLanguage::TypeScript => &TYPESCRIPT,
        NewLanguage::JavaScript => &JAVASCRIPT,
        NewLanguage::Python => &PYTHON,
        NewLanguage::Go => &GO,
        NewLanguage::C => &C,
    }
}

/// The values for a template's placeholders.
pub struct Words<'a> {
    /// The project's name.
    pub name: &'a str,
    /// The project's SDK reference.
    pub sdk: &'a SdkReference,
}

impl Words<'_> {
    /// Fills the placeholders in a file or its path.
    pub fn fill(&self, text: &str) -> String {
        let text = text.replace("{{install}}", INSTALL.trim_end());
        text.replace("{{name}}", self.name)
            .replace("{{tool}}", &self.name.replace('-', "_"))
            .replace("{{label}}", &label(self.name))
            .replace("{{version}}", sdk::VERSION)
            .replace("{{sdk}}", &self.sdk.requirement)
            .replace("{{sdk-folder}}", &self.sdk.folder)
    }
}

/// The step of a CI file that installs `airlock`. All templates share it.
const INSTALL: &str = include_str!("../../templates/install.yml");

/// Returns a label for people: `rename-photos` becomes `Rename photos`.
fn label(name: &str) -> String {
    let words = name.replace(['-', '_'], " ");
    match words.split_at_checked(1) {
        Some((first, rest)) => format!("{}{rest}", first.to_ascii_uppercase()),
        None => words,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::new::sdk::within_project;

    #[test]
    fn a_file_gets_the_projects_own_words() {
        let sdk = SdkReference {
            requirement: "\"0.1.0\"".to_owned(),
            folder: "./sdk".to_owned(),
        };
        let check = |name, expected: &str| {
            let words = Words { name, sdk: &sdk };
            let filled = words.fill("{{name}} {{tool}} {{label}} {{sdk}} {{sdk-folder}}");
            assert_eq!(filled, expected);
        };
        check(
            "add-a-line",
            "add-a-line add_a_line Add a line \"0.1.0\" ./sdk",
        );
        check(
            "add_a_line",
            "add_a_line add_a_line Add a line \"0.1.0\" ./sdk",
        );
    }

    #[test]
    fn nothing_is_left_to_fill_in() {
        for language in NewLanguage::ALL {
            let sdk = within_project(language);
            let words = Words {
                name: "name",
                sdk: &sdk,
            };
            for (file, text) in of(language).files {
                // GitHub's own placeholders are `${{ … }}`.
                let filled = words.fill(text).replace("${{", "");
                assert!(!filled.contains("{{"), "{language:?}: {file}");
            }
        }
    }
}
