//! The examples of the commands that check.

pub const AUDIT_EXAMPLES: &str = "\
Examples:
  What is installed here, and what has it done?
    airlock audit

  One plugin:
    airlock audit dedupe

  The installed plugins that were never used:
    airlock audit --json | jq -r '.plugins[] | select(.unused) | .name'

  In a script, which fails if an advisory is known or a component is damaged:
    airlock audit --json > audit.json";

pub const DOCTOR_EXAMPLES: &str = "\
Examples:
  airlock doctor
  airlock doctor --workspace ~/photos --offline";
