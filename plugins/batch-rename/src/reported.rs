//! Bugs, and a few missing features, that were reported for other programs with the same purpose.
//! Each test has a link to the report, and runs on real files, from the params to the last rename.

use std::path::Path;

use airlock_tool::{Error, Resolution};

use crate::apply;
use crate::form::Form;
use crate::params::Params;
use crate::plan::{self, Limit, Plan};
use crate::report::Listing;
use crate::rule::Rule;
use crate::rule::tests::params;
use crate::select;
use crate::workspace::tests::Sandbox;

/// A workspace, and the params of a call in it.
struct Case {
    sandbox: Sandbox,
    params: Params,
}

impl Case {
    /// Returns a case with these files. Each contains its original path.
    fn of(files: &[&str], wanted: &str, find: &str, replace: &str) -> Self {
        let mut params = params(find, replace);
        params.files = vec![wanted.to_owned()];
        Self {
            sandbox: Sandbox::with(files),
            params,
        }
    }

    fn with(mut self, set: impl FnOnce(&mut Params)) -> Self {
        set(&mut self.params);
        self
    }

    fn plan(&self) -> Result<Plan, Error> {
        let workspace = self.sandbox.workspace();
        let rule = Rule::new(&self.params)?;
        let selection = select::select(&workspace, &self.params, &mut Limit::of(&rule))?;
        let planned = plan::plan(&selection.files, &rule, |from, to| {
            workspace.is_taken(from, to)
        })?;
        Plan::of(&workspace, &planned.renames)
    }

    /// Returns the rows of the preview.
    fn rows(&self) -> String {
        Listing::of(&self.plan().unwrap(), |path| self.path(path).exists()).list()
    }

    fn path(&self, path: &str) -> std::path::PathBuf {
        self.sandbox.path(path)
    }

    /// Previews and applies, and compares all files afterwards.
    #[track_caller]
    fn becomes(&self, expected: &[&str]) {
        let plan = self.plan().unwrap();
        apply::apply(&self.sandbox.workspace(), &plan, &Resolution::new("fine")).unwrap();
        assert_eq!(self.sandbox.tree(), expected);
    }

    /// Expects an error from the preview that contains `because`.
    #[track_caller]
    fn is_refused(&self, because: &str) {
        let before = self.sandbox.tree();
        let refused = self.plan().unwrap_err().to_string();
        assert!(refused.contains(because), "{refused}");
        assert_eq!(self.sandbox.tree(), before);
    }
}

/// The letters after a group's number were taken as part of it: `$1P` was an empty group.
/// <https://github.com/shenwei356/brename/issues/33>
#[test]
fn a_letter_behind_a_group_is_a_letter() {
    let files = &["pic_F01P02.jpg"];
    Case::of(files, "*", r".*F(\d\d)P(\d\d).*\.jpg", "F$1P$2.jpg")
        .becomes(&["F01P02.jpg:pic_F01P02.jpg"]);
}

/// The counter went through names in the order of their characters: 1, 10, 2.
/// <https://github.com/shenwei356/brename/issues/36>
#[test]
fn a_counter_goes_through_numbers_in_their_order() {
    Case::of(&["1.jpg", "10.jpg", "2.jpg"], "*", r"^\d+", "{n:3}").becomes(&[
        "001.jpg:1.jpg",
        "002.jpg:2.jpg",
        "003.jpg:10.jpg",
    ]);
}

/// New names that differ in case became one file if the file system ignored case.
/// <https://github.com/shenwei356/brename/issues/28>
#[test]
fn new_names_that_differ_only_in_case_are_marked() {
    let case = Case::of(&["Test.doc", "test.txt"], "*", r"\..+$", "");
    let note = "(another new name differs only in case)";
    assert_eq!(
        case.rows(),
        format!("Test.doc -> Test {note}\ntest.txt -> test {note}")
    );
}

/// A name that ends in a space or a dot looks like another name, and Windows drops that character.
/// <https://github.com/shenwei356/brename/issues/28>
#[test]
fn a_name_that_ends_in_a_space_or_a_dot_is_marked() {
    let case = Case::of(&["a.tar", "b (1)"], "*", r"tar|\(1\)", "");
    let note = "(ends in a space or a dot, which Windows drops)";
    assert_eq!(
        case.rows(),
        format!("a.tar -> a. {note}\nb (1) -> b  {note}")
    );
}

/// A directory that was named itself was not renamed.
/// <https://github.com/shenwei356/brename/issues/21>
#[test]
fn the_directory_that_is_named_is_renamed() {
    Case::of(&["ab/ab", "b"], "ab", "a", "x")
        .with(|params| params.directories = true)
        .becomes(&["b:b", "xb/ab:ab/ab"]);
}

/// An already padded name got an underscore to make it different.
/// <https://github.com/yaa110/nomino/issues/17>
#[test]
fn a_number_that_is_padded_already_stays() {
    let files = &["1 - A", "10 - B", "5 - C"];
    let case = Case::of(files, "*", r"^(\d+)", "{1:2}");
    assert_eq!(case.rows(), "1 - A -> 01 - A\n5 - C -> 05 - C");
    case.becomes(&["01 - A:1 - A", "05 - C:5 - C", "10 - B:10 - B"]);
}

/// Two files got the same name, and one was lost.
/// <https://github.com/ayoisaiah/f2/issues/45>
#[test]
fn no_two_files_get_one_name() {
    Case::of(&["116-1.jpg", "116.JPG"], "*", "^(116).*", "IMG_$1.jpg")
        .is_refused("`116-1.jpg` and `116.JPG` would both become `IMG_116.jpg`");
}

/// Directories were reported to be in lower case, but were not.
/// <https://github.com/ayoisaiah/f2/issues/31>
#[test]
fn a_directory_changes_case() {
    Case::of(&["Ludwig_Hirsch/1.mp3"], "*/", ".*", "{0:lower}")
        .with(|params| params.directories = true)
        .becomes(&["ludwig_hirsch/1.mp3:Ludwig_Hirsch/1.mp3"]);
}

/// A new name in another case was refused as taken if the file system ignores case, or the file
/// kept a temporary name. (`workspace` has a test for such file systems.)
/// <https://github.com/ismaelgv/rnr/issues/22>, <https://github.com/ayoisaiah/f2/issues/114>
#[test]
fn a_file_changes_case_in_one_step() {
    let case = Case::of(&["image.JPG"], "*", r"\.JPG$", ".jpg");
    let order = crate::order::Order::of(&case.plan().unwrap().renames, "7");
    assert_eq!((order.steps.len(), order.temporaries.len()), (1, 0));
    case.becomes(&["image.jpg:image.JPG"]);
}

/// A directory was renamed before its files, which were then missing.
/// <https://github.com/ismaelgv/rnr/issues/55>, <https://github.com/linuxmint/bulky/issues/14>
#[test]
fn a_directory_and_its_files_are_renamed_together() {
    let files = &[
        "Source/MyProject56.cs",
        "Source/MyProject56/MyProject56.cpp",
    ];
    let case = Case::of(files, "Source/**", "MyProject56", "MyProject")
        .with(|params| params.directories = true);
    assert_eq!(
        case.rows(),
        "Source/MyProject56/ -> Source/MyProject/\n\
         Source/MyProject56/MyProject56.cpp -> Source/MyProject/MyProject.cpp\n\
         Source/MyProject56.cs -> Source/MyProject.cs"
    );
    case.becomes(&[
        "Source/MyProject.cs:Source/MyProject56.cs",
        "Source/MyProject/MyProject.cpp:Source/MyProject56/MyProject56.cpp",
    ]);
}

/// Directories, and the directories in them, were not renamed at all.
/// <https://github.com/ismaelgv/rnr/issues/9>
#[test]
fn directories_are_renamed_at_every_depth() {
    let files = &["test01/test02/test03", "test01/test04"];
    Case::of(files, "**", "test", "blub")
        .with(|params| params.directories = true)
        .becomes(&[
            "blub01/blub02/blub03:test01/test02/test03",
            "blub01/blub04:test01/test04",
        ]);
}

/// Names could not be converted to one Unicode form. <https://github.com/ismaelgv/rnr/issues/31>
#[test]
fn names_are_brought_into_one_unicode_form() {
    let case =
        Case::of(&["cafe\u{301}"], "*", "^", "").with(|params| params.normalize = Some(Form::Nfc));
    let note = "looks the same, but is in NFC then";
    assert_eq!(case.rows(), format!("cafe\u{301} -> caf\u{e9} ({note})"));
    case.becomes(&["caf\u{e9}:cafe\u{301}"]);
}

/// Another file may already have the name in that form. <https://github.com/ismaelgv/rnr/issues/31>
#[test]
fn two_forms_of_a_name_do_not_become_one_file() {
    Case::of(&["e\u{301}", "\u{e9}"], "*", "^", "")
        .with(|params| params.normalize = Some(Form::Nfc))
        .is_refused("which exists");
}

/// A file may get the other form of a name that stays, if the file system keeps both.
/// <https://github.com/ismaelgv/rnr/issues/31>
#[test]
fn a_name_that_looks_like_one_that_stays_is_marked() {
    let case = Case::of(&["u\u{308}/a", "u\u{308}/e\u{301}"], "**/a", "a", "\u{e9}");
    let note = "(another file looks the same, in NFD)";
    assert_eq!(case.rows(), format!("u\u{308}/a -> u\u{308}/\u{e9} {note}"));
}

/// Files seemed to be gone, because their new names began with a dot.
/// <https://github.com/trapd00r/vidir/issues/25>
#[test]
fn a_file_that_will_be_hidden_is_marked() {
    let case = Case::of(&["1file.txt"], "*", r"^\d", ".");
    let row = "1file.txt -> .file.txt (hidden under the new name)";
    assert_eq!(case.rows(), row);
}

/// Two files that swap their names became one.
/// <https://github.com/jarun/nnn/issues/971>, <https://github.com/ranger/ranger/issues/1621>
#[test]
fn two_files_swap_their_names() {
    let files = &["a-b.txt", "b-a.txt"];
    Case::of(files, "*", "^(.)-(.)", "$2-$1").becomes(&["a-b.txt:b-a.txt", "b-a.txt:a-b.txt"]);
}

/// A link to a directory was moved into that directory.
/// <https://github.com/jarun/nnn/issues/320>
#[cfg(unix)]
#[test]
fn a_link_to_a_directory_is_renamed_itself() {
    let case = Case::of(&["folder/file"], "link", "link", "new");
    case.sandbox.link("folder", "link");
    let plan = case.plan().unwrap();
    let fine = Resolution::new("fine");
    apply::apply(&case.sandbox.workspace(), &plan, &fine).unwrap();
    let target = std::fs::read_link(case.path("new")).unwrap();
    assert_eq!(target, Path::new("folder"));
    assert!(!case.path("folder/link").exists() && !case.path("folder/new").exists());
}

/// A name was cut within a character, which caused a panic.
/// <https://github.com/marcusbuffett/pipe-rename/issues/55>
#[test]
fn names_of_many_languages_are_cut_between_characters() {
    let files = &["Die Milliarden-Lüge.mp4", "Zölibat 🎉.mp4"];
    Case::of(files, "*", r"\P{ASCII}+|(\p{L})", "{1:upper}").becomes(&[
        "DIE MILLIARDEN-LGE.MP4:Die Milliarden-Lüge.mp4",
        "ZLIBAT .MP4:Zölibat 🎉.mp4",
    ]);
}

/// A letter after an apostrophe became a capital.
/// <https://github.com/microsoft/PowerToys/issues/8796>
#[test]
fn a_word_with_an_apostrophe_is_one_word() {
    Case::of(&["it's ΜΆΪΟΣ.txt"], "*", r"^(.*)\.txt$", "{1:title}.txt")
        .becomes(&["It's Μάϊος.txt:it's ΜΆΪΟΣ.txt"]);
}

/// A name with a line break was shown on two lines, and could not be changed.
/// <https://github.com/Nomen-Luni/MonkeyDo/issues/14>
#[cfg(unix)]
#[test]
fn a_line_break_can_be_removed() {
    let case = Case::of(&["21 fish\n.mp3"], "*", r"\s+\.", ".");
    assert_eq!(case.rows(), "21 fish\\n.mp3 -> 21 fish.mp3");
    case.becomes(&["21 fish.mp3:21 fish\n.mp3"]);
}

/// The part after the last dot of a directory's name was treated as an extension and not changed.
/// <https://github.com/nicjansma/rename-regex/issues/20>
#[test]
fn a_directory_has_no_extension() {
    Case::of(&["12.02.2022 DIR/a"], "*/", "2", "3")
        .with(|params| params.directories = true)
        .becomes(&["13.03.3033 DIR/a:12.02.2022 DIR/a"]);
}
