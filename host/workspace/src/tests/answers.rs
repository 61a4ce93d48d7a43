//! Answers as the system gives them, where they were others once.

use super::changes::{put, told};
use crate::{OpenOptions, Opened};

#[test]
fn a_slash_behind_a_new_name_is_for_directories() {
    told(|root| {
        for new_path in ["new/", "d/e/a/", "d/e/"] {
            let error = root.rename("d/a", root, new_path).unwrap_err();
            assert_eq!(
                error.kind(),
                std::io::ErrorKind::NotADirectory,
                "{new_path}"
            );
        }
        root.rename("d/e", root, "new/").unwrap();
    });
}

#[test]
fn a_link_that_no_commit_could_make_is_refused() {
    let long = "n".repeat(4095);
    let told = told(|root| {
        root.create_link(&long, "longest").unwrap();
        let error = root.create_link(&format!("{long}n"), "longer").unwrap_err();
        assert_eq!(error.kind(), std::io::ErrorKind::InvalidFilename);
    });
    assert_eq!(told.len(), 1);
}

#[test]
fn what_was_removed_and_is_still_open_has_no_name() {
    told(|root| {
        put(root, "made", "x");
        for path in ["made", "d/a"] {
            let Opened::File(file) = root.open(path, OpenOptions::default()).unwrap() else {
                panic!("{path} is a file");
            };
            assert_eq!(file.metadata().unwrap().links, 1);
            root.remove_file(path).unwrap();
            assert_eq!(file.metadata().unwrap().links, 0);
        }
    });
}
