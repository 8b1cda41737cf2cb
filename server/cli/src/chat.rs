//! `strata chat`: a conversation with the configured model at a prompt. Lines that begin with `/` are commands. Ctrl-C stops
//! an answer, and Ctrl-D ends the program.

mod line_editor;

use std::process::ExitCode;

use strata_app::commands::budget::ReportBudget;
use strata_app::commands::compaction::{ReportedRequestParams, RunParams};
use strata_app::commands::files::{
    DeselectFiles, FilePathsParams, ListSelection, SelectFiles, SelectionChange,
};
use strata_app::commands::history::{ListMessages, TruncateHistory, TruncateParams};
use strata_app::commands::prompt::{AssembleParams, AssemblePrompt};
use strata_app::commands::send::SendParams;
use strata_app::commands::session::ResetSession;
use strata_app::commands::{Choice, Command, ContentBlock, Image, NoArguments, Role, ToolAccess};
use strata_app::format::dollars;
use strata_app::runtime::headless::{Cancel, HeadlessWorkspace};

use self::line_editor::{LineEditor, ReadOutcome};
use crate::answer::{self, Audience, provider_failure};
use crate::arguments::ChatArguments;
use crate::ask::{ContinueMode, open_conversation};
use crate::failure::Failure;
use crate::interrupts::{InterruptHandler, SecondInterrupt};
use crate::output::{self, count, pluralize};
use crate::sessions::format_size;
use crate::usage::{cached_percent, format_count};
use crate::{repository, selecting};

/// Commands, with their arguments and what they do.
const COMMANDS: [(&str, &str, &str); 9] = [
    ("/select", "PATH..", "show files, folders, globs or lines (a.py#L10-40) in full"),
    ("/drop", "PATH..", "stop showing files in full"),
    ("/files", "", "list the selected files"),
    ("/undo", "", "forget the last question and its answer"),
    ("/cost", "", "show what the conversation has cost so far"),
    ("/compact", "[PROFILE]", "shorten the conversation"),
    ("/new", "", "start a new conversation with the same files"),
    ("/help", "", "list the commands"),
    ("/quit", "", "end the program, like Ctrl-D"),
];

/// A conversation at a prompt.
struct Chat {
    headless: HeadlessWorkspace,
    interrupts: InterruptHandler,
    model: Option<String>,
    tools: ToolAccess,
    /// Images for the next question.
    images: Vec<Image>,
}

pub(crate) fn run(arguments: &ChatArguments) -> Result<ExitCode, Failure> {
    let mut headless = repository::open_stored(&arguments.repository)?;
    headless.provider_report().map_err(|error| provider_failure(&error))?;
    open_conversation(&mut headless, &arguments.conversation, ContinueMode::InPlace)?;
    repository::list_files(&mut headless)?;
    selecting::apply_selection(&mut headless, &arguments.selecting)?;
    let images = selecting::add_attachments(&mut headless, &arguments.selecting)?;
    repository::index_with_progress(&mut headless)?;
    output::print_message("/help lists the commands, Ctrl-C stops an answer, Ctrl-D ends the program");
    let tools = if arguments.tools { ToolAccess::Read } else { ToolAccess::None };
    let interrupts = InterruptHandler::listen(SecondInterrupt::Cancels);
    Chat { headless, interrupts, model: arguments.model.clone(), tools, images }.read_lines()?;
    Ok(ExitCode::SUCCESS)
}

impl Chat {
    /// Reads and carries out lines until the input ends.
    fn read_lines(&mut self) -> Result<(), Failure> {
        let mut editor = LineEditor::new(COMMANDS.map(|(name, ..)| name).to_vec())?;
        loop {
            let files = self.headless.snapshot().index.files.iter().map(|key| key.as_str().to_owned());
            match editor.read(files.collect())? {
                ReadOutcome::End => return Ok(()),
                ReadOutcome::Interrupted => output::print_message("Ctrl-D or /quit ends the program"),
                ReadOutcome::Line(line) if line.trim().is_empty() => {}
                ReadOutcome::Line(line) => match self.run_line(&line) {
                    Ok(LineOutcome::Line) => {}
                    Ok(LineOutcome::End) => return Ok(()),
                    // The conversation goes on.
                    Err(Failure::Message(message)) => output::print_message(&format!("error: {message}")),
                    Err(output_closed @ Failure::OutputClosed) => return Err(output_closed),
                },
            }
        }
    }

    fn run_line(&mut self, line: &str) -> Result<LineOutcome, Failure> {
        if !line.starts_with('/') {
            self.ask(line.trim())?;
            return Ok(LineOutcome::Line);
        }
        let mut words = line.split_whitespace();
        let command = words.next().unwrap_or_default();
        let words: Vec<&str> = words.collect();
        match command {
            "/select" => self.change_selection::<SelectFiles>(&words)?,
            "/drop" => self.change_selection::<DeselectFiles>(&words)?,
            "/files" => self.list_files()?,
            "/undo" => self.undo()?,
            "/cost" => self.print_cost()?,
            "/compact" => self.compact(words.first().copied())?,
            "/new" => {
                self.headless.call::<ResetSession>(NoArguments {})?;
                output::print_message("new conversation");
            }
            "/help" => print_help(),
            "/quit" => return Ok(LineOutcome::End),
            other => {
                return Err(Failure::new(format!(
                    "no command `{other}`; /help lists them. To send the line to the model, begin it with a space"
                )));
            }
        }
        Ok(LineOutcome::Line)
    }

    fn ask(&mut self, text: &str) -> Result<(), Failure> {
        repository::index_with_progress(&mut self.headless)?;
        let images = std::mem::take(&mut self.images);
        let question = SendParams {
            prompt: text.to_owned(),
            images,
            model: self.model.clone(),
            tools: self.tools,
            ..SendParams::default()
        };
        let cancel = Cancel::new();
        self.interrupts.set_cancel(Some(&cancel));
        let answer = answer::ask(&mut self.headless, question, &cancel, Audience::Person);
        self.interrupts.set_cancel(None);
        let answer = answer?;
        answer::print_warnings_and_cost(&answer);
        match &answer.error {
            Some(error) => Err(Failure::new(format!("incomplete answer: {error}"))),
            None => Ok(()),
        }
    }

    fn change_selection<C: Command<Args = FilePathsParams, Reply = SelectionChange>>(
        &mut self,
        paths: &[&str],
    ) -> Result<(), Failure> {
        if paths.is_empty() {
            return Err(Failure::new("name at least one path"));
        }
        repository::list_files(&mut self.headless)?;
        let typed: Vec<String> = paths.iter().map(|path| self.headless.workspace_path(path)).collect();
        self.headless
            .call::<C>(FilePathsParams { paths: typed, ..FilePathsParams::default() })
            .map_err(|error| Failure::from_path_error(self.headless.folder(), &error))?;
        self.list_files()
    }

    fn list_files(&mut self) -> Result<(), Failure> {
        let list = self.headless.call::<ListSelection>(NoArguments {})?;
        let selected = list.files.iter().filter(|file| file.state == Choice::Selected);
        let selected: Vec<String> = selected
            .filter_map(|file| {
                Some(format!("{} ({})", output::one_line(&file.path), pluralize(file.tokens?, "token")))
            })
            .collect();
        match selected.is_empty() {
            true => output::print_message("no files are selected"),
            false => output::print_message(&format!("selected: {}", selected.join(", "))),
        }
        Ok(())
    }

    /// Deletes the last question and everything after it.
    fn undo(&mut self) -> Result<(), Failure> {
        let history = self.headless.call::<ListMessages>(NoArguments {})?;
        let is_text = |block: &ContentBlock| matches!(block, ContentBlock::Text { .. });
        let question = history
            .messages
            .iter()
            .rev()
            .find(|message| message.body.role == Role::User && message.body.content.iter().any(is_text));
        let Some(question) = question else { return Err(Failure::new("there is nothing to undo")) };
        let text = match question.body.content.first() {
            Some(ContentBlock::Text { text } | ContentBlock::Thinking { text, .. }) => text,
            _ => "",
        };
        let text = output::shorten(text, 60);
        self.headless.call::<TruncateHistory>(TruncateParams { from: question.id })?;
        output::print_message(&format!("forgot \"{text}\" and its answer"));
        Ok(())
    }

    fn print_cost(&mut self) -> Result<(), Failure> {
        let model = self.model.clone();
        let request = ReportedRequestParams { model: model.clone(), ..ReportedRequestParams::default() };
        let totals = self.headless.call::<ReportBudget>(request)?.totals;
        let price = totals.dollars.map_or_else(|| "unknown price".to_owned(), dollars);
        let next = AssembleParams {
            prompt: Some("?".to_owned()),
            model,
            dry_run: true,
            ..AssembleParams::default()
        };
        let next = self.headless.call::<AssemblePrompt>(next)?.cost.expected.dollars;
        let next =
            next.map(|next| format!("; the next question costs about {}", dollars(next))).unwrap_or_default();
        output::print_message(&format!(
            "{price}: {} tokens in ({:.0} % cached), {} out{next}",
            count(totals.usage.input_tokens()),
            cached_percent(totals.usage),
            format_count(totals.usage.output),
        ));
        Ok(())
    }

    fn compact(&mut self, profile: Option<&str>) -> Result<(), Failure> {
        let reply = self.headless.compact(RunParams { profile: profile.map(str::to_owned) })?;
        output::print_message(&format!(
            "compacted {}, now {}",
            format_size(reply.before),
            format_size(reply.after)
        ));
        Ok(())
    }
}

/// What follows a line.
enum LineOutcome {
    Line,
    End,
}

fn print_help() {
    for (name, arguments, description) in COMMANDS {
        output::print_message(&format!("{:<20} {description}", format!("{name} {arguments}")));
    }
    output::print_message(
        "A line that ends with a backslash continues on the next one. Pasted text may have several lines.",
    );
}
