//! What is compared: a component for each language, and for each engine where a language has two.

use std::path::PathBuf;

use airlock_tests::guests_folder;

/// One row of the table.
#[derive(Debug, Clone, Copy)]
pub struct Language {
    /// What it is called on the command line, and the name of its component.
    pub name: &'static str,
    /// What it is called in the table.
    pub title: &'static str,
    /// What builds its component.
    build: &'static str,
}

const BUILD: &str = "tests/build-guests";

const ALL: [Language; 5] = [
    Language {
        name: "c",
        title: "C",
        build: BUILD,
    },
    Language {
        name: "rust",
        title: "Rust",
        build: BUILD,
    },
    Language {
        name: "ts",
        title: "TypeScript, on QuickJS",
        build: BUILD,
    },
    Language {
        name: "go",
        title: "Go",
        build: BUILD,
    },
    Language {
        name: "python",
        title: "Python",
        build: BUILD,
    },
];

/// Built only when asked for: it would make each run of the tests longer, and no test needs it.
const STARLINGMONKEY: Language = Language {
    name: "ts-starlingmonkey",
    title: "TypeScript, on StarlingMonkey",
    build: "tests/conformance/ts/build starlingmonkey",
};

impl Language {
    /// Those named, or all that there are.
    ///
    /// # Errors
    /// Where there is none of a name, or its component has not been built, with what to do about
    /// it.
    pub fn chosen(names: &[String]) -> Result<Vec<Self>, String> {
        let named = |language: &Self| names.iter().any(|name| name == language.name);
        let mut all = ALL.to_vec();
        if STARLINGMONKEY.component().exists() || named(&STARLINGMONKEY) {
            all.push(STARLINGMONKEY);
        } else if names.is_empty() {
            let title = STARLINGMONKEY.title;
            eprintln!("without {title}: {} builds it", STARLINGMONKEY.build);
        }
        let known: Vec<&str> = all.iter().map(|language| language.name).collect();
        if let Some(name) = names.iter().find(|name| !known.contains(&name.as_str())) {
            return Err(format!(
                "no language {name}: there are {}",
                known.join(", ")
            ));
        }
        all.retain(|language| names.is_empty() || named(language));
        // Before the first is measured, not after it.
        match all.iter().find(|language| !language.component().exists()) {
            None => Ok(all),
            Some(missing) => {
                let path = missing.component();
                Err(format!("no {}: run {}", path.display(), missing.build))
            }
        }
    }

    /// Its component's file.
    pub fn component(&self) -> PathBuf {
        guests_folder().join(format!("conformance/{}.wasm", self.name))
    }
}
