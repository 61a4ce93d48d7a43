//! Names that a plugin's tool can't have, since a person or a model would take it for another.

use airlock_model::digest::Digest;
use airlock_model::tool::{LIST_PENDING, RESOLVE, RejectedTool, ToolDefinition};

/// The tools of the host itself.
const OWN: [&str; 3] = [RESOLVE, LIST_PENDING, "ast_edit"];

/// The host's own names, and those of the plugins that come with a program. Set with
/// [`EngineBuilder::reserve_tool`](crate::EngineBuilder::reserve_tool).
#[derive(Debug, Clone, Default)]
pub(crate) struct ReservedNames(Vec<(String, Digest)>);

impl ReservedNames {
    pub fn add(&mut self, name: String, owner: Digest) {
        self.0.push((name, owner));
    }

    /// The reserved name that this one is or looks like, unless it is reserved for this very
    /// plugin.
    pub fn taken(&self, name: &str, plugin: Digest) -> Option<&str> {
        let folded = fold(name);
        let is_own_name = |reserved: &&(String, Digest)| reserved.1 == plugin && reserved.0 == name;
        if self.0.iter().any(|reserved| is_own_name(&reserved)) {
            return None;
        }
        let bundled = self.0.iter().map(|(reserved, _)| &**reserved);
        let mut all = OWN.into_iter().chain(bundled);
        all.find(|reserved| fold(reserved) == folded)
    }

    /// Leaves those out that have a reserved name.
    pub fn leave_out(
        &self,
        plugin: Digest,
        tools: Vec<ToolDefinition>,
        rejected: &mut Vec<RejectedTool>,
    ) -> Vec<ToolDefinition> {
        let mut left = Vec::with_capacity(tools.len());
        for tool in tools {
            match self.taken(&tool.name, plugin) {
                Some(reserved) => rejected.push(RejectedTool::reserved(&tool.name, reserved)),
                None => left.push(tool),
            }
        }
        left
    }
}

/// The names of one plugin's tools, and those that it can't take for its own.
pub(crate) struct ToolNames {
    own: Vec<String>,
    plugin: Digest,
    reserved: ReservedNames,
}

impl ToolNames {
    pub fn new<'a>(
        plugin: Digest,
        own: impl Iterator<Item = &'a ToolDefinition>,
        reserved: &ReservedNames,
    ) -> Self {
        Self {
            own: own.map(|tool| tool.name.clone()).collect(),
            plugin,
            reserved: reserved.clone(),
        }
    }

    /// Whether the plugin has a tool of this name.
    pub fn has(&self, name: &str) -> bool {
        self.own.iter().any(|own| own == name)
    }

    /// The host's or another plugin's tool that a name would be taken for.
    pub fn pretended(&self, name: &str) -> Option<&str> {
        match self.has(name) {
            true => None,
            false => self.reserved.taken(name, self.plugin),
        }
    }
}

/// What is left of a name where one letter can be taken for another: lower case, without
/// separators, and a letter for each group of characters that look alike.
fn fold(name: &str) -> String {
    let folded: String = name
        .chars()
        .flat_map(char::to_lowercase)
        .map(look_alike)
        .filter(|c| c.is_alphanumeric())
        .collect();
    folded.replace("rn", "m").replace("vv", "w")
}

fn look_alike(c: char) -> char {
    match c {
        '0' | 'ο' | 'о' | 'օ' => 'o',
        '1' | '|' | 'i' | 'ı' | 'і' | 'ι' | 'ӏ' | 'ⅼ' => 'l',
        '2' => 'z',
        '3' | 'е' | 'ε' => 'e',
        '4' | '@' | 'а' | 'α' => 'a',
        '5' | '$' | 'ѕ' => 's',
        '6' | '9' => 'g',
        '7' | 'т' | 'τ' => 't',
        '8' | 'в' => 'b',
        'с' | 'ϲ' => 'c',
        'р' | 'ρ' => 'p',
        'х' | 'χ' => 'x',
        'ѵ' | 'ν' => 'v',
        'г' => 'r',
        'һ' => 'h',
        'ԁ' => 'd',
        'м' => 'm',
        'п' => 'n',
        '\u{ff01}'..='\u{ff5e}' => {
            let ascii = char::from_u32(u32::from(c) - 0xff01 + 0x21).unwrap_or(c);
            look_alike(ascii)
        }
        c => c,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reserved_name_and_what_looks_like_it_is_taken() {
        let (ours, theirs) = (Digest::of(b"ours"), Digest::of(b"theirs"));
        let mut reserved = ReservedNames::default();
        reserved.add("batch_rename_preview".to_owned(), ours);
        let check = |name: &str, expected: Option<&str>| {
            assert_eq!(reserved.taken(name, theirs), expected, "{name}");
        };
        for name in [
            "resolve",
            "Resolve",
            "RESOLVE",
            "resolve_",
            "re-solve",
            "re.solve",
            "reso1ve",
            "resoIve",
            "res0lve",
            "re5olve",
            "r3s0lv3",
            "rеsоlvе",
            "ｒｅｓｏｌｖｅ",
            "re\u{200b}solve",
            "__resolve__",
        ] {
            check(name, Some("resolve"));
        }
        for name in [
            "ast_edit", "ast-edit", "AstEdit", "ast_ed1t", "a5t.edit", "4st_edit",
        ] {
            check(name, Some("ast_edit"));
        }
        check("batch_rename_preview", Some("batch_rename_preview"));
        check("batch-renarne-preview", Some("batch_rename_preview"));
        for name in [
            "resolver",
            "resolve_all",
            "solve",
            "edit",
            "ast",
            "rename",
            "",
        ] {
            check(name, None);
        }
        // Its owner has that name, and no look-alike of it.
        assert_eq!(reserved.taken("batch_rename_preview", ours), None);
        assert!(reserved.taken("batch_rename_prev1ew", ours).is_some());
        assert!(reserved.taken("resolve", ours).is_some());
    }
}
