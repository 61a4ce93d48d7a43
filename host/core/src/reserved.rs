//! The reserved tool name, which people and models would take for the host's own tool.

use airlock_model::tool::{RESOLVE, RejectedTool, ToolDefinition};

/// Returns whether a name is `resolve`, or looks like it.
pub(crate) fn is_reserved(name: &str) -> bool {
    fold(name) == fold(RESOLVE)
}

/// Removes tools with a reserved name.
pub(crate) fn leave_out_reserved(
    tools: Vec<ToolDefinition>,
    rejected: &mut Vec<RejectedTool>,
) -> Vec<ToolDefinition> {
    let (taken, left): (Vec<_>, Vec<_>) =
        tools.into_iter().partition(|tool| is_reserved(&tool.name));
    rejected.extend(taken.iter().map(|tool| RejectedTool::reserved(&tool.name)));
    left
}

/// The names of one plugin's tools.
pub(crate) struct ToolNames(Vec<String>);

impl ToolNames {
    pub fn new<'a>(own: impl Iterator<Item = &'a ToolDefinition>) -> Self {
        Self(own.map(|tool| tool.name.clone()).collect())
    }

    /// Returns whether the plugin has a tool with this name.
    pub fn has(&self, name: &str) -> bool {
        self.0.iter().any(|own| own == name)
    }
}

/// Maps names that can be confused to the same text: lower case, without separators, and with one
/// letter for each group of characters that look alike.
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
    fn resolve_and_what_looks_like_it_is_reserved_and_nothing_else() {
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
            assert!(is_reserved(name), "{name}");
        }
        for name in [
            "resolver",
            "resolve_all",
            "solve",
            "ast_edit",
            "batch_rename_preview",
            "rename",
            "",
        ] {
            assert!(!is_reserved(name), "{name}");
        }
    }
}
