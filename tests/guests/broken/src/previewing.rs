//! What each tool does when it is called.

use std::cell::Cell;
use std::fs;
use std::hint::black_box;
use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};
use wasip2::sockets::network::{IpAddressFamily, IpSocketAddress, Ipv4SocketAddress};
use wasip2::sockets::{instance_network, tcp_create_socket};

use crate::airlock::tool::types::{ToolError, ToolResult};
use crate::{failed, push, text};

thread_local! {
    /// Whether this instance has made a preview.
    pub static PREVIEWED: Cell<bool> = const { Cell::new(false) };
}

pub const SCRATCH: &str = "/scratch/note";
pub const NOTE: &str = "/workspace/note.txt";
pub const SECOND: &str = "/workspace/second.txt";

pub fn preview(tool: &str, params: &Value) -> Result<ToolResult, ToolError> {
    let note = params["note"].as_str().unwrap_or_default();
    let count = params["count"].as_u64().unwrap_or_default();
    let mut result = text(format!("would note {note:?}"));
    let mut label = format!("{tool}: a note");
    match tool {
        "remembers" => PREVIEWED.set(true),
        "keeps_in_scratch" => fs::write(SCRATCH, note).map_err(failed)?,
        "counts_to_100" => {
            let hundred: Vec<u64> = (0..=100).collect();
            result = text(hundred[count as usize].to_string());
        }
        "wants_a_letter" => {
            let first = note.chars().next().expect("a note has a letter");
            result = text(first.to_string());
        }
        "spins" => {
            let mut turns = count;
            while turns > 100 {
                turns = black_box(turns + 1);
            }
        }
        "long_label" => label = "n".repeat(4 + 200 * note.chars().count()),
        "promises_a_count" => {
            let told = if count > 500 {
                json!("many")
            } else {
                json!(count)
            };
            result.details = Some(json!({ "count": told }).to_string());
            return Ok(result);
        }
        "tells_the_time" => {
            let now = SystemTime::now().duration_since(UNIX_EPOCH);
            result = text(format!("it is {:?}", now.map_err(failed)?));
        }
        "writes_early" => drop(fs::write("/workspace/early.txt", note)),
        "dials" => dial(),
        "notes_twice" => {
            let before = [NOTE, SECOND].map(|path| fs::read_to_string(path).unwrap_or_default());
            result = text(format!("{note:?} in place of {before:?}"));
            push(tool, "the second", note, false)?;
        }
        _ => {}
    }
    push(tool, &label, note, tool == "pushes_again")?;
    Ok(result)
}

fn dial() {
    let Ok(socket) = tcp_create_socket::create_tcp_socket(IpAddressFamily::Ipv4) else {
        return;
    };
    let address = IpSocketAddress::Ipv4(Ipv4SocketAddress {
        port: 80,
        address: (192, 0, 2, 1),
    });
    // Whatever comes of it is kept to itself.
    let _ = socket.start_connect(&instance_network::instance_network(), address);
    let _ = socket.finish_connect();
}
