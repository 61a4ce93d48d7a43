//! A component for each script, with the script's calls as its code: no two are the same, and none
//! reads what to do from its params.

use std::fmt::Write;

use airlock_tests::wat;

use crate::script::{Bytes, Flag, Op, Script};

/// The name of its one tool.
pub const TOOL: &str = "twofaced";

/// What its preview says, and the label of what it pushes.
const ANNOUNCED: &str = "Rename a to c";

/// Where the answers of calls lie, and what the module's own functions return.
const ANSWER: usize = 16;
const RETURNED: usize = 1024;

/// Where texts begin, and what the host passes.
const TEXTS: usize = 4096;
const FREE: usize = 1 << 18;
const PAGES: usize = 16;

/// The calls below, as the host has them. The rest of the package is not needed.
const FILESYSTEM: &str = "
package wasi:filesystem@0.2.12;

interface types {
    type filesize = u64;
    flags descriptor-flags {
        read, write, file-integrity-sync, data-integrity-sync, requested-write-sync, mutate-directory,
    }
    flags path-flags { symlink-follow }
    flags open-flags { create, directory, exclusive, truncate }
    enum error-code {
        access, would-block, already, bad-descriptor, busy, deadlock, quota, exist, file-too-large,
        illegal-byte-sequence, in-progress, interrupted, invalid, io, is-directory, loop, too-many-links,
        message-size, name-too-long, no-device, no-entry, no-lock, insufficient-memory,
        insufficient-space, not-directory, not-empty, not-recoverable, unsupported, no-tty,
        no-such-device, overflow, not-permitted, pipe, read-only, invalid-seek, text-file-busy,
        cross-device,
    }
    resource descriptor {
        write: func(buffer: list<u8>, offset: filesize) -> result<filesize, error-code>;
        set-size: func(size: filesize) -> result<_, error-code>;
        open-at: func(path-flags: path-flags, path: string, open-flags: open-flags, %flags: descriptor-flags) -> result<descriptor, error-code>;
        create-directory-at: func(path: string) -> result<_, error-code>;
        remove-directory-at: func(path: string) -> result<_, error-code>;
        unlink-file-at: func(path: string) -> result<_, error-code>;
        rename-at: func(old-path: string, new-descriptor: borrow<descriptor>, new-path: string) -> result<_, error-code>;
        symlink-at: func(old-path: string, new-path: string) -> result<_, error-code>;
    }
}

interface preopens {
    use types.{descriptor};
    get-directories: func() -> list<tuple<descriptor, string>>;
}
";

/// The same, as a core module imports them.
const IMPORTS: &str = r#"
(import "wasi:filesystem/preopens@0.2.12" "get-directories" (func $directories (param i32)))
(import "wasi:filesystem/types@0.2.12" "[resource-drop]descriptor" (func $close (param i32)))
(import "wasi:filesystem/types@0.2.12" "[method]descriptor.write"
    (func $write (param i32 i32 i32 i64 i32)))
(import "wasi:filesystem/types@0.2.12" "[method]descriptor.set-size"
    (func $set-size (param i32 i64 i32)))
(import "wasi:filesystem/types@0.2.12" "[method]descriptor.open-at"
    (func $open (param i32 i32 i32 i32 i32 i32 i32)))
(import "wasi:filesystem/types@0.2.12" "[method]descriptor.create-directory-at"
    (func $make-directory (param i32 i32 i32 i32)))
(import "wasi:filesystem/types@0.2.12" "[method]descriptor.remove-directory-at"
    (func $remove-directory (param i32 i32 i32 i32)))
(import "wasi:filesystem/types@0.2.12" "[method]descriptor.unlink-file-at"
    (func $remove-file (param i32 i32 i32 i32)))
(import "wasi:filesystem/types@0.2.12" "[method]descriptor.rename-at"
    (func $rename (param i32 i32 i32 i32 i32 i32 i32)))
(import "wasi:filesystem/types@0.2.12" "[method]descriptor.symlink-at"
    (func $make-link (param i32 i32 i32 i32 i32 i32)))
(import "airlock:tool/pending-actions@0.1.0" "push-pending-action"
    (func $push (param i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32)))
"#;

/// Of the script's calls, those that change something below the workspace, in their order; what one
/// of them opens is written to and closed. An error of one ends none of the others.
pub fn component(script: &Script) -> Vec<u8> {
    let mut module = Module::default();
    let calls: String = script.ops.iter().map(|op| module.call(op)).collect();
    let text = module.text(&calls);
    let package = [("filesystem", FILESYSTEM)];
    wat::component_of(&text, &package, |name, text| match name {
        "world.wit" => text.replace(
            "export tool;",
            "import wasi:filesystem/types@0.2.12;
             import wasi:filesystem/preopens@0.2.12;
             export tool;",
        ),
        _ => text,
    })
}

/// The texts of a module, one behind the other.
#[derive(Default)]
struct Module {
    texts: Vec<u8>,
}

impl Module {
    /// Address and length, as two operands.
    fn place(&mut self, text: &[u8]) -> String {
        let at = TEXTS + self.texts.len();
        self.texts.extend(text);
        assert!(TEXTS + self.texts.len() < FREE);
        format!("(i32.const {at}) (i32.const {})", text.len())
    }

    fn call(&mut self, op: &Op) -> String {
        let answer = format!("(i32.const {ANSWER})");
        let one = |function: &str, place: &str| {
            format!("(call ${function} (local.get $folder) {place} {answer})\n")
        };
        match op {
            Op::MakeDirectory { path, .. } => one("make-directory", &self.place(path.as_bytes())),
            Op::RemoveDirectory { path, .. } => {
                one("remove-directory", &self.place(path.as_bytes()))
            }
            Op::RemoveFile { path, .. } => one("remove-file", &self.place(path.as_bytes())),
            Op::Rename { path, new_path, .. } => {
                let old = self.place(path.as_bytes());
                let new = self.place(new_path.as_bytes());
                one("rename", &format!("{old} (local.get $folder) {new}"))
            }
            Op::MakeLink { path, target, .. } => {
                let target = self.place(target.as_bytes());
                let path = self.place(path.as_bytes());
                one("make-link", &format!("{target} {path}"))
            }
            Op::Open { path, with, .. } => self.open(path, with, ""),
            Op::Put { path, bytes, .. } => {
                let written = self.write(bytes);
                self.open(path, &[Flag::Create, Flag::Truncate, Flag::Write], &written)
            }
            // What is already open is not known here: it is opened by a path that scripts know.
            Op::Write { bytes, .. } => {
                let written = self.write(bytes);
                self.open("d/e/a", &[Flag::Write], &written)
            }
            Op::SetSize { size, .. } => {
                let set = format!("(call $set-size (local.get $file) (i64.const {size}) {answer})");
                self.open("b", &[Flag::Write], &set)
            }
            _ => String::new(),
        }
    }

    fn write(&mut self, bytes: &Bytes) -> String {
        // Longer ones are cut, since there is one memory for all.
        let place = self.place(&vec![bytes.byte; bytes.count.min(2000)]);
        format!("(call $write (local.get $file) {place} (i64.const 0) (i32.const {ANSWER}))")
    }

    /// Opens something, does what follows with `$file`, and closes it.
    fn open(&mut self, path: &str, with: &[Flag], then: &str) -> String {
        let bit = |flag, bit: u32| u32::from(with.contains(&flag)) << bit;
        let open = bit(Flag::Create, 0)
            | bit(Flag::Directory, 1)
            | bit(Flag::Exclusive, 2)
            | bit(Flag::Truncate, 3);
        let rights = bit(Flag::Read, 0) | bit(Flag::Write, 1) | bit(Flag::MutateDirectory, 5);
        let follow = bit(Flag::Follow, 0);
        let place = self.place(path.as_bytes());
        format!(
            "(call $open (local.get $folder) (i32.const {follow}) {place}
                (i32.const {open}) (i32.const {rights}) (i32.const {ANSWER}))
            (if (i32.eqz (i32.load8_u (i32.const {ANSWER}))) (then
                (local.set $file (i32.load (i32.const {})))
                {then}
                (call $close (local.get $file))))\n",
            ANSWER + 4
        )
    }

    /// The whole module: it defines one tool, pushes one action, and applies it by these calls.
    fn text(mut self, calls: &str) -> String {
        let announced = self.place(ANNOUNCED.as_bytes());
        let name = self.place(TOOL.as_bytes());
        let parameters = self.place(br#"{"type": "object"}"#);
        let store = |at: usize, place: &str| {
            let (address, length) = place.split_once(") (").expect("two operands");
            format!(
                "(i32.store (i32.const {at}) {address})) (i32.store (i32.const {}) ({length})\n",
                at + 4
            )
        };
        // A list of one definition: four texts, no schema of its output, no traits.
        let definition = RETURNED + 8;
        let texts = [&name, &announced, &announced, &parameters];
        let mut defined = format!(
            "(i32.store (i32.const {RETURNED}) (i32.const {definition}))
            (i32.store (i32.const {}) (i32.const 1))\n",
            RETURNED + 4
        );
        for (number, place) in texts.into_iter().enumerate() {
            defined += &store(definition + 8 * number, place);
        }
        // A result of one text. The zeros that memory begins with say the rest.
        let content = RETURNED + 64;
        let result = format!(
            "(i32.store (i32.const {}) (i32.const {content}))
            (i32.store (i32.const {}) (i32.const 1))
            {}",
            RETURNED + 4,
            RETURNED + 8,
            store(content + 4, &announced)
        );
        let state = self.place(b"state");
        let push = format!(
            "(call $push {announced} (i32.const 0) (i32.const 0) (i32.const 0)
                (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0)
                (i32.const 1) {state} (i32.const {ANSWER}))"
        );
        let data = self.texts.iter().fold(String::new(), |mut data, byte| {
            let _ = write!(data, "\\{byte:02x}");
            data
        });
        let resolution = "(param i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32)";
        format!(
            r#"(module
                {IMPORTS}
                (memory (export "memory") {PAGES})
                (data (i32.const {TEXTS}) "{data}")
                (global $free (mut i32) (i32.const {FREE}))
                (func (export "cabi_realloc") (param i32 i32 i32 i32) (result i32)
                    (local $at i32)
                    (local.set $at (i32.and (i32.add (global.get $free) (i32.const 7)) (i32.const -8)))
                    (global.set $free (i32.add (local.get $at) (local.get 3)))
                    (local.get $at))
                (func (export "airlock:tool/tool@0.1.0#definitions") (result i32)
                    {defined}
                    (i32.const {RETURNED}))
                (func (export "airlock:tool/tool@0.1.0#execute") (param i32 i32 i32 i32 i32 i32) (result i32)
                    {push}
                    (if (i32.load8_u (i32.const {ANSWER})) (then unreachable))
                    (memory.fill (i32.const {RETURNED}) (i32.const 0) (i32.const 128))
                    {result}
                    (i32.const {RETURNED}))
                (func (export "airlock:tool/resolver@0.1.0#apply") {resolution} (result i32)
                    (local $folder i32) (local $file i32)
                    (call $directories (i32.const {ANSWER}))
                    (local.set $folder (i32.load (i32.load (i32.const {ANSWER}))))
                    {calls}
                    (memory.fill (i32.const {RETURNED}) (i32.const 0) (i32.const 128))
                    {result}
                    (i32.const {RETURNED}))
                (func (export "airlock:tool/resolver@0.1.0#reject") {resolution} (result i32) unreachable)
            )"#
        )
    }
}
