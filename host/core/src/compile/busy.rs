//! Retries sealing operations while the system is busy.

/// Number of tries. Linux waits for a sixth of a second in each of them.
const TRIES: usize = 6;

/// Makes sealed memory, and retries on EBUSY. Linux returns this temporary error while it uses one
/// of the pages itself, to move it or to check whether it is used.
pub(crate) fn unless_busy<T, E>(
    is_busy: impl Fn(&E) -> bool,
    mut make: impl FnMut() -> Result<T, E>,
) -> Result<T, E> {
    for _ in 1..TRIES {
        match make() {
            Err(error) if is_busy(&error) => {}
            done => return done,
        }
    }
    make()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_busy_system_is_asked_again_and_no_other() {
        let check = |error: &str, failures: usize, is_made: bool, expected: usize| {
            let mut calls = 0;
            let is_busy = |error: &String| error == "busy";
            let made = unless_busy(is_busy, || {
                calls += 1;
                if calls > failures {
                    Ok(())
                } else {
                    Err(error.to_owned())
                }
            });
            assert_eq!(
                (made.is_ok(), calls),
                (is_made, expected),
                "{error} {failures}"
            );
        };
        check("busy", 0, true, 1);
        check("busy", TRIES - 1, true, TRIES);
        check("busy", usize::MAX, false, TRIES);
        check("out of memory", 1, false, 1);
    }
}
