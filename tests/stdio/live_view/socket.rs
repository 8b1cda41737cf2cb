//! The Unix socket of a server: who can reach it, hostile requests, and servers that reply nonsense.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::Shutdown;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _, PermissionsExt as _};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::Command;

use e2e::mutation::mutated;
use e2e::{Shell, rerun};
use serde_json::{Value, json};

use super::{editor, endpoints, read, settle};
use crate::small;

#[test]
fn only_the_user_can_reach_an_endpoint_and_it_survives_hostile_requests() {
    let repo = small();
    let shell = Shell::new(&repo);
    let mut editor = editor(&repo, &shell);
    editor.open_text("notes.txt", "plaintext", "typed\n");
    settle(&mut editor);
    let directory = shell.state().join("live");
    let [socket] = &endpoints(shell.state())[..] else { panic!("one socket") };
    let metadata = socket.symlink_metadata().unwrap();
    assert!(metadata.file_type().is_socket());
    assert_eq!((metadata.mode() & 0o777, directory.metadata().unwrap().mode() & 0o777), (0o600, 0o700));

    let ask = |request: &[u8]| {
        let mut stream = UnixStream::connect(socket).unwrap();
        // The server may close the connection first.
        let _ = stream.write_all(request);
        let _ = stream.shutdown(Shutdown::Write);
        let mut reply = Vec::new();
        let _ = stream.read_to_end(&mut reply);
        reply
    };
    let nested = format!("{}1{}", "[".repeat(100_000), "]".repeat(100_000));
    let endless = vec![b'{'; 5 << 20];
    for hostile in [
        &b""[..],
        b"\0\xff\xfe",
        b"{",
        b"null",
        b"{\"protocol\":1}",
        b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"{\"protocol\":1,\"folder\":7,\"known\":{}}",
        b"{\"protocol\":-1,\"folder\":\"/\",\"known\":{}}",
        nested.as_bytes(),
        &endless,
    ] {
        let reply = ask(hostile);
        assert!(!String::from_utf8_lossy(&reply).contains("typed"), "{:?}", String::from_utf8_lossy(&reply));
    }
    let valid = json!({ "protocol": 1, "folder": "/nowhere", "known": { "file:///a": 7 } }).to_string();
    for seed in 0..200 {
        let reply = ask(mutated(&[&valid], seed).as_bytes());
        assert!(!String::from_utf8_lossy(&reply).contains("typed"), "mutation {seed}");
    }
    let other_version = ask(b"{\"protocol\":999,\"question\":\"?\"}");
    let other_version: Value = serde_json::from_slice(&other_version).unwrap();
    assert_eq!(other_version["protocol"], 1);
    assert_eq!(other_version.as_object().unwrap().len(), 2, "{other_version}");

    let mut agent = shell.agent();
    assert_eq!(read(&mut agent, "notes.txt")["text"], "typed\n");
    agent.end();
    editor.quit();
    assert!(endpoints(shell.state()).is_empty());
}

/// The socket in the environment of a test that runs itself as another process.
const SOCKET: &str = "SOCKET_OF_THE_TEST";
const NOBODY: u32 = 65_534;

/// Returns a command that connects to a socket and prints how long the reply is.
fn client(socket: &Path) -> Command {
    let mut client =
        rerun(module_path!(), "a_process_of_another_user_gets_no_reply_even_if_it_can_reach_the_socket");
    client.env(SOCKET, socket).current_dir("/");
    client
}

fn output(client: &mut Command) -> String {
    String::from_utf8_lossy(&client.output().unwrap().stdout).into_owned()
}

fn open_to_everyone(path: &Path) {
    fs::set_permissions(path, fs::Permissions::from_mode(0o777)).unwrap();
}

/// The socket and its directory are opened to everyone first, so that only the comparison of users is left.
#[expect(clippy::print_stdout, reason = "the test runs itself as the other process")]
#[test]
fn a_process_of_another_user_gets_no_reply_even_if_it_can_reach_the_socket() {
    if let Some(socket) = std::env::var_os(SOCKET) {
        let mut reply = Vec::new();
        match UnixStream::connect(socket) {
            Ok(mut stream) => {
                let _ = stream.write_all(b"{\"protocol\":999}");
                let _ = stream.shutdown(Shutdown::Write);
                let _ = stream.read_to_end(&mut reply);
                println!("connected, {} bytes", reply.len());
            }
            Err(error) => println!("refused: {:?}", error.kind()),
        }
        return;
    }
    let repo = small();
    let shell = Shell::new(&repo);
    let mut editor = editor(&repo, &shell);
    settle(&mut editor);
    let [socket] = &endpoints(shell.state())[..] else { panic!("one socket") };
    let as_user = output(&mut client(socket));
    assert!(as_user.contains("connected, ") && !as_user.contains("connected, 0 bytes"), "{as_user}");
    // Only the superuser can start processes of other users.
    if shell.state().metadata().unwrap().uid() != 0 {
        return;
    }
    let as_nobody = || output(client(socket).uid(NOBODY).gid(NOBODY));
    assert!(as_nobody().contains("refused: PermissionDenied"));
    open_to_everyone(shell.state());
    open_to_everyone(&shell.state().join("live"));
    assert!(as_nobody().contains("refused: PermissionDenied"), "the socket itself is private");
    open_to_everyone(socket);
    assert!(as_nobody().contains("connected, 0 bytes"));
    editor.quit();
}

/// In the container the process is the superuser, as the user of the server may be outside.
#[cfg(target_os = "linux")]
#[test]
fn a_container_of_another_user_gets_no_reply_over_a_mount_of_the_socket() {
    const MOUNT_AND_RUN: &str = r#"mount --bind "$1" "$2" && shift 2 && exec "$@""#;

    let repo = small();
    let shell = Shell::new(&repo);
    let mut editor = editor(&repo, &shell);
    settle(&mut editor);
    let [socket] = &endpoints(shell.state())[..] else { panic!("one socket") };
    let mount_point = tempfile::tempdir().unwrap();
    for path in [shell.state(), &shell.state().join("live"), socket, mount_point.path()] {
        open_to_everyone(path);
    }
    let container_of = |user: u32| {
        let inner = client(&mount_point.path().join(socket.file_name().unwrap()));
        let mut container = Command::new("unshare");
        container.args(["--user", "--map-root-user", "--mount", "sh", "-c", MOUNT_AND_RUN, "sh"]);
        container.arg(shell.state().join("live")).arg(mount_point.path()).arg(inner.get_program());
        container.args(inner.get_args()).current_dir("/");
        container.envs(inner.get_envs().filter_map(|(name, value)| Some((name, value?))));
        container.uid(user).gid(user);
        output(&mut container)
    };
    let owner = shell.state().metadata().unwrap().uid();
    let of_owner = container_of(owner);
    // Systems may forbid containers without a superuser, and only the superuser can start processes of other users.
    if owner != 0 || !of_owner.contains("connected, ") {
        return;
    }
    assert!(!of_owner.contains("connected, 0 bytes"), "{of_owner}");
    assert!(container_of(NOBODY).contains("connected, 0 bytes"));
    editor.quit();
}

#[test]
fn a_server_of_another_version_or_without_sense_is_reported_and_the_disk_shown() {
    let repo = small();
    let shell = Shell::new(&repo);
    drop(editor(&repo, &shell));
    for (reply, expected) in [
        (
            &b"{\"protocol\":2,\"version\":\"9.0.0\\u001b[31m\",\"documents\":{}}"[..],
            "another version of Strata (9.0.0\\u{1b}[31m)",
        ),
        (b"nonsense", "sent an invalid reply"),
    ] {
        let socket = shell.state().join("live/0123.sock");
        let listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
        let serving = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut request = Vec::new();
            stream.read_to_end(&mut request).unwrap();
            stream.write_all(reply).unwrap();
        });
        let printed = shell.run(&["read", "notes.txt"], "");
        assert_eq!(printed.out, "Remember the milk.\n");
        assert!(printed.err.contains(expected), "{printed:?}");
        serving.join().unwrap();
        fs::remove_file(socket).unwrap();
    }
}
