//! Faults at steps of a thread.

use std::cell::{Cell, RefCell};
use std::io;

type Other = Box<dyn FnOnce()>;

thread_local! {
    static OTHER: RefCell<Option<(u64, Other)>> = const { RefCell::new(None) };
    static STEPS: Cell<u64> = const { Cell::new(0) };
    static FAULT: Cell<Option<(u64, Fault)>> = const { Cell::new(None) };
}

/// A fault at a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// The process stops: nothing that it would do later is done. The thread unwinds with
    /// [`Stopped`]. That is equivalent, because no destructor does a part of a commit.
    Stop,
    /// The system call fails with this error.
    #[cfg_attr(fuzzing, allow(dead_code))]
    Error(i32),
}

/// The payload with which a stopped thread unwinds.
#[derive(Debug)]
pub struct Stopped;

/// Runs a function with a fault at a step of this thread, counted from 1. Returns the number of
/// steps too.
pub fn with<T>(fault: Option<(u64, Fault)>, run: impl FnOnce() -> T) -> (T, u64) {
    STEPS.set(0);
    FAULT.set(fault);
    let result = run();
    FAULT.set(None);
    (result, STEPS.get())
}

#[cfg_attr(fuzzing, allow(dead_code))]
/// Runs a function while another program does something at a step of this thread.
pub fn while_another<T>(at: u64, other: impl FnOnce() + 'static, run: impl FnOnce() -> T) -> T {
    STEPS.set(0);
    OTHER.set(Some((at, Box::new(other))));
    let result = run();
    OTHER.set(None);
    result
}

/// Lets another program do something at a later step, as if it continued.
#[cfg_attr(fuzzing, allow(dead_code))]
pub fn another_at(at: u64, other: impl FnOnce() + 'static) {
    OTHER.set(Some((at, Box::new(other))));
}

pub(crate) fn step() -> io::Result<()> {
    let step = STEPS.get() + 1;
    STEPS.set(step);
    let other = OTHER.with_borrow_mut(|other| other.take_if(|(at, _)| *at == step));
    if let Some((_, other)) = other {
        other();
    }
    match FAULT.get() {
        Some((at, fault)) if at == step => match fault {
            Fault::Stop => {
                FAULT.set(None);
                std::panic::resume_unwind(Box::new(Stopped))
            }
            Fault::Error(code) => Err(io::Error::from_raw_os_error(code)),
        },
        _ => Ok(()),
    }
}
