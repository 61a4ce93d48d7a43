//! A host and its processes, which are this program started again: so libtest must not have started
//! threads before.

#[cfg(unix)]
mod processes;

fn main() {
    #[cfg(unix)]
    processes::run();
}
