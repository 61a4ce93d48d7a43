//! What the tests of the program `airlock` try, which is a process of its own there: the other part
//! of the table.

/// A test, what is done in it, and what comes of that.
pub struct Tried {
    /// The file below `host/cli/tests/cli`, without its ending.
    pub file: &'static str,
    /// The function.
    pub test: &'static str,
    pub does: &'static str,
    pub ends: &'static str,
}

/// Those that are about hostile plugins, files and neighbours.
pub fn tried() -> Vec<Tried> {
    let all = [
        (
            "hostile",
            "each_ends_in_time_with_its_code_and_takes_little_memory",
            "files of terabytes as params, plugin, cache entry, key and store; a plugin that spins, traps, floods and fills the store",
            "an exit code and a sentence, within seconds, and at most 400 MiB of memory",
        ),
        (
            "pipes",
            "a_pipe_that_nobody_writes_to_is_said_to_be_one_wherever_a_file_is_named",
            "a named pipe as params, plugin, store and backup",
            "it is reported as a pipe; nothing waits",
        ),
        (
            "pipes",
            "a_pipe_in_place_of_the_caches_key_or_of_an_entry_costs_a_compilation",
            "a named pipe as cache entry and as the cache's key",
            "the plugin is compiled again",
        ),
        (
            "pipes",
            "what_the_program_keeps_is_for_its_user_alone_also_where_an_older_version_left_it_open",
            "folders of cache and state that other users may read",
            "other users can't read them any more",
        ),
        (
            "pipes",
            "names_that_a_tool_could_not_be_told_are_noted",
            "a file with a name that isn't UTF-8",
            "the others are listed, and a note says so",
        ),
        (
            "foreign",
            "no_command_writes_to_a_file_that_is_no_store",
            "`--store` with a file of one byte, a letter, another program's database, a pipe",
            "refused, and the file is as it was",
        ),
        (
            "foreign",
            "a_row_that_cant_be_read_is_told_and_disables_nothing",
            "a row of a store with grants of a newer version",
            "it is left out with a warning, and the others are listed",
        ),
        (
            "foreign",
            "a_trigger_in_the_file_is_refused_by_name",
            "a store's file with a trigger that changes labels",
            "refused by the trigger's name",
        ),
        (
            "text",
            "nothing_that_a_guest_says_drives_the_terminal",
            "escape sequences and direction marks in results, labels and logs",
            "shown as escapes",
        ),
        (
            "text",
            "a_result_cannot_pass_for_what_the_host_says",
            "a result that copies the host's output for a decision byte for byte",
            "each row has a margin",
        ),
        (
            "compiling",
            "ctrl_c_ends_the_compiler_at_once",
            "a component that compiles for minutes, and Ctrl-C",
            "exit code 130, and no process is left",
        ),
        (
            "compiling",
            "a_component_that_is_too_complex_is_refused_with_the_function_the_figure_and_the_limit",
            "a function with 1,001 locals",
            "refused with the figure and the limit",
        ),
        (
            "ast_edit_hostile",
            "no_source_ends_the_process_or_holds_it_up",
            "generated sources of every language",
            "completed, reported by the tool, or out of time",
        ),
        (
            "faults",
            "a_full_disk_loses_nothing_and_is_told",
            "pushes to a store on a disk that is full",
            "the error `store-full`; nothing is lost",
        ),
    ];
    let tried = |(file, test, does, ends)| Tried {
        file,
        test,
        does,
        ends,
    };
    all.map(tried).into()
}
