//! The functions for files that `js/fs.js` is made of.

use std::fs::{self, FileType, Metadata, OpenOptions};
use std::io::{self, Error, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::{SystemTime, UNIX_EPOCH};

use rquickjs::prelude::Func;
use rquickjs::{Ctx, IntoJs, Object, Result, Value};

use crate::hex::from_hex;
use crate::outcome::{Bytes, Outcome};
use crate::world::World;

/// Makes the object that has them.
pub(crate) fn object<'js>(ctx: &Ctx<'js>, world: &Rc<World>) -> Result<Object<'js>> {
    let files = Object::new(ctx.clone())?;
    of_one(&files, world, "read", |path| fs::read(path).map(Bytes))?;
    of_one(&files, world, "readText", read_text)?;
    of_one(&files, world, "list", list)?;
    of_one(&files, world, "mkdir", fs::create_dir)?;
    of_one(&files, world, "mkdirs", fs::create_dir_all)?;
    of_one(&files, world, "rmdir", fs::remove_dir)?;
    of_one(&files, world, "rmtree", fs::remove_dir_all)?;
    of_one(&files, world, "unlink", fs::remove_file)?;
    of_one(&files, world, "readlink", read_link)?;
    of_two(&files, world, "rename", fs::rename)?;
    of_two(&files, world, "copy", copy)?;
    with_content(&files, world)?;

    let here = Rc::clone(world);
    let stat = move |path: String, follows: bool| Outcome(stat(&here.path(&path), follows));
    files.set("stat", Func::from(stat))?;
    let here = Rc::clone(world);
    // The target counts from the link, and is kept as it is.
    let symlink =
        move |target: String, link: String| Outcome(symlink(Path::new(&target), &here.path(&link)));
    files.set("symlink", Func::from(symlink))?;
    Ok(files)
}

fn of_one<'js, T: IntoJs<'js> + 'js>(
    files: &Object<'js>,
    world: &Rc<World>,
    name: &str,
    action: fn(PathBuf) -> io::Result<T>,
) -> Result<()> {
    let world = Rc::clone(world);
    let function = move |path: String| Outcome(action(world.path(&path)));
    files.set(name, Func::from(function))
}

fn of_two(
    files: &Object<'_>,
    world: &Rc<World>,
    name: &str,
    action: fn(PathBuf, PathBuf) -> io::Result<()>,
) -> Result<()> {
    let world = Rc::clone(world);
    let function =
        move |from: String, to: String| Outcome(action(world.path(&from), world.path(&to)));
    files.set(name, Func::from(function))
}

fn with_content(files: &Object<'_>, world: &Rc<World>) -> Result<()> {
    let here = Rc::clone(world);
    let write_text = move |path: String, flag: String, text: String| {
        Outcome(write(&here.path(&path), &flag, text.as_bytes()))
    };
    files.set("writeText", Func::from(write_text))?;
    let here = Rc::clone(world);
    let write_hex = move |path: String, flag: String, digits: String| {
        Outcome(write(&here.path(&path), &flag, &from_hex(&digits)))
    };
    files.set("writeHex", Func::from(write_hex))
}

fn read_text(path: PathBuf) -> io::Result<String> {
    let bytes = fs::read(path)?;
    Ok(String::from_utf8(bytes)
        .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned()))
}

fn write(path: &Path, flag: &str, content: &[u8]) -> io::Result<()> {
    let mut options = OpenOptions::new();
    match flag {
        "w" | "w+" => options.write(true).create(true).truncate(true),
        "wx" | "xw" | "wx+" => options.write(true).create_new(true),
        "a" | "a+" => options.append(true).create(true),
        "ax" | "xa" | "ax+" => options.append(true).create_new(true),
        "r+" => options.write(true),
        _ => return Err(ErrorKind::InvalidInput.into()),
    };
    options.open(path)?.write_all(content)
}

/// Returns the names and kinds of the entries in turn, sorted by name.
fn list(path: PathBuf) -> io::Result<Vec<String>> {
    let mut entries = Vec::new();
    for entry in fs::read_dir(path)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        entries.push((name, kind(entry.file_type()?)));
    }
    entries.sort();
    Ok(entries
        .into_iter()
        .flat_map(|(name, kind)| [name, kind.to_owned()])
        .collect())
}

fn kind(found: FileType) -> &'static str {
    if found.is_dir() {
        "directory"
    } else if found.is_symlink() {
        "link"
    } else if found.is_file() {
        "file"
    } else {
        "other"
    }
}

fn copy(from: PathBuf, to: PathBuf) -> io::Result<()> {
    if fs::metadata(&from)?.is_dir() {
        return Err(ErrorKind::IsADirectory.into());
    }
    fs::copy(from, to).map(drop)
}

/// In a list, since a text alone might be taken for something else.
fn read_link(path: PathBuf) -> io::Result<Vec<String>> {
    Ok(vec![fs::read_link(path)?.to_string_lossy().into_owned()])
}

/// The one function for links that all systems have. It is only deprecated because of Windows.
#[allow(deprecated)]
fn symlink(target: &Path, link: &Path) -> io::Result<()> {
    fs::soft_link(target, link)
}

fn stat(path: &Path, follows: bool) -> io::Result<Stat> {
    let found = if follows {
        fs::metadata(path)
    } else {
        fs::symlink_metadata(path)
    };
    found.map(Stat)
}

struct Stat(Metadata);

impl<'js> IntoJs<'js> for Stat {
    fn into_js(self, ctx: &Ctx<'js>) -> Result<Value<'js>> {
        let Self(found) = self;
        let object = Object::new(ctx.clone())?;
        object.set("kind", kind(found.file_type()))?;
        // Exact up to 2^53 bytes.
        object.set("size", found.len() as f64)?;
        object.set("modified", milliseconds(found.modified()))?;
        object.set("accessed", milliseconds(found.accessed()))?;
        object.set(
            "created",
            milliseconds(found.created().or_else(|_| found.modified())),
        )?;
        object.into_js(ctx)
    }
}

/// Since 1970; 0 where the system doesn't tell.
fn milliseconds(time: std::result::Result<SystemTime, Error>) -> f64 {
    let since = time
        .ok()
        .and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    since.map_or(0.0, |since| since.as_secs_f64() * 1000.0)
}
