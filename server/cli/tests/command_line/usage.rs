//! Tests invalid arguments and the help.

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
fn the_version_is_that_of_the_package() {
    let run = Repo::new(&[]).strata(&["--version"]);
    assert_eq!(run.out, format!("strata {}\n", env!("CARGO_PKG_VERSION")));
}

#[test]
fn help_lists_every_command() {
    let run = Repo::new(&[]).strata(&["help"]);
    assert_eq!(run.code, Some(0));
    expect![[r#"
        Language server and command-line tool that manages what a language model sees

        Usage: strata <COMMAND>

        Commands:
          serve        Start the language server on standard input and output
          mcp          Start a Model Context Protocol server on standard input and output, for agents
          ask          Ask a model: prints the answer to standard output and its cost to standard error
          chat         Talk with a model at a prompt, with line editing and commands
          prompt       Make a prompt: prints the request to standard output and its contents to standard
                       error
          record       Record the answer to a prompt you sent yourself, read from standard input
          map          Show the symbol map of a repository
          context      Find the files and definitions relevant to a task
          symbols      Find definitions by name
          outline      Show the definitions of a file
          rules        Show which rule files apply to files, and why
          references   Show where a name is defined and where it is used
          grep         Search files for a pattern
          read         Print a file, lines of it, or a definition in it
          pack         Make one text of files and outlines, for pasting into a chat
          tokens       Count the tokens of files
          sessions     Manage the stored conversations of a workspace
          memory       Manage notes that outlive conversations
          iteration    Record the iterations of an autonomous loop and make the prompt for the next one
          replay       Replay recorded sessions and report the cost of each prompt layout
          status       Show the size and cost of a session
          cost         Show what conversations cost, in tokens and money
          config       Show and change settings
          doctor       Check the installation
          schema       Print the JSON Schema of the protocol or of the settings
          completions  Print a shell completion script
          man          Print the manual page, or write the manual pages of all commands
          help         Print this message or the help of the given subcommand(s)

        Options:
          -h, --help     Print help
          -V, --version  Print version
    "#]]
    .assert_eq(&run.out);
}

#[test]
fn help_fits_the_width_and_has_no_colors_without_a_terminal() {
    let repo = Repo::new(&[]);
    for width in [50, 80] {
        let run = repo.strata_under(&[("COLUMNS", &width.to_string())], &["map", "--help"]);
        let longest = run.out.lines().map(|line| line.chars().count()).max();
        assert!(longest <= Some(width) && longest > Some(width - 20), "{longest:?}: {}", run.out);
        assert!(!run.out.contains('\u{1b}'));
    }
}

#[test]
fn completions_and_manual_pages_cover_every_command() {
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
