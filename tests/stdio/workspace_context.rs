//! What prompts say of the workspace besides its files.

use e2e::{Editor, Repo, Setup, Shell};
use serde_json::json;

fn repo() -> Repo {
    Repo::new(
        r"
        //- AGENTS.md
        Use tabs, never spaces.
        //- MEMORY.md
        The parser is slow.
        //- .claude/skills/release/SKILL.md
        ---
        name: release
        description: Makes a release
        ---
        Do many things.
        //- main.py
        print(1)
        ",
    )
}

#[test]
fn rules_skills_and_memory_stand_in_the_system_prompt_of_a_trusted_workspace() {
    let mut editor = Setup::new(&repo()).options(json!({ "trusted": true })).start();
    let system = editor.assemble().0["body"]["system"].to_string();
    for said in ["Use tabs, never spaces.", "The parser is slow.", "- release: Makes a release"] {
        assert!(system.contains(said), "{said}: {system}");
    }
    assert!(!system.contains("Do many things."), "a skill is only listed");
    editor.open("AGENTS.md");
    editor.replace("AGENTS.md", "tabs", "two blanks");
    assert!(
        editor.assemble().0["body"]["system"].to_string().contains("Use two blanks"),
        "unsaved text counts"
    );
}

/// A monorepo with rules of several tools.
fn monorepo() -> Repo {
    Repo::new(
        r#"
        //- AGENTS.md
        Root rules.
        //- web/AGENTS.md
        Web rules.
        //- web/app/AGENTS.md
        App rules.
        //- web/app/page.tsx
        export const page = 1
        //- api/users.py
        users = []
        //- .cursor/rules/always.mdc
        ---
        description: x
        alwaysApply: true
        ---
        Cursor always.
        //- .cursor/rules/tsx.mdc
        ---
        globs: *.tsx,*.jsx
        alwaysApply: false
        ---
        Cursor tsx.
        //- .cursor/rules/manual.mdc
        ---
        description: Only when asked
        ---
        Cursor manual.
        //- .github/instructions/api.instructions.md
        ---
        applyTo: "api/**/*.py,api/*.pyi"
        ---
        Copilot api.
        //- .claude/rules/web.md
        ---
        paths:
          - "web/**/*.{ts,tsx}"
        ---
        Claude web.
        //- .claude/rules/all.md
        Claude all.
        "#,
    )
}

#[test]
fn rules_apply_to_the_files_for_which_their_tools_document_them() {
    let repo = monorepo();
    let mut editor = Setup::new(&repo).options(json!({ "trusted": true })).start();
    let all = [
        "Root rules.",
        "Web rules.",
        "App rules.",
        "Cursor always.",
        "Cursor tsx.",
        "Cursor manual.",
        "Copilot api.",
        "Claude web.",
        "Claude all.",
    ];
    for (selected, expected) in [
        (&[][..], &["Root rules.", "Cursor always.", "Claude all."][..]),
        (&["api/users.py"], &["Root rules.", "Cursor always.", "Copilot api.", "Claude all."]),
        (
            &["web/app/page.tsx"],
            &[
                "Root rules.",
                "Cursor always.",
                "Cursor tsx.",
                "Claude all.",
                "Claude web.",
                "Web rules.",
                "App rules.",
            ],
        ),
    ] {
        editor.run("files.set", json!({ "paths": selected }));
        let system = editor.assemble().0["body"]["system"].to_string();
        let mut quoted: Vec<(usize, &str)> =
            all.iter().filter_map(|text| Some((system.find(text)?, *text))).collect();
        quoted.sort_unstable();
        let quoted: Vec<&str> = quoted.into_iter().map(|(_, text)| text).collect();
        assert_eq!(quoted, expected, "{selected:?}");
    }
}

#[test]
fn the_rules_of_a_file_are_listed_with_the_reason() {
    let repo = monorepo();
    let shell = Shell::new(&repo);
    let printed = shell.run(&["rules", "web/app/new.tsx"], "");
    assert_eq!(
        printed.out,
        "AGENTS.md: always\n\
         .cursor/rules/always.mdc: always\n\
         .cursor/rules/tsx.mdc: `**/*.tsx` matches web/app/new.tsx\n\
         .claude/rules/all.md: always\n\
         .claude/rules/web.md: `web/**/*.{ts,tsx}` matches web/app/new.tsx\n\
         web/AGENTS.md: is above web/app/new.tsx\n\
         web/app/AGENTS.md: is above web/app/new.tsx\n\n\
         not for these files:\n\
         .cursor/rules/manual.mdc: only on request\n\
         .github/instructions/api.instructions.md: only for api/**/*.py, api/*.pyi\n"
    );
    let untrusted = shell.run(&["rules", "--untrusted"], "");
    assert!(untrusted.out.contains("not trusted"), "{untrusted:?}");
}

#[test]
fn an_untrusted_workspace_adds_nothing_to_the_system_prompt() {
    let mut editor = Editor::start(&repo());
    let system = editor.assemble().0["body"]["system"].to_string();
    for said in ["Use tabs", "The parser is slow", "release"] {
        assert!(!system.contains(said), "{said}: {system}");
    }
}

#[test]
fn files_read_by_tools_are_listed_last_until_a_compaction_drops_their_texts() {
    let settings = json!({ "compaction": { "profile": "continuation" } });
    let mut editor =
        Setup::new(&repo()).settings(settings.clone()).options(json!({ "settings": settings })).start();
    let call =
        json!([{ "type": "tool_call", "id": "c1", "name": "Read", "input": { "file_path": "main.py" } }]);
    editor.run("history.addExchange", json!({ "user": "look", "assistant": call }));
    editor.run("toolOutput.add", json!({ "callId": "c1", "content": "print(1)" }));
    editor.run("files.markRead", json!({ "paths": ["AGENTS.md"] }));
    let last = |editor: &mut Editor| {
        let messages = editor.assemble().0["body"]["messages"].clone();
        messages.as_array().unwrap().last().unwrap().to_string()
    };
    let told = last(&mut editor);
    assert!(told.contains("do not read them again") && told.contains("`main.py`, `AGENTS.md`"), "{told}");
    let steps = editor.run("session.steps", json!({}));
    assert_eq!(
        (&steps["steps"][0]["tool"], &steps["steps"][0]["subject"]),
        (&json!("Read"), &json!("main.py"))
    );
    for _ in 0..10 {
        editor.run("history.addExchange", json!({ "user": "more", "assistant": "much ".repeat(300) }));
    }
    editor.run("compaction.run", json!({}));
    assert!(!last(&mut editor).contains("do not read"));
    assert_eq!(
        editor.run("session.steps", json!({}))["steps"].as_array().unwrap().len(),
        1,
        "the last ten stay"
    );
}
