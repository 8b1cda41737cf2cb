//! Compactions in the server: who is asked, what is told, and that nothing is lost when it goes wrong.

use e2e::{Dialect, Editor, ModelServer, Reply, Setup};
use serde_json::{Value, json};

use super::small;

const SUMMARIZE: &str = "strata/summarize";

fn long(text: &str) -> String {
    format!("{text} {}", "and so on ".repeat(400))
}

fn talk(editor: &mut Editor, exchanges: usize) {
    for n in 0..exchanges {
        let exchange =
            json!({ "user": long(&format!("question {n}")), "assistant": long(&format!("answer {n}")) });
        editor.run("history.addExchange", exchange);
    }
}

fn visible(editor: &mut Editor) -> Vec<Value> {
    let messages = editor.run("history.get", json!({}))["messages"].as_array().unwrap().clone();
    messages.into_iter().filter(|message| message["agent"] == "shown").collect()
}

fn text(message: &Value) -> &str {
    message["content"][0]["text"].as_str().unwrap()
}

fn asking_the_client(compaction: Value) -> Editor {
    let mut settings = json!({ "summariser": "client", "timeout_s": 5 });
    settings.as_object_mut().unwrap().extend(compaction.as_object().unwrap().clone());
    let setup = Setup::new(&small()).settings(json!({ "compaction": settings }));
    setup.options(json!({ "requests": [SUMMARIZE], "settings": { "compaction": settings } })).start()
}

#[test]
fn without_a_model_a_summary_is_extracted_and_can_be_undone() {
    let mut editor = Editor::start(&small());
    talk(&mut editor, 8);
    let before = visible(&mut editor);
    let ended = editor.run("compaction.run", json!({}));
    assert_eq!((&ended["state"], &ended["strategy"]), (&json!("ended"), &json!("extractive")), "{ended}");
    assert!(ended["after"]["tokens"].as_u64() < ended["before"]["tokens"].as_u64(), "{ended}");
    editor.server.wait_for("strata/compaction", |news| news["state"] == "ended");
    let after = visible(&mut editor);
    assert!(after.len() < before.len() && after.iter().any(|message| message["kind"] == "summary"));
    assert_eq!(after.last(), before.last(), "the newest stay word for word");
    let status = editor.run("compaction.status", json!({}));
    assert_eq!(status["last"]["strategy"], "extractive");
    assert_eq!(status["last"]["summarisedBy"], json!({ "kind": "extractive" }));
    assert_eq!(ended.get("notes"), None, "no model was named, so nothing fell back: {ended}");
    let undone = editor.run("compaction.undo", json!({}));
    assert_eq!(undone["messages"], json!(before.len()));
    assert_eq!(visible(&mut editor), before);
    assert!(editor.refused("compaction.undo", json!({})).message.contains("undo"));
}

#[test]
fn the_client_is_asked_for_the_summary_and_prompts_are_made_meanwhile() {
    let mut editor = asking_the_client(json!({ "profile": "checkpoint", "model": "small-model" }));
    talk(&mut editor, 60);
    editor.server.hold(SUMMARIZE);
    let run = editor.ask("compaction.run", json!({}));
    editor.server.wait_until_held(SUMMARIZE);
    assert_eq!(editor.run("compaction.status", json!({}))["running"], true);
    let refused = editor.refused("compaction.run", json!({}));
    assert!(refused.message.contains("already running"), "{refused}");
    editor.run("history.add", json!({ "role": "user", "content": "said meanwhile" }));
    editor.server.release(SUMMARIZE, json!({ "text": "## Goal\nA summary by the client." }));
    let ended = editor.server.answer(run).unwrap();
    assert_eq!(ended["strategy"], "model", "{ended}");
    let question = editor.server.asked(SUMMARIZE)[0].clone();
    assert_eq!((&question["purpose"], &question["model"]), (&json!("summarise"), &json!("small-model")));
    assert!(question["prompt"].as_str().unwrap().contains("question 0"));
    let after = visible(&mut editor);
    assert!(text(&after[0]).starts_with("[Previous conversation summary]"), "{}", text(&after[0]));
    assert!(text(&after[0]).contains("A summary by the client."));
    assert_eq!(text(after.last().unwrap()), "said meanwhile");
    let progress = editor.server.heard("$/progress");
    let kinds: Vec<&Value> = progress
        .iter()
        .filter(|progress| progress["token"].as_str().is_some_and(|token| token.contains("compaction")))
        .map(|progress| &progress["value"]["kind"])
        .collect();
    assert_eq!(kinds, ["begin", "end"]);
}

#[test]
fn a_client_that_offers_it_writes_the_summary_without_a_setting() {
    let mut editor = Setup::new(&small()).options(json!({ "requests": [SUMMARIZE] })).start();
    talk(&mut editor, 8);
    editor
        .server
        .answer_with(SUMMARIZE, json!({ "text": "## Asked\nEight things.", "model": "Chat Model 3" }));
    let ended = editor.run("compaction.run", json!({}));
    let author = json!({ "kind": "client", "model": "Chat Model 3" });
    assert_eq!((&ended["strategy"], &ended["summarisedBy"]), (&json!("model"), &author), "{ended}");
    let started = editor.server.heard("strata/compaction").first().cloned().unwrap();
    assert_eq!((&started["state"], &started["before"]), (&json!("started"), &ended["before"]), "{started}");
    assert_eq!(editor.run("compaction.status", json!({}))["last"]["summarisedBy"], author);
    let asked = editor.server.asked(SUMMARIZE)[0].clone();
    assert_eq!(asked.get("model"), None, "the client chooses: {asked}");
}

#[test]
fn a_client_that_was_named_no_model_gets_questions_that_the_conversations_model_takes() {
    let mut editor = Setup::new(&small()).options(json!({ "requests": [SUMMARIZE] })).start();
    talk(&mut editor, 24);
    editor.server.answer_with(SUMMARIZE, json!("They spoke."));
    let most = 8_000;
    editor.run("prompt.assemble", json!({ "prompt": "And now?", "maxInputTokens": most }));
    let questions: Vec<Value> = editor.server.asked(SUMMARIZE).into_iter().cloned().collect();
    assert!(questions.len() > 1, "parts, and a merge of them");
    for question in questions {
        let text = format!("{}{}", question["system"], question["prompt"]);
        let weighed = editor.run("prompt.estimate", json!({ "text": text }));
        assert!(weighed["tokens"].as_u64() <= Some(most), "{weighed}");
    }
}

#[test]
fn a_model_that_you_named_is_asked_and_a_key_alone_or_a_workspace_file_is_not() {
    let server = ModelServer::start(
        Dialect::Anthropic,
        vec![Reply::Text("## Done\nA summary by a provider.".to_owned())],
    );
    let address = server.base_url();
    let key = "STRATA_TEST_KEY";
    let place = json!({ "base_url": address, "key_env": key });
    let named = json!({ "model": "claude-haiku-4-5", "base_url": address, "key_env": key });
    let extractive = json!({ "kind": "extractive" });
    let http = json!({ "kind": "http", "model": "claude-haiku-4-5" });
    let file = "[compaction]\nmodel = 'claude-haiku-4-5'\nsummariser = 'http'\n";
    for (settings, of_the_workspace, trusted, with_key, author, noted) in [
        (&place, "", true, true, &extractive, None),
        (&place, file, true, true, &extractive, None),
        (&named, "", false, true, &extractive, Some("not trusted")),
        (&named, "", true, false, &extractive, Some("no usable key")),
        (&named, "", true, true, &http, None),
    ] {
        let repo = small();
        if !of_the_workspace.is_empty() {
            repo.write(".strata.toml", of_the_workspace);
        }
        let settings = json!({ "compaction": settings });
        let state = tempfile::tempdir().unwrap();
        let setup = Setup::new(&repo).state(state.path()).settings(settings.clone());
        let setup = setup.options(json!({ "trusted": trusted, "settings": settings }));
        let mut editor = if with_key { setup.variable(key, "sk-test") } else { setup }.start();
        if !of_the_workspace.is_empty() {
            assert_eq!(editor.warning().0, "settings");
        }
        talk(&mut editor, 8);
        let ended = editor.run("compaction.run", json!({}));
        assert_eq!(&ended["summarisedBy"], author, "{settings} {of_the_workspace}: {ended}");
        let notes = ended.get("notes").map(ToString::to_string);
        let is_noted = |noted: &str| notes.as_deref().is_some_and(|notes| notes.contains(noted));
        assert!(noted.map_or(notes.is_none(), is_noted), "{ended}");
        assert_eq!(server.asked().len(), usize::from(*author == http));
    }
}

#[test]
fn a_provider_that_you_named_stands_in_for_a_client_without_a_model() {
    let said = Reply::Text("## Done\nA summary by a provider.".to_owned());
    let server = ModelServer::start(Dialect::Anthropic, vec![said]);
    let (key, model) = ("STRATA_TEST_KEY", "claude-haiku-4-5");
    let named = json!({ "model": model, "base_url": server.base_url(), "key_env": key });
    let settings = json!({ "compaction": named });
    let state = tempfile::tempdir().unwrap();
    let setup = Setup::new(&small()).state(state.path()).settings(settings.clone());
    let options = json!({ "requests": [SUMMARIZE], "trusted": true, "settings": settings });
    let mut editor = setup.options(options).variable(key, "sk-test").start();
    talk(&mut editor, 8);
    editor.server.answer_with(SUMMARIZE, json!(["no text"]));
    let ended = editor.run("compaction.run", json!({}));
    assert_eq!(ended["summarisedBy"], json!({ "kind": "http", "model": model }), "{ended}");
    let note = ended["notes"][0].as_str().unwrap();
    assert!(note.contains("because the client did not") && note.contains("strata/summarize"), "{note}");
}

#[test]
fn an_untrusted_workspace_asks_no_provider() {
    let settings = json!({ "compaction": {
        "summariser": "http", "model": "claude-haiku-4-5", "base_url": "http://127.0.0.1:1/v1", "key_env": "NOBODY_HAS_THIS_KEY",
    } });
    for (trusted, said) in [(false, "not trusted"), (true, "no usable key")] {
        let setup = Setup::new(&small()).settings(settings.clone());
        let mut editor = setup.options(json!({ "trusted": trusted, "settings": settings })).start();
        talk(&mut editor, 8);
        let ended = editor.run("compaction.run", json!({}));
        assert_eq!(ended["strategy"], "extractive");
        assert!(ended["notes"][0].as_str().unwrap().contains(said), "{said}: {ended}");
    }
}

#[test]
fn one_long_exchange_is_cut_inside_and_an_early_edit_restores_what_was_summarized() {
    let mut editor = Editor::start(&small());
    editor.run("history.add", json!({ "role": "user", "content": "do it all" }));
    for n in 0..40 {
        editor.run("history.add", json!({ "role": "assistant", "content": long(&format!("step {n}")) }));
    }
    let ended = editor.run("compaction.run", json!({}));
    assert_eq!(ended["state"], "ended", "{ended}");
    assert!(text(&visible(&mut editor)[0]).contains("do it all"), "the request is pinned");
    editor.run("history.truncate", json!({ "from": 3 }));
    let seen = visible(&mut editor);
    assert_eq!(seen.len(), 3, "not an empty conversation");
    assert_eq!(text(&seen[0]), "do it all");
}

#[test]
fn a_compaction_does_without_a_client_that_fails() {
    for answer in [json!({ "text": "" }), json!({ "nothing": 1 }), json!(["a list"]), json!(null)] {
        let mut editor = asking_the_client(json!({}));
        talk(&mut editor, 8);
        editor.server.answer_with(SUMMARIZE, answer.clone());
        let ended = editor.run("compaction.run", json!({}));
        assert_eq!(ended["strategy"], "extractive", "{answer}: {ended}");
        assert!(ended["notes"][0].as_str().unwrap().contains("no summary from a model"), "{ended}");
    }
}

#[test]
fn a_client_that_never_answers_is_waited_for_no_longer_than_set() {
    let mut editor = asking_the_client(json!({ "timeout_s": 1 }));
    talk(&mut editor, 8);
    editor.server.hold(SUMMARIZE);
    let ended = editor.run("compaction.run", json!({}));
    assert_eq!(ended["strategy"], "extractive", "{ended}");
    let before = visible(&mut editor);
    editor.server.release(SUMMARIZE, json!("Too late."));
    editor.run("server.status", json!({}));
    assert_eq!(visible(&mut editor), before, "a late answer changes nothing");
}

#[test]
fn a_cancelled_compaction_changes_nothing() {
    let mut editor = asking_the_client(json!({}));
    talk(&mut editor, 8);
    let before = visible(&mut editor);
    editor.server.hold(SUMMARIZE);
    let run = editor.ask("compaction.run", json!({}));
    editor.server.wait_until_held(SUMMARIZE);
    editor.server.cancel(run);
    assert!(editor.server.answer(run).is_err());
    let failed = editor.server.wait_for("strata/compaction", |news| news["state"] == "failed");
    assert!(failed["error"].as_str().unwrap().contains("cancelled"), "{failed}");
    editor.server.release(SUMMARIZE, json!("Too late."));
    assert_eq!(visible(&mut editor), before);
    assert_eq!(editor.run("compaction.status", json!({}))["running"], false);
}

#[test]
fn a_conversation_that_was_edited_meanwhile_is_left_alone() {
    let mut editor = asking_the_client(json!({}));
    talk(&mut editor, 8);
    editor.server.hold(SUMMARIZE);
    let run = editor.ask("compaction.run", json!({}));
    editor.server.wait_until_held(SUMMARIZE);
    editor.run("history.edit", json!({ "id": 0, "content": "another question" }));
    let before = visible(&mut editor);
    editor.server.release(SUMMARIZE, json!("A summary."));
    let refused = editor.server.answer(run).unwrap_err();
    assert!(refused.message.contains("changed during the compaction"), "{refused}");
    assert_eq!(visible(&mut editor), before);
}

#[test]
fn a_due_compaction_starts_automatically_after_a_turn() {
    let settings = json!({ "compaction": { "profiles": { "topic": { "history_over": 6_000 } } } });
    let mut editor =
        Setup::new(&small()).settings(settings.clone()).options(json!({ "settings": settings })).start();
    talk(&mut editor, 8);
    assert_eq!(editor.run("compaction.status", json!({}))["due"], true);
    let prompt = editor.assemble();
    editor.run("prompt.record", json!({ "id": prompt.0["id"], "response": "Done." }));
    let ended = editor.server.wait_for("strata/compaction", |news| news["state"] == "ended");
    assert_eq!(ended["reason"]["kind"], "due", "{ended}");
    assert_eq!(editor.run("compaction.status", json!({}))["due"], false);
    let prompt = editor.assemble();
    assert!(prompt.0["body"].to_string().contains("Summary of the conversation so far"));
}

/// Deselecting a file that precedes the conversation writes the conversation to the cache again, if the model has one.
#[test]
fn a_conversation_is_compacted_before_a_prompt_that_writes_it_again_anyway() {
    let repo = small();
    repo.write("large.txt", "a line of a large file\n".repeat(2_000));
    for (model, has_cache) in [("claude-sonnet-5-5", true), ("command-a-03-2025", false)] {
        let mut editor = Setup::new(&repo).settings(json!({ "model": model })).start();
        editor.select(&["large.txt"]);
        for n in 0..5 {
            let prompt = editor.run("prompt.assemble", json!({ "prompt": long(&format!("question {n}")) }));
            let answer = json!({ "id": prompt["id"], "response": long(&format!("answer {n}")) });
            editor.run("prompt.record", answer);
        }
        let before = visible(&mut editor);
        editor.run("prompt.assemble", json!({ "prompt": "More?" }));
        assert_eq!(visible(&mut editor), before, "nothing is written again");
        editor.run("files.deselect", json!({ "paths": ["large.txt"] }));
        editor.run("prompt.assemble", json!({ "prompt": "More?" }));
        assert_eq!(visible(&mut editor).len() < before.len(), has_cache, "{model}");
        let notices = editor.server.heard("strata/compaction");
        assert_eq!(notices.last().map(|notice| &notice["state"]), has_cache.then_some(&json!("ended")));
    }
}

#[test]
fn a_due_compaction_of_messages_that_all_stay_does_not_begin() {
    let settings = json!({ "compaction": { "profiles": { "topic": { "messages_over": 2 } } } });
    let mut editor =
        Setup::new(&small()).settings(settings.clone()).options(json!({ "settings": settings })).start();
    talk(&mut editor, 1);
    let prompt = editor.assemble();
    editor.run("prompt.record", json!({ "id": prompt.0["id"], "response": "Done." }));
    assert_eq!(editor.run("compaction.status", json!({}))["due"], true);
    let heard = editor.server.heard("strata/compaction");
    assert!(heard.is_empty(), "and nothing is warned of: {heard:?}");
}

#[test]
fn a_profile_that_looks_before_assembling_is_waited_for() {
    let mut editor = asking_the_client(json!({ "profile": "continuation" }));
    editor.server.answer_with(SUMMARIZE, json!("## Analysis\nMuch was said."));
    for n in 0..14 {
        editor.run(
            "history.addExchange",
            json!({ "user": format!("question {n}"), "assistant": "yes ".repeat(200) }),
        );
    }
    let before = editor.run("compaction.status", json!({}));
    assert_eq!((&before["due"], &before["profile"]), (&json!(true), &json!("continuation")));
    let dry = editor.assemble_with(json!({ "dryRun": true }));
    assert!(!dry.0["body"].to_string().contains("Much was said"), "a dry run changes nothing");
    let prompt = editor.assemble();
    let body = prompt.0["body"].to_string();
    assert!(
        body.contains(
            "This session is being continued from a previous conversation that ran out of context."
        )
    );
    assert!(
        body.contains("Much was said.") && body.contains("question 0\"") && !body.contains("question 5\"")
    );
    let seen = visible(&mut editor);
    assert_eq!(seen.len(), 8, "first, summary, the last six");
    editor.run("prompt.record", json!({ "id": prompt.0["id"], "response": "Done." }));
}

#[test]
fn a_prompt_that_the_provider_finds_too_long_is_tried_once_more() {
    let mut editor = Editor::start(&small());
    talk(&mut editor, 8);
    editor.assemble();
    let ended = editor.run("compaction.contextLimitExceeded", json!({}));
    assert_eq!((&ended["state"], &ended["reason"]["kind"]), (&json!("ended"), &json!("context_limit")));
    let refused = editor.refused("compaction.contextLimitExceeded", json!({}));
    assert!(refused.message.contains("too long again"), "{refused}");
    let prompt = editor.assemble();
    editor.run("prompt.record", json!({ "id": prompt.0["id"], "response": "It fits." }));
    talk(&mut editor, 8);
    editor.run("compaction.contextLimitExceeded", json!({}));
}

#[test]
fn a_prompt_recorded_as_too_long_is_compacted_before_it_is_assembled_again() {
    let mut editor = Editor::start(&small());
    talk(&mut editor, 8);
    let too_long = |editor: &mut Editor| {
        let prompt = editor.assemble().0;
        let record = json!({ "id": prompt["id"], "error": "context_limit" });
        (prompt["tokens"]["total"].as_u64().unwrap(), record)
    };
    let (refused, record) = too_long(&mut editor);
    let recorded = editor.run("prompt.record", record);
    assert_eq!((&recorded["status"], &recorded["retry"]), (&json!("error"), &json!(true)), "{recorded}");
    assert_eq!(recorded["messages"], 16, "the question was not sent");
    let (again, record) = too_long(&mut editor);
    let news = editor.server.wait_for("strata/compaction", |news| news["state"] == "ended");
    assert_eq!(news["reason"]["kind"], "context_limit", "{news}");
    assert!(again < refused / 10 * 9, "{again} of {refused}");
    let error = editor.refused("prompt.record", record);
    assert!(
        error.message.contains("too long again") && error.message.contains("the largest parts: "),
        "{error}"
    );
    let prompt = editor.assemble().0;
    editor.run("prompt.record", json!({ "id": prompt["id"], "response": "It fits." }));
    let (_, record) = too_long(&mut editor);
    assert_eq!(editor.run("prompt.record", record)["retry"], true);
}

#[test]
fn pinned_messages_stay_word_for_word() {
    let mut editor = Editor::start(&small());
    talk(&mut editor, 8);
    editor.run("history.pin", json!({ "id": 4 }));
    editor.run("compaction.run", json!({ "profile": "handoff" }));
    let seen = visible(&mut editor);
    assert!(seen.iter().any(|message| text(message).starts_with("question 2 ")));
    assert!(text(&seen[0]).contains("Last request from user was: question 7 "), "{}", text(&seen[0]));
    let refused = editor.refused("compaction.run", json!({ "profile": "nonsense" }));
    assert!(refused.message.contains("topic, continuation, checkpoint, rolling, handoff"), "{refused}");
}

/// An editor with three tool results, whose client is asked for a summary of the old ones and has not answered.
fn summarizing_old_results() -> Editor {
    let compaction = json!({ "summariser": "client", "timeout_s": 5 });
    let settings = json!({ "compaction": compaction, "tool_output": { "summary": "llm", "cutoff": 1, "ageing": "eager" } });
    let setup = Setup::new(&small()).settings(settings.clone());
    let mut editor = setup.options(json!({ "requests": [SUMMARIZE], "settings": settings })).start();
    let call = |n: u8| json!({ "type": "tool_call", "id": format!("c{n}"), "name": "read", "input": {} });
    let result = |n: u8| {
        let text = json!({ "type": "text", "text": long(&format!("result {n}")) });
        json!({ "type": "tool_result", "callId": format!("c{n}"), "content": [text] })
    };
    editor.run("history.add", json!({ "role": "user", "content": "look" }));
    for n in 0..3 {
        editor.run("history.add", json!({ "role": "assistant", "content": [call(n)] }));
        editor.run("history.add", json!({ "role": "user", "content": [result(n)] }));
    }
    editor.run("history.add", json!({ "role": "assistant", "content": "seen" }));
    editor.server.hold(SUMMARIZE);
    let prompt = editor.run("prompt.assemble", json!({ "prompt": "and now" }));
    // The answer is there while the model is still being asked.
    editor.run("prompt.record", json!({ "id": prompt["id"], "response": "done", "status": "complete" }));
    editor.server.wait_until_held(SUMMARIZE);
    editor
}

#[test]
fn old_tool_results_are_summarized_in_the_background() {
    let mut editor = summarizing_old_results();
    let question = editor.server.asked(SUMMARIZE)[0].clone();
    assert!(question["prompt"].as_str().unwrap().contains("result 0"), "{question}");
    let seen = |editor: &mut Editor, text: &str| json!(visible(editor)).to_string().contains(text);
    assert!(seen(&mut editor, "result 0") && !seen(&mut editor, "summed up by the client"));
    editor.run("history.add", json!({ "role": "user", "content": "said meanwhile" }));
    editor.server.release(SUMMARIZE, json!({ "text": "summed up by the client" }));
    for _ in 0..200 {
        if seen(&mut editor, "summed up by the client") {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    assert!(seen(&mut editor, "summed up by the client") && !seen(&mut editor, "result 0"));
    assert!(seen(&mut editor, "said meanwhile") && seen(&mut editor, "done"));
}

#[test]
fn summarized_tool_results_do_not_spoil_a_running_compaction() {
    let mut editor = summarizing_old_results();
    talk(&mut editor, 8);
    let run = editor.ask("compaction.run", json!({}));
    while editor.server.asked(SUMMARIZE).len() < 2 {
        editor.run("compaction.status", json!({}));
    }
    editor.server.release_first(SUMMARIZE, json!({ "text": "summed up by the client" }));
    for _ in 0..10 {
        std::thread::sleep(std::time::Duration::from_millis(20));
        editor.run("compaction.status", json!({}));
    }
    editor.server.release(SUMMARIZE, json!({ "text": "## Done\nA summary by the client." }));
    let ended = editor.server.answer(run).unwrap();
    assert_eq!(ended["strategy"], "model", "{ended}");
    assert!(text(&visible(&mut editor)[0]).contains("A summary by the client."));
}

#[test]
fn a_conversation_longer_than_the_client_takes_is_compacted_before_it_is_sent() {
    let mut editor = Editor::start(&small());
    talk(&mut editor, 16);
    let whole = visible(&mut editor);
    let most = 12_000;
    let prompt = json!({ "prompt": "And now?", "maxInputTokens": most });

    let mut dry = prompt.clone();
    dry["dryRun"] = json!(true);
    let foreseen = editor.run("prompt.assemble", dry);
    let codes = |reply: &Value| -> Vec<Value> {
        reply["warnings"].as_array().unwrap().iter().map(|warning| warning["code"].clone()).collect()
    };
    assert!(codes(&foreseen).contains(&json!("history_truncated")), "{foreseen}");
    assert_eq!(visible(&mut editor), whole, "a dry run compacts nothing");

    let sent = editor.run("prompt.assemble", prompt);
    assert!(!codes(&sent).contains(&json!("history_truncated")), "{sent}");
    assert_eq!(sent["tokens"]["window"], most);
    assert!(sent["tokens"]["total"].as_u64() <= sent["tokens"]["limit"].as_u64());
    editor.server.wait_for("strata/compaction", |news| news["state"] == "ended");
    let after = visible(&mut editor);
    assert!(after.len() < whole.len() && after.iter().any(|message| message["kind"] == "summary"));
    assert_eq!(after.last(), whole.last(), "the newest stay word for word");
}

/// An editor whose `topic` compacts over 6,000 tokens, and whose client is asked for the summary. The first turn was recorded, so that a
/// compaction waits for the client.
fn compacting_after_a_turn() -> Editor {
    let mut editor = asking_the_client(json!({ "profiles": { "topic": { "history_over": 6_000 } } }));
    talk(&mut editor, 16);
    editor.server.hold(SUMMARIZE);
    let prompt = editor.assemble();
    editor.run("prompt.record", json!({ "id": prompt.0["id"], "response": "Done." }));
    editor.server.wait_until_held(SUMMARIZE);
    editor
}

#[test]
fn a_prompt_with_room_does_not_wait_for_a_running_compaction_and_is_recorded_without_a_word() {
    let mut editor = compacting_after_a_turn();
    let prompt = editor.assemble_with(json!({ "prompt": "And now?" }));
    assert!(prompt.0["body"].to_string().contains("question 0 "), "it is made of the conversation as it was");
    editor.server.release(SUMMARIZE, json!("## Done\nA summary by the client."));
    editor.server.wait_for("strata/compaction", |news| news["state"] == "ended");
    assert!(visible(&mut editor).iter().any(|message| message["kind"] == "summary"));
    let recorded = editor.run("prompt.record", json!({ "id": prompt.0["id"], "response": "Well." }));
    assert_eq!(recorded["warnings"], json!([]), "{recorded}");
    assert_eq!(text(visible(&mut editor).last().unwrap()), "Well.");
}

#[test]
fn a_prompt_without_room_waits_for_the_running_compaction() {
    let mut editor = compacting_after_a_turn();
    let asked = editor.ask("prompt.assemble", json!({ "prompt": "And now?", "maxInputTokens": 12_000 }));
    // What else is asked of the session waits after the prompt, so it has started to wait when the session is read again.
    let count = editor.ask("history.count", json!({}));
    editor.server.release(SUMMARIZE, json!("## Done\nA summary by the client."));
    let prompt = editor.server.answer(asked).unwrap();
    let body = prompt["body"].to_string();
    assert!(body.contains("A summary by the client.") && !body.contains("question 0 "), "{body}");
    assert_eq!(prompt["warnings"], json!([]), "nothing is left out");
    assert!(editor.server.answer(count).unwrap()["messages"].as_u64() > Some(34), "all is kept");
    editor.run("prompt.record", json!({ "id": prompt["id"], "response": "Well." }));
    let news = editor.server.heard("strata/compaction");
    let states: Vec<&Value> = news.iter().map(|news| &news["state"]).collect();
    assert_eq!(states, ["started", "ended"], "{news:?}");
    assert_eq!(editor.server.asked(SUMMARIZE).len(), 1, "one summary serves both");
    assert_eq!(editor.run("compaction.status", json!({}))["running"], false);
}

#[test]
fn a_prompt_without_room_makes_do_when_the_running_compaction_is_cancelled() {
    let mut editor = asking_the_client(json!({}));
    talk(&mut editor, 16);
    editor.server.hold(SUMMARIZE);
    let run = editor.ask("compaction.run", json!({}));
    editor.server.wait_until_held(SUMMARIZE);
    let asked = editor.ask("prompt.assemble", json!({ "prompt": "And now?", "maxInputTokens": 12_000 }));
    editor.server.cancel(run);
    assert!(editor.server.answer(run).is_err());
    editor.server.release(SUMMARIZE, json!("## Done\nA summary by the client."));
    let prompt = editor.server.answer(asked).unwrap();
    assert_eq!(prompt["warnings"], json!([]), "nothing is left out: {prompt}");
    assert!(prompt["body"].to_string().contains("A summary by the client."));
}

#[test]
fn a_recovery_that_frees_little_says_so() {
    let repo = small();
    repo.write("large.txt", "a line of words\n".repeat(25_000));
    let mut editor = Editor::start(&repo);
    editor.select(&["large.txt"]);
    talk(&mut editor, 5);
    let prompt = editor.assemble().0;
    assert_eq!(prompt["shed"], json!([]), "{}", prompt["tokens"]);
    editor.run("prompt.record", json!({ "id": prompt["id"], "error": "context_limit" }));
    editor.assemble();
    let ended = editor.server.wait_for("strata/compaction", |news| news["state"] == "ended");
    let note = ended["notes"].to_string();
    assert!(note.contains("compaction freed only ") && note.contains("deselect files"), "{ended}");
}

#[test]
fn a_conversation_over_twice_its_limit_is_summarised_without_the_client_when_that_has_no_answer() {
    let rules =
        json!({ "history_over": 60, "keep_tokens": 20, "keep_exchanges": 1, "summary_tokens": 2_000 });
    let mut editor = asking_the_client(json!({ "profiles": { "topic": rules } }));
    editor.server.answer_with(SUMMARIZE, json!(null));
    for n in 0..8 {
        let exchange = json!({ "user": format!("Change src/part{n}.rs."), "assistant": "Done." });
        editor.run("history.addExchange", exchange);
    }
    let prompt = editor.assemble().0;
    editor.run("prompt.record", json!({ "id": prompt["id"], "response": "Done." }));
    let ended = editor.server.wait_for("strata/compaction", |news| news["state"] != "started");
    assert_eq!((&ended["state"], &ended["strategy"]), (&json!("ended"), &json!("extractive")), "{ended}");
    assert!(ended["notes"].to_string().contains("no summary from a model"), "{ended}");
    assert!(ended["after"]["tokens"].as_u64() < Some(90), "{ended}");
    let seen = visible(&mut editor);
    assert!(seen.len() < 18 && text(seen.last().unwrap()) == "Done.", "{seen:?}");
    let undone = editor.run("compaction.undo", json!({}));
    assert_eq!(undone["messages"], 18, "nothing is lost");
}

#[test]
fn files_that_do_not_fit_are_left_out_with_a_warning_each_before_a_message_is() {
    let repo = small();
    repo.write("large.txt", "a line of words\n".repeat(4_000));
    repo.write("larger.txt", "a line of words\n".repeat(5_000));
    let mut editor = Editor::start(&repo);
    talk(&mut editor, 2);
    editor.select(&["large.txt", "larger.txt", "notes.txt"]);
    let prompt = editor.assemble_with(json!({ "maxInputTokens": 30_000 })).0;
    assert_eq!(prompt["shed"], json!(["larger.txt", "large.txt"]), "the largest first: {}", prompt["tokens"]);
    let warnings = prompt["warnings"].as_array().unwrap();
    let codes: Vec<&Value> = warnings.iter().map(|warning| &warning["code"]).collect();
    assert_eq!(codes, ["shed", "shed"], "{warnings:?}");
    assert!(prompt["tokens"]["total"].as_u64() <= prompt["tokens"]["limit"].as_u64());
    let body = prompt["body"].to_string();
    assert!(body.contains("question 0 ") && body.contains("answer 1 "), "messages stay");
}
