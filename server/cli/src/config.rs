//! `strata config`: shows and changes settings.

use std::fs;
use std::path::Path;
use std::process::{Command, ExitCode};

use serde_json::Value;
use strata_app::commands::server::{SettingsReply, ShowSettings};
use strata_app::commands::{CommandError, NoArguments, Reply, SettingLayer};
use strata_app::runtime::headless::{
    HeadlessWorkspace, SettingChangeError, SettingsFile, setting_value, value_to_toml,
};
use strata_app::table::{Align, Table};

use crate::arguments::{ConfigArguments, ConfigCommand};
use crate::failure::Failure;
use crate::output;
use crate::repository;

/// Maximum characters of a value in the list.
const MAX_VALUE_CHARS: usize = 24;

pub(crate) fn run(arguments: &ConfigArguments) -> Result<ExitCode, Failure> {
    let (mut headless, problems) = repository::open_with_problems(&arguments.repository)?;
    // A broken file must not keep anyone from repairing it.
    for problem in &problems {
        output::print_message(&format!("warning: {problem}"));
    }
    let file = |is_workspace| if is_workspace { SettingsFile::Workspace } else { SettingsFile::User };
    match &arguments.command {
        ConfigCommand::List { all, json } => list_settings(&mut headless, *all, *json)?,
        ConfigCommand::Get { name } => get(&mut headless, name)?,
        ConfigCommand::Set { name, value, workspace } => {
            set_or_remove_setting(&mut headless, file(*workspace), name, Some(value))?;
        }
        ConfigCommand::Unset { name, workspace } => {
            set_or_remove_setting(&mut headless, file(*workspace), name, None)?;
        }
        ConfigCommand::Edit { workspace } => {
            return edit_settings_file(&headless, file(*workspace), arguments);
        }
        ConfigCommand::Path { workspace } => {
            let path = headless.settings_file(file(*workspace)).map_err(change_failure)?;
            output::print_text(&format!("{}\n", path.display()))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn change_failure(error: SettingChangeError) -> Failure {
    Failure::new(error.to_string())
}

fn effective_settings(headless: &mut HeadlessWorkspace) -> Result<Reply<SettingsReply>, CommandError> {
    headless.call::<ShowSettings>(NoArguments {})
}

fn list_settings(headless: &mut HeadlessWorkspace, all: bool, json: bool) -> Result<(), Failure> {
    let reply = effective_settings(headless)?;
    if json {
        return output::print_json(&reply);
    }
    let mut table = Table::new([Align::Left, Align::Left, Align::Left]);
    table.add_row(["setting", "value", "set in"].map(str::to_owned));
    let mut row_count = 0;
    for (name, origin) in &reply.origins {
        let is_default = origin.layer == SettingLayer::Defaults;
        if is_default && !all {
            continue;
        }
        row_count += 1;
        let value = setting_value(&reply.settings, name).map(value_text).unwrap_or_default();
        let source = match origin.layer {
            SettingLayer::Defaults => String::new(),
            SettingLayer::User => "your settings".to_owned(),
            _ => output::one_line(&origin.name).to_string(),
        };
        table.add_row([name.clone(), output::shorten(&value, MAX_VALUE_CHARS), source]);
    }
    if row_count == 0 {
        output::print_message("all settings have their defaults; --all lists them");
        return Ok(());
    }
    output::print_report(&table.render())
}

fn get(headless: &mut HeadlessWorkspace, name: &str) -> Result<(), Failure> {
    let reply = effective_settings(headless)?;
    match setting_value(&reply.settings, name) {
        Some(Value::Null) => {
            output::print_message(&format!("`{name}` is not set"));
            Ok(())
        }
        Some(value) => output::print_text(&format!("{}\n", value_text(value))),
        None => Err(change_failure(SettingChangeError::unknown_setting(name))),
    }
}

/// Returns a value as `strata config set` accepts it.
fn value_text(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        value => value_to_toml(value),
    }
}

fn set_or_remove_setting(
    headless: &mut HeadlessWorkspace,
    file: SettingsFile,
    name: &str,
    value: Option<&String>,
) -> Result<(), Failure> {
    let path = headless.change_setting(file, name, value.map(String::as_str)).map_err(change_failure)?;
    let action = match value {
        Some(value) => format!("set {name} to {value}"),
        None => format!("removed {name}"),
    };
    output::print_message(&format!("{action} in {}", path.display()));
    Ok(())
}

/// Opens a settings file in the user's editor, and checks it afterwards.
fn edit_settings_file(
    headless: &HeadlessWorkspace,
    file: SettingsFile,
    arguments: &ConfigArguments,
) -> Result<ExitCode, Failure> {
    let path = headless.settings_file(file).map_err(change_failure)?;
    let variable = |name: &str| std::env::var(name).ok().filter(|editor| !editor.trim().is_empty());
    let editor = variable("VISUAL").or_else(|| variable("EDITOR")).ok_or_else(|| {
        Failure::new(format!(
            "no editor is set; set the variable EDITOR, or edit {} yourself",
            path.display()
        ))
    })?;
    if let Some(directory) = path.parent() {
        fs::create_dir_all(directory).map_err(|error| Failure::new(error.to_string()))?;
    }
    if !run_editor(&editor, &path)? {
        return Ok(ExitCode::FAILURE);
    }
    let (_, problems) = repository::open_with_problems(&arguments.repository)?;
    for problem in &problems {
        output::print_message(&format!("warning: {problem}"));
    }
    Ok(if problems.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Runs an editor, given as a program with arguments. Returns whether it succeeded.
fn run_editor(editor: &str, path: &Path) -> Result<bool, Failure> {
    let mut words = editor.split_whitespace();
    let program = words.next().unwrap_or_default();
    let status = Command::new(program).args(words).arg(path).status();
    let status = status.map_err(|error| Failure::new(format!("cannot run `{program}`: {error}")))?;
    Ok(status.success())
}
