//! Manual pages, made from the help: one for each command.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use clap::{Args, Command, CommandFactory, ValueHint};
use clap_mangen::Man;
use clap_mangen::roff::{Roff, bold, roman};

use super::Cli;
use crate::failure::{Exit, Failure};
use crate::terminal::output::Output;

/// Write the manual pages into a folder: for who packages this program
#[derive(Debug, Args)]
pub struct ManualArgs {
    /// The folder; it is made where there is none
    #[arg(value_hint = ValueHint::DirPath)]
    pub folder: PathBuf,
}

/// Writes a page for each command, and prints the names of their files.
pub fn write(folder: &Path, out: &mut Output) -> Result<Exit, Failure> {
    let failed = |error: io::Error| {
        let folder = folder.display();
        Failure::host(format!("could not write pages to {folder}: {error}")).quoting()
    };
    fs::create_dir_all(folder).map_err(failed)?;
    for (name, page) in pages().map_err(failed)? {
        fs::write(folder.join(&name), page).map_err(failed)?;
        out.line(name);
    }
    Ok(Exit::Done)
}

/// Returns the pages, each with the name of its file.
fn pages() -> io::Result<Vec<(String, Vec<u8>)>> {
    let mut command = Cli::command().disable_help_subcommand(true);
    command.build();
    let mut pages = Vec::new();
    add_pages(&command, &mut pages)?;
    Ok(pages)
}

fn add_pages(command: &Command, pages: &mut Vec<(String, Vec<u8>)>) -> io::Result<()> {
    pages.push(page(command)?);
    for below in command
        .get_subcommands()
        .filter(|below| !below.is_hide_set())
    {
        add_pages(below, pages)?;
    }
    Ok(())
}

fn page(command: &Command) -> io::Result<(String, Vec<u8>)> {
    // The date is a blank, so that the pages are always the same. An empty one would be left out.
    let man = Man::new(command.clone())
        .date(" ")
        .source(concat!("airlock ", env!("CARGO_PKG_VERSION")))
        .manual("Airlock");
    let mut page = Vec::new();
    man.render_title(&mut page)?;
    man.render_name_section(&mut page)?;
    man.render_synopsis_section(&mut page)?;
    man.render_description_section(&mut page)?;
    man.render_options_section(&mut page)?;
    if command.get_subcommands().any(|below| !below.is_hide_set()) {
        man.render_subcommands_section(&mut page)?;
    }
    let after = command.get_after_long_help().or(command.get_after_help());
    if let Some(text) = after {
        sections(&text.to_string()).to_writer(&mut page)?;
    }
    Ok((man.get_filename(), page))
}

/// Returns the text below the options in the help as sections, one for each heading. A heading is a
/// line that ends with a colon and is followed by indented lines.
fn sections(text: &str) -> Roff {
    let mut roff = Roff::new();
    let mut section = String::new();
    for paragraph in text.split("\n\n") {
        let mut lines: Vec<&str> = paragraph.lines().collect();
        if let Some(heading) = heading(&lines) {
            section = heading.to_uppercase();
            roff.control("SH", [section.as_str()]);
            lines.remove(0);
        } else if !is_indented(&lines) && matches!(section.as_str(), "" | "EXAMPLES") {
            section = "NOTES".to_owned();
            roff.control("SH", [section.as_str()]);
        } else {
            roff.control("PP", []);
        }
        let mut is_in_list = false;
        for block in lines.chunk_by(|one, next| one.starts_with(' ') == next.starts_with(' ')) {
            if is_in_list {
                roff.control("PP", []);
            }
            is_in_list = add_block(&mut roff, block);
        }
    }
    roff
}

fn heading<'a>(lines: &[&'a str]) -> Option<&'a str> {
    let name = lines.first()?.strip_suffix(':')?;
    (!name.starts_with(' ') && is_indented(&lines[1..])).then_some(name)
}

fn is_indented(lines: &[&str]) -> bool {
    lines.first().is_some_and(|line| line.starts_with(' '))
}

/// Adds lines: fills sentences, writes tables as lists of terms, and keeps everything else as it
/// is. Returns whether the lines were a list, which further lines would continue.
fn add_block(roff: &mut Roff, lines: &[&str]) -> bool {
    if !is_indented(lines) {
        roff.text([roman(lines.join(" "))]);
        return false;
    }
    if let Some(entries) = table(lines) {
        for (term, text) in entries {
            roff.control("TP", []);
            roff.text([bold(term)]);
            roff.text([roman(text)]);
        }
        return true;
    }
    roff.control("nf", []);
    for line in lines {
        roff.text([roman(*line)]);
    }
    roff.control("fi", []);
    false
}

/// Returns the terms of a table with their meanings, or `None` if the lines aren't a table. A line
/// that is indented further continues the one before.
fn table<'a>(lines: &[&'a str]) -> Option<Vec<(&'a str, String)>> {
    let mut entries: Vec<(&str, String)> = Vec::new();
    for line in lines {
        let text = line.trim_start();
        if line.len() - text.len() > 2 {
            let (_, meaning) = entries.last_mut()?;
            *meaning = format!("{meaning} {text}");
        } else {
            let (term, meaning) = text.split_once("  ")?;
            entries.push((term, meaning.trim_start().to_owned()));
        }
    }
    Some(entries)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_command_that_the_help_lists_has_a_page() {
        let pages = pages().unwrap();
        let names: Vec<&str> = pages.iter().map(|(name, _)| name.as_str()).collect();
        for name in ["airlock.1", "airlock-run.1", "airlock-store-backup.1"] {
            assert!(names.contains(&name), "{names:?}");
        }
        assert!(!names.contains(&"airlock-man.1"), "{names:?}");
        assert!(!names.contains(&"airlock-help.1"), "{names:?}");
    }

    #[test]
    fn what_stands_below_the_options_is_in_sections_of_its_own() {
        let check = |text: &str, expected: &str| {
            let roff = sections(text).to_roff();
            assert_eq!(roff, expected, "{text}");
        };
        check(
            "Examples:\n  Look at it:\n    airlock 'x'\n\n  And:\n    airlock y",
            ".SH EXAMPLES\n.nf\n  Look at it:\n    airlock 'x'\n.fi\n\
             .PP\n.nf\n  And:\n    airlock y\n.fi\n",
        );
        check(
            "Exit codes:\n  0    done\n  1    failed, in a way\n       that is told",
            ".SH \"EXIT CODES\"\n.TP\n\\fB0\\fR\ndone\n\
             .TP\n\\fB1\\fR\nfailed, in a way that is told\n",
        );
        check(
            "Examples:\n  a\n\nIt is run by `sh`, with\nthese:\n  NAME  a name\nand more",
            ".SH EXAMPLES\n.nf\n  a\n.fi\n.SH NOTES\nIt is run by `sh`, with these:\n\
             .TP\n\\fBNAME\\fR\na name\n.PP\nand more\n",
        );
        check(
            "Cases:\n  [x]   # one\n  a = 1\n\nMore about\nthem.",
            ".SH CASES\n.nf\n  [x]   # one\n  a = 1\n.fi\n.PP\nMore about them.\n",
        );
    }
}
