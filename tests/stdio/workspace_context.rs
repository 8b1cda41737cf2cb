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

/// Texts of the rules in the monorepo.
const RULES: [&str; 9] = [
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
        //- README.md
        A monorepo.
        //- api/users.py
        def load_users():
            return []
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
        let prompt = editor.assemble();
        assert_eq!(quoted(&prompt.text()), expected, "{selected:?}");
        assert_eq!(quoted(&prompt.0["body"]["system"].to_string()), expected, "{selected:?}");
    }
}

/// Returns the texts of the monorepo's rules that a prompt contains, in their order.
fn quoted(prompt: &str) -> Vec<&'static str> {
    let mut found: Vec<(usize, &str)> =
        RULES.iter().filter_map(|text| Some((prompt.find(text)?, *text))).collect();
    found.sort_unstable();
    found.into_iter().map(|(_, text)| text).collect()
}

#[test]
fn rules_of_open_and_excerpted_files_apply_and_leave_everything_cached_unchanged() {
    let repo = monorepo();
    let mut editor = Setup::new(&repo).options(json!({ "trusted": true })).start();
    editor.select(&["README.md"]);
    let everywhere = ["Root rules.", "Cursor always.", "Claude all."];
    let body = |editor: &mut Editor, prompt: &str, auto: usize| {
        editor.run("prompt.assemble", json!({ "prompt": prompt, "autoBudget": auto, "format": "anthropic" }))
    };
    let text = |reply: &serde_json::Value| e2e::Prompt(reply.clone()).text();
    let before = body(&mut editor, "Hello", 0);
    assert_eq!(quoted(&text(&before)), everywhere);

    editor.open("web/app/page.tsx");
    let opened = body(&mut editor, "Hello", 0);
    let web = [
        "Root rules.",
        "Cursor always.",
        "Claude all.",
        "Cursor tsx.",
        "Claude web.",
        "Web rules.",
        "App rules.",
    ];
    assert_eq!(quoted(&text(&opened)), web);
    assert_eq!(opened["systemFiles"]["rules"].as_array().unwrap().len(), 7, "{}", opened["systemFiles"]);
    assert_eq!(opened["body"]["system"], before["body"]["system"], "the system prompt stays cached");
    let messages = |reply: &serde_json::Value| reply["body"]["messages"].as_array().unwrap().clone();
    let (old, new) = (messages(&before), messages(&opened));
    assert_eq!(old[..old.len() - 1], new[..old.len() - 1], "earlier messages stay cached");
    let blocks = new.last().unwrap()["content"].as_array().unwrap().clone();
    let at = |text: &str| blocks.iter().position(|block| block["text"].as_str().unwrap().contains(text));
    assert!(at("Hello").unwrap() < at("App rules.").unwrap(), "{blocks:?}");
    let is_marked = |block: &serde_json::Value| !block["cache_control"].is_null();
    assert!(blocks.iter().rposition(is_marked) < at("App rules."), "rules of files are not cached");

    let listed = editor.run("prompt.rules", json!({}));
    assert_eq!(listed["rules"].as_array().unwrap().len(), 7, "{listed}");
    editor.close("web/app/page.tsx");
    assert_eq!(quoted(&text(&body(&mut editor, "Hello", 0))), everywhere);
    let excerpted = body(&mut editor, "What does load_users return?", 2_000);
    assert!(quoted(&text(&excerpted)).contains(&"Copilot api."), "{excerpted}");
}

#[test]
fn rule_files_of_other_tools_are_found_by_their_names() {
    let repo = Repo::new(
        "\n//- GEMINI.md\nGemini rules.\n//- llms.txt\nOverview.\n//- web/GEMINI.md\nGemini web.\n",
    );
    let mut editor = Setup::new(&repo).options(json!({ "trusted": true })).start();
    editor.run("files.set", json!({ "paths": [] }));
    let text = editor.assemble().text();
    assert!(
        text.contains("Gemini rules.") && text.contains("Overview.") && !text.contains("Gemini web."),
        "{text}"
    );
    let listed = Shell::new(&repo).run(&["rules", "web/a.ts"], "");
    assert_eq!(listed.out, "GEMINI.md: always\nllms.txt: always\nweb/GEMINI.md: is above web/a.ts\n");
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
