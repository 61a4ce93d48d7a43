//! Checks whether a component fits the world, and if not, which functions differ and how.
//!
//! The host stops at the first mismatch. This module reports all of them, and reads types instead
//! of compiling code.

mod compare;
mod types;

use airlock_host::load::WORLD_VERSION;
use wit_parser::decoding::{DecodedWasm, decode};
use wit_parser::{Interface, Resolve, WorldId, WorldItem, WorldKey};

use crate::build::World;
use compare::Functions;

const PACKAGE: &str = "airlock:tool/";

/// The WASI 0.2 packages whose interfaces the host provides.
const WASI: [&str; 6] = [
    "wasi:cli/",
    "wasi:clocks/",
    "wasi:filesystem/",
    "wasi:io/",
    "wasi:random/",
    "wasi:sockets/",
];

/// The result of comparing a component with the world.
#[derive(Debug)]
pub struct Fit {
    /// The world's full name.
    pub world: String,
    /// The version of the package `airlock:tool` that the component was built for, if its names
    /// contain it.
    pub built_for: Option<String>,
    /// The differences. Empty if the component fits.
    pub differences: Vec<Difference>,
}

/// An item that differs between the world and the component.
#[derive(Debug, PartialEq, Eq)]
pub struct Difference {
    /// The item's position, from the outside in: ``export `airlock:tool/tool`: function `execute`:
    /// parameter `params` ``.
    pub item: String,
    /// The item in the world; `None` if the world does not have it.
    pub world: Option<String>,
    /// The item in the component; `None` if the component does not have it.
    pub component: Option<String>,
}

impl Fit {
    /// Reads the types of a component.
    ///
    /// # Errors
    /// The problem with the bytes, if they are not a component or can't be read.
    pub fn of(component: &[u8]) -> Result<Self, String> {
        let decoded = decode(component).map_err(|error| format!("{error:#}"))?;
        let DecodedWasm::Component(resolve, their_world) = decoded else {
            return Err("it is a WIT package, not a component".to_owned());
        };
        let our_world = World::read().map_err(|error| error.to_string())?;
        let theirs = Side::new(&resolve, their_world);
        let ours = Side::new(&our_world.resolve, our_world.id);
        Ok(Self {
            world: world(),
            built_for: theirs.version(),
            differences: differences(&ours, &theirs),
        })
    }
}

/// Returns the world's full name.
pub fn world() -> String {
    format!("{PACKAGE}custom-tool@{WORLD_VERSION}")
}

/// The imports and exports of a world, by name.
struct Side<'a> {
    resolve: &'a Resolve,
    imports: Vec<Item<'a>>,
    exports: Vec<Item<'a>>,
}

struct Item<'a> {
    /// The name without its version.
    name: String,
    version: Option<String>,
    /// The interface; `None` for other items.
    interface: Option<&'a Interface>,
}

impl<'a> Side<'a> {
    fn new(resolve: &'a Resolve, world: WorldId) -> Self {
        let world = &resolve.worlds[world];
        let item = |(key, item): (&WorldKey, &'a WorldItem)| {
            let full = resolve.name_world_key(key);
            let (name, version) = match full.split_once('@') {
                Some((name, version)) => (name.to_owned(), Some(version.to_owned())),
                None => (full, None),
            };
            let interface = match item {
                WorldItem::Interface { id, .. } => Some(&resolve.interfaces[*id]),
                WorldItem::Function(_) | WorldItem::Type { .. } => None,
            };
            Item {
                name,
                version,
                interface,
            }
        };
        Self {
            resolve,
            imports: world.imports.iter().map(item).collect(),
            exports: world.exports.iter().map(item).collect(),
        }
    }

    fn version(&self) -> Option<String> {
        let ours = self
            .exports
            .iter()
            .chain(&self.imports)
            .filter(|item| item.name.starts_with(PACKAGE));
        ours.into_iter().find_map(|item| item.version.clone())
    }
}

impl Item<'_> {
    fn full(&self) -> String {
        match &self.version {
            Some(version) => format!("{}@{version}", self.name),
            None => self.name.clone(),
        }
    }
}

fn differences(ours: &Side, theirs: &Side) -> Vec<Difference> {
    let mut found = Vec::new();
    for wanted in &ours.exports {
        let place = format!("export `{}`", wanted.name);
        match theirs.exports.iter().find(|item| item.name == wanted.name) {
            None => found.push(Difference {
                item: place,
                world: Some(wanted.full()),
                component: None,
            }),
            Some(exported) => {
                let functions = Functions { ours, theirs };
                check_version(&place, wanted, exported, &mut found);
                functions.all_of_the_world(&place, wanted, exported, &mut found);
            }
        }
    }
    for import in &theirs.imports {
        let place = format!("import `{}`", import.name);
        match ours.imports.iter().find(|item| item.name == import.name) {
            Some(offered) => {
                let functions = Functions { ours, theirs };
                check_version(&place, offered, import, &mut found);
                functions.all_of_the_component(&place, offered, import, &mut found);
            }
            None if is_offered_wasi(import) => {}
            None => found.push(Difference {
                item: place,
                world: None,
                component: Some(import.full()),
            }),
        }
    }
    found
}

fn check_version(place: &str, ours: &Item, theirs: &Item, found: &mut Vec<Difference>) {
    if minor(ours.version.as_deref()) != minor(theirs.version.as_deref()) {
        let told = |item: &Item| match &item.version {
            Some(version) => format!("version {version}"),
            None => "no version".to_owned(),
        };
        found.push(Difference {
            item: place.to_owned(),
            world: Some(told(ours)),
            component: Some(told(theirs)),
        });
    }
}

fn is_offered_wasi(import: &Item) -> bool {
    WASI.iter().any(|package| import.name.starts_with(package))
        && minor(import.version.as_deref()) == Some("0.2")
}

/// Returns the minor version. Before 1.0, a minor version may change anything, and a patch
/// nothing.
fn minor(version: Option<&str>) -> Option<&str> {
    version?.rsplit_once('.').map(|(minor, _)| minor)
}
