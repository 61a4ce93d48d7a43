//! The parts of the help below the options.

mod audit;

pub use audit::{AUDIT_EXAMPLES, DOCTOR_EXAMPLES};

pub const EXIT_CODES: &str = "\
Exit codes:
  0    done
  1    the tool or the resolution reported an error, or the store could not be used
  2    usage: the command line, or params that are not JSON or don't fit the tool's schema
  3    the plugin could not be loaded
  4    the tool hit a limit or crashed
  130  interrupted by Ctrl-C";

pub const HELP: &str = "\
Examples:
  airlock run batch-rename --files '*.jpeg' --find 'jpeg$' --replace jpg
  airlock pending
  airlock resolve apply --reason 'I read the list'
  airlock inspect ./my_plugin.wasm
  airlock help run";

pub const LONG_HELP: &str = "\
Environment:
  NO_COLOR           where set, no colours
  AIRLOCK_STORE      where pending actions are kept, as for `--store`: a file, or the address of a
                     PostgreSQL database; default: airlock/pending.db in the user's state folder
  AIRLOCK_SYSTEM_CONFIG
                     the system's airlock-host.toml, by an absolute path; default:
                     /etc/airlock/airlock-host.toml
  AIRLOCK_NOTIFY     what to run when something waits for a decision, as for `run --notify`
  AIRLOCK_PAGER      what shows long texts on a terminal; default: PAGER, or less
  AIRLOCK_CACHE_DIR  the folder for compiled plugins; default: airlock/ in the user's cache folder
  AIRLOCK_SDK        a clone of Airlock whose SDK a project of `airlock new` uses, in place of its own
  AIRLOCK_CC         what `airlock build` compiles C with: a compiler with its options for WASI, for
                     example: /opt/wasi-sdk/bin/clang --target=wasm32-wasip1; default: zig";

/// A note on the commands that this program was built without, if there are any.
pub const LEFT_OUT: &str = if cfg!(feature = "author") {
    ""
} else {
    "\n\nThis program was built without `new`, `build` and `test`, for those who write tools (its feature `author`)."
};

pub const RUN_EXAMPLES: &str = "\
Examples:
  Preview, and be asked what to do:
    airlock run batch-rename --files '*.jpeg' --find 'jpeg$' --replace jpg

  Its params:
    airlock run batch-rename --help

  Preview and apply, in another directory, with params from a file:
    airlock run batch-rename @params.json --workspace ~/photos --apply 'I read the list'

  Rewrite code by its structure, in many files at once:
    airlock run ast_edit --ops.pat '$A.unwrap()' --ops.out '$A?' --lang rust

  A plugin of your own that has several tools, in a pipeline:
    make-params | airlock run ./my_plugin.wasm my_tool - --json | jq .pending

  Decide later about what you left pending (`airlock pending` lists the ids):
    airlock apply d939438b";

pub const GRANTS: &str = "\
What a plugin may do, with `--grant`, in place of the configured grants:
  read=PATH          read this path
  change=PATH        change this path while applying, and read it
  environment=NAME   see this environment variable
  real-time          see the real clock while applying
  fresh-randomness   get fresh random numbers while applying
Without read= and change=, everything can be read, and changed while applying. With one of them,
only what they name. PATH is a name at any depth (*.md), everything in a directory (docs/), a path
(docs/**/*.md), or everything (**); quote it for the shell. With real-time or fresh-randomness, an
apply may differ from its preview; then nothing is changed, and you decide again.";

pub const NOTIFY: &str = "\
The command of `--notify` is run by `sh`, with one JSON object on its standard input and in its
environment:
  AIRLOCK_EVENT    `pending`: an action waits for a decision; `decided`: somebody else decided
  AIRLOCK_ACTION   the action's id
  AIRLOCK_LABEL    what it would do, in one line, as its tool wrote it
  AIRLOCK_SESSION  its session
  AIRLOCK_STATE    `pending`, or with `decided`: `applied` or `discarded`
  AIRLOCK_MORE     how many more actions of the same call wait, or were decided
For example: --notify 'notify-send Airlock \"$AIRLOCK_LABEL\"'";

#[cfg(feature = "serve")]
pub const SERVE_EXAMPLES: &str = "\
Examples:
  In a client's configuration, for all that is bundled:
    {\"mcpServers\": {\"airlock\": {\"command\": \"airlock\", \"args\": [\"serve\", \"--workspace\", \"/home/ann/photos\"]}}}

  A plugin of your own, where a person at a terminal decides:
    airlock serve ./my_plugin.wasm --decide terminal

  What waits, and its decision, meanwhile in a terminal:
    airlock pending --all
    airlock resolve apply --id d939438b --reason 'I read the list'";

pub const PENDING_EXAMPLES: &str = "\
Examples:
  What waits for a decision about this directory?
    airlock pending

  And anywhere?
    airlock pending --all

  With their previews:
    airlock pending --verbose

  The id of the topmost action:
    airlock pending --json | jq -r '.pending[0].id'";

pub const SHOW_EXAMPLES: &str = "\
Examples:
  airlock show d939438b
  airlock show 438b > preview.txt
  airlock show 438b --patch | git apply --check
  airlock show 01a2005d-d50a-7498-954a-3c20d939438b --json | jq .details";

pub const RESOLVE_EXAMPLES: &str = "\
Examples:
  Look at what was previewed last in this directory, and apply it:
    airlock resolve apply

  In a script, without a question:
    airlock resolve apply --reason 'the list was checked'

  Decide about all that is pending in this directory's own session, or in all conversations here:
    airlock resolve apply --all
    airlock resolve discard --everywhere

  Discard an action of any session:
    airlock resolve discard d939438b --reason 'the wrong folder'";

pub const APPLY_EXAMPLES: &str = "\
Examples:
  airlock apply
  airlock apply 438b --reason 'I read the list'

  Apply a part of it (at the prompt, p asks about each change and each hunk):
    airlock apply 438b --only 'src/*.rs' --except src/main.rs";

pub const DISCARD_EXAMPLES: &str = "\
Examples:
  airlock discard 438b --reason 'the wrong folder'

  What can't be applied any more:
    airlock discard --stale";

pub const REFRESH_EXAMPLES: &str = "\
Examples:
  After `airlock resolve` said that a preview is stale:
    airlock refresh 438b
    airlock resolve apply";

pub const UNDO_EXAMPLES: &str = "\
Examples:
  Take back what was applied last:
    airlock undo

  Take back an earlier action, which `airlock log` lists, without a question:
    airlock undo 438b --yes

  Decide about the undo later:
    airlock undo 438b --stage
    airlock apply

  Leave what has changed since and can't be merged, and undo the rest:
    airlock undo 438b --skip-changed";

pub const LOG_EXAMPLES: &str = "\
Examples:
  What was decided about this directory, in whichever conversation?
    airlock log

  What did a model apply to Markdown files in the last week?
    airlock log --by model --path '*.md' --state applied --since 7d

  What did a model ask for that the rules refused?
    airlock log --by model --state refused

  The last hundred entries, for a program:
    airlock log --all --limit 100 --json | jq '.log[] | {label, resolved, denial}'";

pub const BACKUP_EXAMPLES: &str = "\
Examples:
  airlock store backup ~/backups/airlock-2026-11-22.db";

pub const RESTORE_EXAMPLES: &str = "\
Examples:
  airlock store restore ~/backups/airlock-2026-11-22.db
  airlock store restore ~/backups/airlock-2026-11-22.db --store ./looked-at.db";

pub const CHECK_EXAMPLES: &str = "\
Examples:
  airlock store check && airlock store backup ~/backups/airlock-2026-11-22.db";

pub const STATS_EXAMPLES: &str = "\
Examples:
  airlock store stats
  airlock store stats --json | jq .pending";

pub const FORGET_EXAMPLES: &str = "\
Examples:
  airlock store forget d939438b";

pub const PRUNE_EXAMPLES: &str = "\
Examples:
  airlock store prune --older-than 30d";

pub const RETENTION_EXAMPLES: &str = "\
Examples:
  How long are decisions kept?
    airlock store retention

  Ninety days; forever:
    airlock store retention 90d
    airlock store retention forever";

pub const LIMIT_EXAMPLES: &str = "\
Examples:
  How much may the store hold?
    airlock store limit

  Ten gibibytes; no limit:
    airlock store limit 10GiB
    airlock store limit none";

pub const CONFIG_CHECK_EXAMPLES: &str = "\
Examples:
  What holds here, and which file says so?
    airlock config check

  Before a file is put into its place:
    airlock config check ./airlock-host.toml

  For a program, in another workspace:
    airlock config check --workspace ~/photos --json | jq .settings

Files, of which the first counts that says something:
  `--config FILE`, or airlock/airlock-host.toml in the user's configuration folder
  /etc/airlock/airlock-host.toml, or what AIRLOCK_SYSTEM_CONFIG names
A file airlock-host.toml in the workspace can only make that stricter.";

pub const CONFIG_SCHEMA_EXAMPLES: &str = "\
Examples:
  airlock config schema > airlock-host.schema.json";

pub const POLICY_EXPLAIN_EXAMPLES: &str = "\
Examples:
  Why does it ask?
    airlock policy explain 3f2a

  What happens when a tool changes this file?
    airlock policy explain .github/workflows/ci.yml

  For a program:
    airlock policy explain 3f2a --json | jq .model.verdict

The rules are in airlock-host.toml: `airlock config check` shows where, and what holds.";

pub const INSPECT_EXAMPLES: &str = "\
Examples:
  What does it do, and what does it get?
    airlock inspect ./my_plugin.wasm

  The JSON Schema of its first tool's params:
    airlock inspect batch-rename --json | jq '.tools[0].parameters'";

#[cfg(feature = "author")]
pub const TEST_EXAMPLES: &str = "\
Examples:
  The project here, built if that is due, with its cases in airlock-test.toml:
    airlock test

  A component, with cases from elsewhere, and more tries:
    airlock test ./my_plugin.wasm --cases tests/rename.toml --tries 1000

  One tool, the same tries as in an earlier run, for a build server:
    airlock test ./my_plugin.wasm --tool my_tool --seed 2814 --junit report.xml

  The format of cases:
    airlock test --help";

#[cfg(feature = "author")]
pub const NEW_EXAMPLES: &str = "\
Examples:
  Asked for the name and the language, on a terminal:
    airlock new

  In a folder of its name, or in another one:
    airlock new rename-photos --lang rust
    airlock new rename-photos --lang ts --path ~/tools/rename

  From a folder of your own:
    airlock new rename-photos --template ~/templates/tool

  The SDK of a newer `airlock`, in a project that was made before:
    airlock new --update-sdk

The project:
  It builds wherever this program and the language's own tools are, and can be moved and shared:
  the SDK is in its folder `sdk`, and no path leads out of it. Its README tells how a package takes
  the place of that folder, once it is published.

Templates:
  All files of the folder are taken, but for .git, .venv, __pycache__, build, node_modules, target
  and sdk. In their texts and paths, these are filled in:
    {{name}}        rename-photos
    {{tool}}        rename_photos
    {{label}}       Rename photos
    {{version}}     the SDK's version
    {{sdk}}         what names the SDK in Cargo.toml and package.json, and behind `replace` in go.mod
    {{sdk-folder}}  ./sdk, for `pip install`
  The language follows from the files, or from --lang.";

#[cfg(feature = "author")]
pub const BUILD_EXAMPLES: &str = "\
Languages:
  Rust                    Cargo.toml; needs cargo and the target wasm32-wasip2
  TypeScript, JavaScript  package.json; needs Node.js, and the npm package airlock-tool in the project
  Python                  pyproject.toml; needs the package airlock-tool, in .venv or on the PATH
  C                       airlock.toml or src/tool.c; needs zig (`pip install ziglang`), or what
                          AIRLOCK_CC names
  Go                      go.mod; needs Go 1.24 or later

Examples:
  Build what is in this folder, and call it:
    airlock build && airlock run build/my_tool.wasm

  Somewhere else, with an option for cargo:
    airlock build ~/tools/rename -o rename.wasm -- --locked

  While you write:
    airlock build --watch";

pub const PLUGINS_EXAMPLES: &str = "\
Examples:
  airlock plugins
  airlock inspect ast_edit";

pub const COMPLETIONS_EXAMPLES: &str = "\
The script asks this program, which knows the tools of a plugin, their params, and the ids of what
is pending. It is made anew at each start of the shell, so that it fits the program.

Examples:
  echo 'source <(airlock completions bash)' >> ~/.bashrc
  echo 'source <(airlock completions zsh)' >> ~/.zshrc
  echo 'airlock completions fish | source' >> ~/.config/fish/config.fish";

pub const INSTALL_EXAMPLES: &str = "\
Examples:
  See what it wants, and be asked:
    airlock install ghcr.io/ann/dedupe:1
    airlock run dedupe

  A file, under another name, in a script:
    airlock install ./build/dedupe.wasm --as tidy --grant 'read=**' --grant change=docs/

  On another machine, with a copy of the configuration and its airlock.lock:
    airlock install";

pub const REFERENCES: &str = "\
References:
  ghcr.io/ann/dedupe:1          a tag in a registry; without one, latest
  ghcr.io/ann/dedupe@sha256:…   always the same artifact
  127.0.0.1:5000/dedupe         a registry with a port
  https://example.com/x.wasm    a file on a web server
  ./x.wasm, ./search.toml       a component's file, or a tools file
  ./dedupe                      a folder with one component or tools file, there or in build
What has a dot or a colon before its first slash is a registry: write ./my.folder/x.wasm for a
folder with such a name. A private registry takes the login of `docker login HOST`.";

pub const UPDATE_EXAMPLES: &str = "\
Examples:
  airlock update
  airlock update dedupe
  airlock update dedupe --grant change=notes/";

pub const UNINSTALL_EXAMPLES: &str = "\
Examples:
  airlock uninstall dedupe";

pub const LIST_EXAMPLES: &str = "\
Examples:
  airlock list
  airlock list --json | jq -r '.plugins[] | .name + \" \" + .digest'";

pub const PUSH_EXAMPLES: &str = "\
Examples:
  Build the project here, and publish it:
    airlock build
    airlock push ghcr.io/ann/dedupe:1.2.0

  A file:
    airlock push 127.0.0.1:5000/dedupe ./dedupe.wasm";
