//! What stands below the options in the help.

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
  airlock run batch-rename '{\"files\": [\"*.jpeg\"], \"find\": \"jpeg$\", \"replace\": \"jpg\"}'
  airlock pending
  airlock resolve apply --reason 'I read the list'
  airlock inspect ./my_plugin.wasm
  airlock help run";

pub const LONG_HELP: &str = "\
Environment:
  NO_COLOR           where set, no colours
  AIRLOCK_STORE      where pending actions are kept, as for `--store`: a file, or the address of a
                     PostgreSQL database; default: airlock/pending.db in the user's state folder
  AIRLOCK_CACHE_DIR  the folder for compiled plugins; default: airlock/ in the user's cache folder";

pub const RUN_EXAMPLES: &str = "\
Examples:
  Preview, and be asked what to do:
    airlock run batch-rename '{\"files\": [\"*.jpeg\"], \"find\": \"jpeg$\", \"replace\": \"jpg\"}'

  Preview and apply, in another directory, with params from a file:
    airlock run batch-rename @params.json --workspace ~/photos --apply 'I read the list'

  A plugin of your own that has several tools, between two programs:
    make-params | airlock run ./my_plugin.wasm my_tool - --json | jq .pending

  What is left undecided stays pending:
    airlock resolve apply --reason 'I read the list'";

pub const PENDING_EXAMPLES: &str = "\
Examples:
  What waits for a decision about this directory?
    airlock pending

  And anywhere?
    airlock pending --all

  The id of the topmost action:
    airlock pending --json | jq -r '.pending[0].id'";

pub const SHOW_EXAMPLES: &str = "\
Examples:
  airlock show 01a2005d-d50a-7498-954a-3c20d939438b
  airlock show 01a2005d-d50a-7498-954a-3c20d939438b --json | jq .details";

pub const RESOLVE_EXAMPLES: &str = "\
Examples:
  Apply what was previewed last in this directory:
    airlock resolve apply --reason 'I read the list'

  Discard an action of any session:
    airlock resolve discard --id 01a2005d-d50a-7498-954a-3c20d939438b --reason 'the wrong folder'";

pub const LOG_EXAMPLES: &str = "\
Examples:
  What was decided about this directory?
    airlock log

  The last hundred decisions, for a program:
    airlock log --all --limit 100 --json | jq '.log[] | {label, resolved}'";

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

pub const PRUNE_EXAMPLES: &str = "\
Examples:
  airlock store prune --older-than 30d";

pub const RETENTION_EXAMPLES: &str = "\
Examples:
  How long are decisions kept?
    airlock store retention

  Ninety days; for ever:
    airlock store retention 90d
    airlock store retention forever";

pub const INSPECT_EXAMPLES: &str = "\
Examples:
  What does it do, and what does it get?
    airlock inspect ./my_plugin.wasm

  Why can't it be loaded? What differs from the world:
    airlock inspect ./old_plugin.wasm --json | jq .fit.differences

  The JSON Schema of its first tool's params:
    airlock inspect batch-rename --json | jq '.tools[0].parameters'";

pub const TEST_EXAMPLES: &str = "\
Examples:
  The project here, with its cases in airlock-test.toml:
    airlock test

  A component, with cases from elsewhere, and more tries:
    airlock test ./my_plugin.wasm --cases tests/rename.toml --tries 1000

  One tool, the same tries as in an earlier run, for a build server:
    airlock test ./my_plugin.wasm --tool my_tool --seed 2814 --junit report.xml

  The format of cases:
    airlock test --help";

pub const PLUGINS_EXAMPLES: &str = "\
Examples:
  airlock plugins
  airlock inspect batch-rename";

pub const COMPLETIONS_EXAMPLES: &str = "\
Examples:
  airlock completions bash > ~/.local/share/bash-completion/completions/airlock
  airlock completions zsh > ~/.zfunc/_airlock
  airlock completions fish > ~/.config/fish/completions/airlock.fish";
