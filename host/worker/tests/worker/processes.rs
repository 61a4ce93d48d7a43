//! A host and its processes, which are this program started again.

use std::env;
use std::io::{self, ErrorKind};
use std::process;
use std::thread::sleep;
use std::time::{Duration, Instant};

use airlock_worker::{Bounds, ExitReason, Host, Part, ReceiveError, Worker, serve_if_asked_for};
use libtest_mimic::{Arguments, Trial};
use rustix::process::{Pid, Resource, getrlimit, test_kill_process};

const PART: Part = Part {
    argument: "airlock-test-part",
    version: "1",
};

const BOUNDS: Bounds = Bounds {
    memory: 256 << 20,
    processor_seconds: 20,
};

/// What waits for something that has to happen.
const DEADLINE: Duration = Duration::from_secs(30);

/// Runs the tests, unless this process is one of the parts.
pub fn run() {
    serve_if_asked_for(&PART, serve);
    let tests: [(&str, fn()); 9] = [
        (
            "messages_are_answered_in_their_order_however_long",
            messages_are_answered_in_their_order_however_long,
        ),
        (
            "a_process_is_held_to_its_bounds",
            a_process_is_held_to_its_bounds,
        ),
        (
            "what_takes_more_than_its_bounds_is_ended_and_says_so",
            what_takes_more_than_its_bounds_is_ended_and_says_so,
        ),
        (
            "a_program_of_another_version_refuses_to_work",
            a_program_of_another_version_refuses_to_work,
        ),
        (
            "how_a_process_failed_to_answer_is_told_apart",
            how_a_process_failed_to_answer_is_told_apart,
        ),
        (
            "an_answer_without_room_is_refused_by_its_length",
            an_answer_without_room_is_refused_by_its_length,
        ),
        (
            "a_process_that_hangs_is_given_up_when_it_is_due",
            a_process_that_hangs_is_given_up_when_it_is_due,
        ),
        (
            "a_process_is_killed_when_it_is_dropped",
            a_process_is_killed_when_it_is_dropped,
        ),
        (
            "a_process_ends_with_a_host_that_is_killed",
            a_process_ends_with_a_host_that_is_killed,
        ),
    ];
    let trials = tests.map(|(name, test)| {
        Trial::test(name, move || {
            test();
            Ok(())
        })
    });
    libtest_mimic::run(&Arguments::from_args(), trials.into()).exit();
}

/// The part's side: each message says what to do.
fn serve(mut host: Host) -> io::Result<()> {
    while let Some(message) = host.receive()? {
        let (what, rest) = message.split_first().unwrap();
        match what {
            b'e' => host.send(&[rest, b"!"])?,
            b'l' => {
                let limits = [Resource::Core, Resource::Fsize, Resource::Data];
                let limits = limits.map(|limit| getrlimit(limit).current);
                host.send(&[format!("{limits:?}").as_bytes()])?;
            }
            b'm' => host.send(&[&vec![1; usize::MAX >> 8]])?,
            b's' => loop {
                std::hint::spin_loop();
            },
            b'r' => {
                rustix::io::write(io::stdin(), rest)?;
                return Ok(());
            }
            b'h' => {
                host.send(&[&process::id().to_le_bytes()])?;
                sleep(Duration::MAX);
            }
            // It is a host itself, of a process that hangs.
            b'p' => {
                let worker = start(BOUNDS);
                host.send(&[&ask(&worker, b"h").unwrap()])?;
                sleep(Duration::MAX);
            }
            _ => return Err(io::Error::other("no such message")),
        }
    }
    Ok(())
}

fn start(bounds: Bounds) -> Worker {
    start_part(&PART, bounds)
}

fn start_part(part: &Part, bounds: Bounds) -> Worker {
    Worker::start(&env::current_exe().unwrap(), part, bounds, &[]).unwrap()
}

fn never() -> bool {
    false
}

fn ask(worker: &Worker, message: &[u8]) -> Result<Vec<u8>, ReceiveError> {
    // One that has ended tells so when it is to answer.
    let _ = worker.send(&[message], never);
    worker.receive(|_| true, never)
}

fn otherwise(text: &str) -> ExitReason {
    ExitReason::Otherwise(text.to_owned())
}

fn messages_are_answered_in_their_order_however_long() {
    let worker = start(BOUNDS);
    let long = vec![b'x'; 5 << 20];
    for text in [&b""[..], b"one", &long, b"two"] {
        let message = [b"e", text].concat();
        assert_eq!(ask(&worker, &message).unwrap(), [text, b"!"].concat());
    }
}

fn a_process_is_held_to_its_bounds() {
    let limits = ask(&start(BOUNDS), b"l").unwrap();
    let limits = String::from_utf8(limits).unwrap();
    assert_eq!(limits, format!("[Some(0), Some(0), Some({})]", 256 << 20));
}

fn what_takes_more_than_its_bounds_is_ended_and_says_so() {
    let check = |message: &[u8], expected: ExitReason| {
        let bounds = Bounds {
            processor_seconds: 1,
            ..BOUNDS
        };
        let mut worker = start(bounds);
        let answer = ask(&worker, message);
        assert!(matches!(answer, Err(ReceiveError::Nothing)), "{answer:?}");
        assert_eq!(worker.end(), expected);
    };
    check(b"m", ExitReason::Memory);
    check(b"s", ExitReason::Time);
}

fn a_program_of_another_version_refuses_to_work() {
    let part = Part {
        version: "2",
        ..PART
    };
    let mut worker = start_part(&part, BOUNDS);
    let answer = ask(&worker, b"e");
    assert!(matches!(answer, Err(ReceiveError::Nothing)), "{answer:?}");
    let said = "; it exited with code 1; it said: the host has another version";
    assert_eq!(worker.end(), otherwise(said));
}

fn how_a_process_failed_to_answer_is_told_apart() {
    let check = |message: &[u8], expected: &str, ended: &str| {
        let mut worker = start(BOUNDS);
        let error = ask(&worker, message).unwrap_err();
        assert_eq!(error.to_string(), expected, "{message:?}");
        assert_eq!(worker.end(), otherwise(ended), "{message:?}");
    };
    let said = "; it exited with code 1; it said: no such message";
    check(b"?", "it said nothing", said);
    check(b"r", "it said nothing", "");
    let half = "it stopped in the middle of its answer";
    check(b"rairlock", half, "");
    check(b"rairlock-gives-2\n\x05\0\0\0\0\0\0\0four", half, "");
    let garbage = "its output is not an answer; it may be another version";
    check(b"rgarbage", garbage, "");
    // An echo is no answer.
    check(b"rairlock-asks-2\n\0\0\0\0\0\0\0\0\0", garbage, "");
}

fn an_answer_without_room_is_refused_by_its_length() {
    let worker = start(BOUNDS);
    worker.send(&[b"e12345"], never).unwrap();
    let answer = worker.receive(|length| length < 6, never);
    assert!(
        matches!(answer, Err(ReceiveError::TooLong(6))),
        "{answer:?}"
    );
}

fn a_process_that_hangs_is_given_up_when_it_is_due() {
    let worker = start(BOUNDS);
    ask(&worker, b"h").unwrap();
    let began = Instant::now();
    let is_due = || began.elapsed() > Duration::from_millis(100);
    let answer = worker.receive(|_| true, is_due);
    assert!(matches!(answer, Err(ReceiveError::GivenUp)), "{answer:?}");
    // It takes nothing either once the socket is full.
    let long = vec![0; 64 << 20];
    let sent = worker.send(&[&long], || began.elapsed() > Duration::from_millis(200));
    assert_eq!(sent.unwrap_err().kind(), ErrorKind::TimedOut);
    assert!(began.elapsed() < DEADLINE);
}

/// The process that an answer names.
fn named(answer: &[u8]) -> Pid {
    let id = u32::from_le_bytes(answer.try_into().unwrap());
    Pid::from_raw(id.try_into().unwrap()).unwrap()
}

fn a_process_is_killed_when_it_is_dropped() {
    let worker = start(BOUNDS);
    let process = named(&ask(&worker, b"h").unwrap());
    test_kill_process(process).unwrap();
    drop(worker);
    // It was waited for too.
    test_kill_process(process).unwrap_err();
}

fn a_process_ends_with_a_host_that_is_killed() {
    let host = start(BOUNDS);
    let process = named(&ask(&host, b"p").unwrap());
    test_kill_process(process).unwrap();
    drop(host);
    let began = Instant::now();
    while is_running(process) {
        assert!(began.elapsed() < DEADLINE, "it runs on without its host");
        sleep(Duration::from_millis(5));
    }
}

/// Nobody may wait for it, so that it stays as a zombie.
fn is_running(process: Pid) -> bool {
    let id = process.as_raw_pid();
    match std::fs::read_to_string(format!("/proc/{id}/stat")) {
        Ok(stat) => !stat.contains(") Z "),
        Err(_) => test_kill_process(process).is_ok() && !cfg!(target_os = "linux"),
    }
}
