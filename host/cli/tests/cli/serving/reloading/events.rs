//! Streams of events over HTTP.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;

use serde_json::Value;

use super::super::http::web::{ANN, Client, Web, head};

/// What comes of a stream, message by message.
pub struct Events(BufReader<TcpStream>);

impl Events {
    pub fn of(stream: TcpStream) -> Self {
        Self(BufReader::new(stream))
    }

    /// What a session of `ann`'s is told beside its answers.
    pub fn standalone(web: &Web, session: &Client) -> Self {
        let id = session.session.as_deref().unwrap();
        let mut stream = web.connect();
        let head = head("GET", ANN, 0, &[("Mcp-Session-Id", id)]);
        stream.write_all(head.as_bytes()).unwrap();
        let mut events = Self::of(stream);
        // Whoever has the headers is listening.
        let mut line = String::new();
        while line != "\r\n" {
            line.clear();
            assert_ne!(events.0.read_line(&mut line).unwrap(), 0);
        }
        events
    }

    /// The next one, or none at the end.
    pub fn next(&mut self) -> Option<Value> {
        loop {
            let mut line = String::new();
            if self.0.read_line(&mut line).unwrap() == 0 {
                return None;
            }
            match line.strip_prefix("data: ").map(str::trim) {
                None | Some("") => {}
                Some(message) => return Some(serde_json::from_str(message).unwrap()),
            }
        }
    }
}
