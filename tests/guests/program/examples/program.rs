//! Does what its arguments say, one after the other, in its current directory.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant, SystemTime};
use std::{env, fs, process, thread};

fn main() -> io::Result<()> {
    let args: Vec<String> = env::args().collect();
    let mut words = args.iter().skip(1).map(String::as_str);
    let mut next = || words.next().unwrap_or_default();
    loop {
        match next() {
            "" => return Ok(()),
            "args" => {
                println!("{args:?}");
                return Ok(());
            }
            "say" => println!("{}", next()),
            "complain" => eprintln!("{}", next()),
            "stdin" => {
                let mut text = String::new();
                io::stdin().read_to_string(&mut text)?;
                print!("{text}");
            }
            "env" => println!(
                "{:?} in {:?}",
                env::vars().collect::<Vec<_>>(),
                env::current_dir()?
            ),
            "read" => print!("{}", fs::read_to_string(next())?),
            "write" => fs::write(next(), next())?,
            "append" => {
                let mut file = fs::OpenOptions::new().append(true).open(next())?;
                file.write_all(next().as_bytes())?;
            }
            "rename" => fs::rename(next(), next())?,
            "remove" => fs::remove_file(next())?,
            "list" => {
                let mut names: Vec<_> = fs::read_dir(next())?
                    .map(|entry| entry.map(|it| it.file_name()))
                    .collect::<io::Result<_>>()?;
                names.sort();
                println!("{names:?}");
            }
            "time" => println!("{:?} {:?}", SystemTime::now(), Instant::now()),
            "random" => println!("{}", RandomState::new().hash_one(0)),
            "exit" => process::exit(next().parse().unwrap_or(1)),
            "panic" => panic!("{}", next()),
            "spin" => loop {
                std::hint::spin_loop();
            },
            "sleep" => thread::sleep(Duration::from_secs(3600)),
            "flood" => {
                let line = "x".repeat(1000);
                for _ in 0..1000 {
                    println!("{line}");
                }
            }
            "connect" => println!("{:?}", TcpStream::connect("127.0.0.1:80").map(|_| ())),
            other => {
                eprintln!("no such word: {other}");
                process::exit(2);
            }
        }
    }
}
