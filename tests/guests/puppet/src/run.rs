//! Runs steps and gathers their result.

use crate::airlock::tool::types::{Blob, Content, Link, ToolError, ToolResult};
use crate::exports::airlock::tool::resolver::Resolution;
use crate::script::Step;
use crate::{
    asking, descriptors, failed, files, greedy, handles, hostile, memory, output, pushing,
    surroundings,
};

/// One call of the puppet.
#[derive(Default)]
pub struct Run {
    content: Vec<Content>,
    details: Option<String>,
    /// None in `execute`.
    resolution: Option<Resolution>,
}

impl Run {
    pub fn of(resolution: Resolution) -> Self {
        Self {
            resolution: Some(resolution),
            ..Self::default()
        }
    }

    /// Runs the steps to the end, or to the first that makes the call fail.
    pub fn all(mut self, steps: &[Step]) -> Result<ToolResult, ToolError> {
        for step in steps {
            self.one(step)?;
        }
        Ok(ToolResult {
            content: self.content,
            details: self.details,
        })
    }

    fn one(&mut self, step: &Step) -> Result<(), ToolError> {
        match step {
            Step::Text { text } => self.say(text),
            Step::Image { bytes, mime } => {
                self.content.push(Content::Image(Blob {
                    data: vec![0; *bytes],
                    mime_type: mime.clone(),
                }));
            }
            Step::Link { uri, name, mime } => {
                let link = Link {
                    uri: uri.clone(),
                    name: name.clone(),
                    mime_type: mime.clone(),
                };
                self.content.push(Content::ResourceLink(link));
            }
            Step::Details { json } => self.details = Some(json.clone()),
            Step::ToolError { message, times } => {
                return Err(ToolError::Tool(message.repeat(times.unwrap_or(1))));
            }
            Step::Failed { message, times } => {
                return Err(ToolError::Failed(message.repeat(times.unwrap_or(1))));
            }
            Step::Cancelled => return Err(ToolError::Cancelled),
            Step::FailUntilAttempt { n } => self.fail_until(*n)?,
            Step::ResultBytes { bytes } => self.say("x".repeat(*bytes)),
            Step::ResultBlocks { count } => (0..*count).for_each(|_| self.say("block")),

            Step::Push(push) => self.say_all(push.run()),
            Step::PushRawState {
                label,
                text,
                has_reject,
            } => self.say(pushing::raw_state(label, text, *has_reject)),

            Step::Trap => hostile::trap(),
            Step::Panic { message } => panic!("{message}"),
            Step::Exit { code } => std::process::exit(*code),
            Step::Spin => hostile::spin(),
            Step::Block { ms } => hostile::block(*ms),
            Step::SpinUntilCancelled { stubborn } => {
                hostile::spin_until_cancelled();
                if !stubborn {
                    return Err(ToolError::Cancelled);
                }
            }
            Step::Allocate { mib, gently } => self.say(hostile::allocate(*mib, *gently)),
            Step::Recurse => hostile::recurse(),
            Step::Ask { what, times } => self.say(asking::ask(*what, *times)),
            Step::Keep { what, count } => self.say(asking::keep(*what, *count)),
            Step::Wait { distinct, each } => self.say(asking::wait(*distinct, *each)),
            Step::Reach { how } => self.say(asking::reach(how)),
            Step::MakeMany {
                path,
                count,
                nested,
            } => self.say(files::make_many(path, *count, *nested)),
            Step::Greedy(step) => self.say(greedy::run(step)),

            Step::Log {
                lines,
                message,
                level,
            } => output::log(*lines, message.as_deref(), level.as_deref())?,
            Step::Stdout { lines } => output::lines(std::io::stdout(), "stdout", *lines)?,
            Step::Stderr { lines } => output::lines(std::io::stderr(), "stderr", *lines)?,
            Step::LongLine { bytes } => output::long_line(*bytes)?,
            Step::Progress {
                message,
                progress,
                total,
            } => output::progress(message, *progress, *total),

            Step::Session => self.say(surroundings::session()),
            Step::IsCancelled => self.say(surroundings::is_cancelled()),
            Step::Resolution => self.say(surroundings::resolution(self.resolution.as_ref())),
            Step::Ledger => files::to_ledger(self.resolution.as_ref())?,
            Step::Env => self.say(surroundings::env()),
            Step::Now => self.say(surroundings::now()),
            Step::Wall => self.say(surroundings::wall()),
            Step::HashOrder => self.say(surroundings::hash_order()),
            Step::Random { bytes } => self.say(surroundings::random(*bytes)),

            Step::Remember { key, value } => memory::remember(key, value),
            Step::Recall { key } => self.say(memory::recall(key)),

            Step::Fs(step) => self.say(files::run(step)),
            Step::WriteSaid { path } => self.write_said(path)?,
            Step::OpenMany { path, count } => self.say(handles::open_many(path, *count)),
            Step::ListMany { path, count } => self.say(handles::list_many(path, *count)),
            Step::OpenManyKept { path, count } => self.say(handles::open_many_kept(path, *count)),
            Step::Hold { path, read_only } => self.say(handles::hold(path, *read_only)),
            Step::HoldRead => self.say(handles::read()),
            Step::HoldWrite { text } => self.say(handles::write(text)),
            Step::HoldSetlen { len } => self.say(handles::set_len(*len)),
            Step::HoldSettimes => self.say(handles::set_times()),

            Step::Raw(step) => self.say(descriptors::run(step)),
            Step::HoldStream { path, append } => self.say(descriptors::hold_stream(path, *append)),
            Step::HoldStreamWrite { text } => self.say(descriptors::stream_write(text)),
            Step::HoldStreamZeroes { bytes } => self.say(descriptors::stream_zeroes(*bytes)),
        }
        Ok(())
    }

    fn say(&mut self, text: impl Into<String>) {
        self.content.push(Content::Text(text.into()));
    }

    fn say_all(&mut self, texts: Vec<String>) {
        self.content.extend(texts.into_iter().map(Content::Text));
    }

    fn write_said(&self, path: &str) -> Result<(), ToolError> {
        let mut lines = String::new();
        for content in &self.content {
            if let Content::Text(text) = content {
                lines.push_str(text);
                lines.push('\n');
            }
        }
        std::fs::write(path, lines).map_err(|error| failed(format!("{path}: {error}")))
    }

    fn fail_until(&self, n: u32) -> Result<(), ToolError> {
        match self
            .resolution
            .as_ref()
            .map(|resolution| resolution.attempt)
        {
            Some(attempt) if attempt >= n => Ok(()),
            Some(attempt) => Err(failed(format!(
                "attempt {attempt} fails, attempt {n} will not"
            ))),
            None => Err(failed("there are attempts only in a resolution")),
        }
    }
}
