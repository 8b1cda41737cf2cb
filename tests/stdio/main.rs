//! The real binary, driven over stdio as an editor does it. What is shown here is that the parts are wired together;
//! what each of them does in every case is shown where it lives.

#![expect(clippy::unwrap_used, clippy::panic, reason = "test support outside of test functions")]
#![expect(clippy::needless_pass_by_value, reason = "JSON is written where it is used")]

mod asking;
mod body_counts;
mod calibration;
mod client_capabilities;
mod commands;
mod compaction;
mod determinism;
mod document_names;
mod excerpts;
mod file_watching;
mod forwarding;
mod front_ends;
mod lifecycle;
mod line_endings;
mod live_view;
mod navigation;
mod notebooks;
mod one_name;
mod parse_limits;
mod readiness;
mod redaction;
mod repeated_key;
mod request_order;
mod restored_secrets;
mod selected_lines;
mod selection;
mod sending;
mod sessions;
mod setting_layers;
mod settings;
mod spellings;
#[cfg(unix)]
mod state_directory;
mod status;
mod sync;
mod tiers;
#[cfg(target_os = "linux")]
mod trust;
mod turns;
mod typing;
mod urls;
mod user_model;
mod warm_start;
mod without_plugin;
mod workspace_context;

use e2e::Repo;

/// Two Rust files of which one uses the other, and one in Python.
fn small() -> Repo {
    Repo::new(
        r#"
        //- src/lib.rs
        mod greet;

        pub fn add(left: u32, right: u32) -> u32 {
            left + right
        }
        //- src/greet.rs
        pub fn greet(name: &str) -> String {
            format!("on disk {name}")
        }
        //- tool.py
        class Tool:
            def run(self, speed):
                return "slow"
        //- notes.txt
        Remember the milk.
        "#,
    )
}
