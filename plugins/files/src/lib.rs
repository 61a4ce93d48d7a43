//! The tools for files: they read and search the workspace, and change it after approval.
//!
//! Each changing tool makes a `plan` of operations in its preview. One function applies every plan,
//! if the files are as the preview saw them. `text` keeps line endings and byte order marks apart
//! while a text is edited; `edit`, `patch` and `values` find the places to change, and `tolerance`
//! says what may differ there.

mod arrange;
#[cfg(test)]
mod cases;
mod change;
mod closest;
mod diff;
mod edit;
mod envelope;
mod grep;
mod hunk;
mod hunks;
mod ignore;
mod json;
mod listing;
mod params;
mod patch;
mod path;
mod plan;
mod read;
mod regex;
mod replace;
mod text;
mod tolerance;
mod toml;
mod unified;
mod values;
mod walk;
mod workspace;
mod yaml;

use airlock_tool::{Tool, Tools, export};

export!(tools);

fn tools() -> Tools {
    changing(reading(Tools::new()))
}

fn reading(tools: Tools) -> Tools {
    tools
        .with(
            Tool::new(
                "read_file",
                "Reads a text file of the workspace, or a part of it, exactly as `edit_file` expects it. Also shows pictures.",
            )
            .answer(read::read_file),
        )
        .with(
            Tool::new("list_directory", "Lists the files and directories in a directory, with their sizes.")
                .answer(listing::list_directory),
        )
        .with(
            Tool::new(
                "find_files",
                "Finds files and directories by a glob, sorted by path. Skips what `.gitignore` excludes.",
            )
            .answer(listing::find_files),
        )
        .with(
            Tool::new(
                "grep",
                "Searches the contents of files with a regular expression, like ripgrep. Skips binary files and what `.gitignore` excludes.",
            )
            .answer(grep::grep),
        )
}

fn changing(tools: Tools) -> Tools {
    tools
        .with(
            Tool::new(
                "write_file",
                "Creates a file, or replaces its whole text. Use `edit_file` to change a part of a file.",
            )
            .preview(change::write_file)
            .apply(plan::apply)
            .destructive()
            .idempotent(),
        )
        .with(
            Tool::new(
                "edit_file",
                "Replaces texts in a file. Each text must occur once, or `replace_all` be set. Different white space and quotes are overlooked if there is only one such place, and line endings are kept.",
            )
            .preview(change::edit_file)
            .apply(plan::apply)
            .destructive(),
        )
        .with(
            Tool::new(
                "apply_patch",
                "Applies a patch to one or more files, all of it or nothing: in the format `*** Begin Patch`, or a unified diff. Can add, update, move and delete files.",
            )
            .preview(change::apply_patch)
            .apply(plan::apply)
            .destructive(),
        )
        .with(
            Tool::new(
                "search_replace",
                "Replaces every match of a regular expression, or of a plain text, in a file or in many files. Skips binary files and what `.gitignore` excludes.",
            )
            .preview(replace::search_replace)
            .apply(plan::apply)
            .destructive(),
        )
        .with(
            Tool::new(
                "edit_values",
                "Adds, replaces and removes values in a JSON, JSONC, TOML or YAML file by their paths, as a JSON Patch does, and keeps comments and layout.",
            )
            .preview(change::edit_values)
            .apply(plan::apply)
            .destructive(),
        )
        .with(
            Tool::new("move_file", "Moves or renames a file or directory. Overwrites nothing.")
                .preview(arrange::move_file)
                .apply(plan::apply),
        )
        .with(
            Tool::new("copy_file", "Copies a file, or a directory with everything in it. Overwrites nothing.")
                .preview(arrange::copy_file)
                .apply(plan::apply),
        )
        .with(
            Tool::new("delete_file", "Deletes a file, or a directory.")
                .preview(arrange::delete_file)
                .apply(plan::apply)
                .destructive(),
        )
        .with(
            Tool::new("make_directory", "Makes a directory, and those around it that are missing.")
                .preview(arrange::make_directory)
                .apply(plan::apply)
                .idempotent(),
        )
}
