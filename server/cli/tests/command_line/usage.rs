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
          serve      Serve an editor: the language server on standard input and output
          prompt     Make a prompt: the request on standard output, what is in it on standard error
          map        Show the symbol map of a repository
          tokens     Count the tokens of files
          sessions   Look after the conversations that are stored for a workspace
          memory     Keep notes that outlive every conversation
          iteration  Remember the iterations of an autonomous loop and make the prompt of the next one
          replay     Play recorded sessions and say what each layout of their prompts costs
          doctor     Say what works and what does not
          schema     Print the JSON Schema of the protocol or of the settings
          help       Print this message or the help of the given subcommand(s)

        Options:
          -h, --help     Print help
          -V, --version  Print version
    "#]]
    .assert_eq(&run.out);
}
