//! Words that lead nowhere, and those that help.

use expect_test::expect;

use crate::repo::Repo;

#[test]
fn a_wrong_command_line_is_exit_code_2_with_a_hint() {
    let repo = Repo::new(&[]);
    for arguments in [
        &["promt", "Hello"] as &[&str],
        &["prompt"],
        &["prompt", "--format", "word", "Hello"],
        &["map", "--budget", "many"],
        &["serve", "--log", "loud"],
        &["mcp", "--log", "loud"],
        &["sessions"],
        &["sessions", "delete"],
        &["sessions", "export", "a", "--format", "word"],
        &["memory", "remove", "first"],
        &[],
    ] {
        let run = repo.strata(arguments);
        assert_eq!((run.code, &*run.out), (Some(2), ""), "{arguments:?}: {}", run.err);
        assert!(run.err.contains("--help"), "{}", run.err);
    }
    let run = repo.strata(&["promt", "Hello"]);
    assert!(run.err.contains("similar subcommand exists: 'prompt'"), "{}", run.err);
}

#[test]
fn the_version_is_the_package_s() {
    let run = Repo::new(&[]).strata(&["--version"]);
    assert_eq!(run.out, format!("strata {}\n", env!("CARGO_PKG_VERSION")));
}

#[test]
fn help_names_every_command_that_there_is() {
    let run = Repo::new(&[]).strata(&["help"]);
    assert_eq!(run.code, Some(0));
    expect![[r#"
        Decides what a language model gets to see: a context-managing language server and command line tool

        Usage: strata <COMMAND>

        Commands:
          serve        Serve an editor: the language server on standard input and output
          mcp          Serve an agent: a server of the Model Context Protocol on standard input and output
          ask          Ask a model: the answer on standard output, what it cost on standard error
          prompt       Make a prompt: the request on standard output, what is in it on standard error
          record       Record what came of a prompt that you sent yourself: the answer on standard input
          map          Show the symbol map of a repository
          context      Name the files and definitions that a task is about
          symbols      Find definitions by their names
          outline      Show the definitions of a file
          references   Show where a name is defined and who refers to it
          grep         Search files by a pattern
          read         Print a file, lines of it, or a definition in it
          tokens       Count the tokens of files
          sessions     Manage the stored conversations of a workspace
          memory       Keep notes that outlive every conversation
          iteration    Remember the iterations of an autonomous loop and make the prompt of the next one
          replay       Play recorded sessions and say what each layout of their prompts costs
          status       Show what a session weighs and costs, and keep showing it
          doctor       Say what works and what does not
          schema       Print the JSON Schema of the protocol or of the settings
          completions  Print a script that completes what is typed in a shell
          man          Print the manual page, or write those of all commands
          help         Print this message or the help of the given subcommand(s)

        Options:
          -h, --help     Print help
          -V, --version  Print version
    "#]]
    .assert_eq(&run.out);
}

#[test]
fn help_keeps_to_the_width_and_is_plain_without_a_terminal() {
    let repo = Repo::new(&[]);
    for width in [50, 80] {
        let run = repo.strata_under(&[("COLUMNS", &width.to_string())], &["map", "--help"]);
        let longest = run.out.lines().map(|line| line.chars().count()).max();
        assert!(longest <= Some(width) && longest > Some(width - 20), "{longest:?}: {}", run.out);
        assert!(!run.out.contains('\u{1b}'));
    }
}

#[test]
fn shells_and_man_know_every_command() {
    let repo = Repo::new(&[("man/.keep", "")]);
    let help = repo.strata(&["help"]).out;
    let commands = help
        .lines()
        .filter_map(|line| line.strip_prefix("  ")?.split(' ').next().filter(|name| !name.is_empty()));
    let commands: Vec<&str> = commands.filter(|name| !name.starts_with('-') && *name != "help").collect();
    assert!(commands.contains(&"prompt") && commands.contains(&"man"), "{commands:?}");
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = repo.strata(&["completions", shell]);
        assert_eq!((script.code, &*script.err), (Some(0), ""));
        assert!(commands.iter().all(|command| script.out.contains(command)), "{shell}");
    }
    let folder = repo.folder().join("man");
    let written = repo.strata(&["man", "--output", &folder.to_string_lossy()]);
    assert_eq!((written.code, &*written.err), (Some(0), ""));
    for command in commands {
        let page = std::fs::read_to_string(folder.join(format!("strata-{command}.1"))).unwrap();
        assert!(page.contains(".SH SYNOPSIS"), "{command}");
    }
    assert!(repo.strata(&["man"]).out.contains(".SH SUBCOMMANDS"));
    assert!(repo.strata(&["man", "-o", "/no/such/folder"]).err.contains("cannot write to"));
}
