//! Steps that ask the host for one thing over and over, or for many things at once.

use std::cell::RefCell;

use serde::{Deserialize, Serialize};
use wasip2::clocks::{monotonic_clock, wall_clock};
use wasip2::filesystem::preopens::get_directories;
use wasip2::filesystem::types::{Descriptor, DirectoryEntryStream};
use wasip2::io::poll::{Pollable, poll};
use wasip2::io::streams::{InputStream, OutputStream};
use wasip2::sockets::network::{IpAddressFamily, IpSocketAddress, Ipv4SocketAddress, Network};
use wasip2::sockets::tcp::TcpSocket;
use wasip2::sockets::udp::UdpSocket;
use wasip2::sockets::{instance_network, ip_name_lookup, tcp_create_socket, udp_create_socket};
use wasip2::{cli, random};

use crate::airlock::tool::host::{self, Level};
use crate::descriptors;

/// What can be asked for again and again.
#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Question {
    Monotonic,
    Wall,
    Resolution,
    Random,
    RandomNumber,
    InsecureRandom,
    Seed,
    Environment,
    Arguments,
    Session,
    Cancelled,
    Log,
    Progress,
    /// Writes to standard error and flushes it.
    Flush,
    /// Polls a pollable that is ready.
    Ready,
    /// Opens a file that is not there.
    Missing,
}

/// Of what many can be held at once.
#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Handle {
    Directories,
    Pollables,
    /// Of streams that read a file, in the workspace's `f`.
    Readers,
    Listings,
    Stdin,
    Stdout,
    Networks,
    TcpSockets,
    UdpSockets,
}

#[expect(dead_code, reason = "kept for what the host keeps beside it")]
enum Kept {
    Descriptors(Vec<(Descriptor, String)>),
    Pollable(Pollable),
    Reader(InputStream),
    Listing(DirectoryEntryStream),
    Output(OutputStream),
    Network(Network),
    Tcp(TcpSocket),
    Udp(UdpSocket),
}

thread_local! {
    // In this order: streams go before the files that they are of.
    static KEPT: RefCell<Vec<Kept>> = const { RefCell::new(Vec::new()) };
    static FILE: RefCell<Option<Descriptor>> = const { RefCell::new(None) };
}

/// Asks so often, or without an end.
pub fn ask(question: Question, times: Option<u64>) -> String {
    let times = times.unwrap_or(u64::MAX);
    for _ in 0..times {
        ask_once(question);
    }
    format!("asked {times} times")
}

fn ask_once(question: Question) {
    match question {
        Question::Monotonic => drop(monotonic_clock::now()),
        Question::Wall => drop(wall_clock::now()),
        Question::Resolution => drop(wall_clock::resolution()),
        Question::Random => drop(random::random::get_random_bytes(4096)),
        Question::RandomNumber => drop(random::random::get_random_u64()),
        Question::InsecureRandom => drop(random::insecure::get_insecure_random_bytes(4096)),
        Question::Seed => drop(random::insecure_seed::insecure_seed()),
        Question::Environment => drop(cli::environment::get_environment()),
        Question::Arguments => drop(cli::environment::get_arguments()),
        Question::Session => drop(host::session()),
        Question::Cancelled => drop(host::is_cancelled()),
        Question::Log => host::log(Level::Info, "again"),
        Question::Progress => host::report_progress("again", Some(f64::NAN), Some(-1.0)),
        Question::Flush => {
            let stderr = cli::stderr::get_stderr();
            let _ = stderr.blocking_write_and_flush(b"x");
        }
        Question::Ready => {
            let ready = monotonic_clock::subscribe_duration(0);
            poll(&[&ready]);
        }
        Question::Missing => drop(descriptors::try_open("missing")),
    }
}

/// Holds so many until the instance ends, or until one is refused: `kept <n>`, and behind
/// `; error: ` why there are no more.
pub fn keep(handle: Handle, count: usize) -> String {
    for index in 0..count {
        match keep_one(handle) {
            Ok(kept) => KEPT.with_borrow_mut(|all| all.push(kept)),
            Err(error) => return format!("kept {index}; error: {error}"),
        }
    }
    format!("kept {count}")
}

fn keep_one(handle: Handle) -> Result<Kept, String> {
    let family = IpAddressFamily::Ipv4;
    Ok(match handle {
        Handle::Directories => Kept::Descriptors(get_directories()),
        Handle::Pollables => Kept::Pollable(monotonic_clock::subscribe_duration(u64::MAX)),
        Handle::Readers => Kept::Reader(with_file(|file| {
            file.read_via_stream(0).map_err(|code| code.name().into())
        })?),
        Handle::Listings => {
            let directory = descriptors::try_open(".")?;
            let listing = directory.read_directory();
            Kept::Listing(listing.map_err(|code| code.name().to_owned())?)
        }
        Handle::Stdin => Kept::Reader(cli::stdin::get_stdin()),
        Handle::Stdout => Kept::Output(cli::stdout::get_stdout()),
        Handle::Networks => Kept::Network(instance_network::instance_network()),
        Handle::TcpSockets => Kept::Tcp(
            tcp_create_socket::create_tcp_socket(family).map_err(|code| code.name().to_owned())?,
        ),
        Handle::UdpSockets => Kept::Udp(
            udp_create_socket::create_udp_socket(family).map_err(|code| code.name().to_owned())?,
        ),
    })
}

fn with_file<T>(action: impl FnOnce(&Descriptor) -> Result<T, String>) -> Result<T, String> {
    FILE.with_borrow_mut(|file| {
        if file.is_none() {
            *file = Some(descriptors::try_open("f")?);
        }
        action(file.as_ref().ok_or("no file is open")?)
    })
}

/// Waits for `distinct` timers that never end, each of them named so many times in one list.
pub fn wait(distinct: usize, each: usize) -> String {
    let timers: Vec<Pollable> = (0..distinct)
        .map(|_| monotonic_clock::subscribe_duration(u64::MAX))
        .collect();
    let list: Vec<&Pollable> = timers
        .iter()
        .flat_map(|timer| std::iter::repeat_n(timer, each))
        .collect();
    format!("{} are ready", poll(&list).len())
}

/// Tries to reach a network in the way of that name: `ok`, or `error: <why not>`.
pub fn reach(how: &str) -> String {
    let network = instance_network::instance_network();
    let here = |port| {
        IpSocketAddress::Ipv4(Ipv4SocketAddress {
            port,
            address: (127, 0, 0, 1),
        })
    };
    let reached = match how {
        "connect" => tcp_create_socket::create_tcp_socket(IpAddressFamily::Ipv4)
            .and_then(|socket| socket.start_connect(&network, here(80))),
        "listen" => tcp_create_socket::create_tcp_socket(IpAddressFamily::Ipv4)
            .and_then(|socket| socket.start_bind(&network, here(0))),
        "datagram" => udp_create_socket::create_udp_socket(IpAddressFamily::Ipv4)
            .and_then(|socket| socket.start_bind(&network, here(0))),
        _ => ip_name_lookup::resolve_addresses(&network, "localhost").map(drop),
    };
    match reached {
        Ok(()) => "ok".into(),
        Err(code) => format!("error: {}", code.name()),
    }
}
