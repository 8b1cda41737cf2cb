//! Tests of screening as a whole: the result contains no secret, is the same each time, and can be restored.

use std::sync::Arc;

use proptest::prelude::*;
use serde_json::json;

use super::*;

fn screen() -> Screen {
    Screen::new(|| PlaceholderKey::new([7; 32]))
}

/// An invalid token in GitHub's format, written in parts, so that secret scanners do not report this file.
fn token(tail: &str) -> String {
    format!("gh{}_{tail:a<36}", 'p')
}

fn random() -> String {
    token("9fK2mQ7xR4tV8bN1cL6zW3yH5jD0sGpEuTiX")
}

#[test]
fn a_secret_is_replaced_wherever_it_stands_and_by_the_same_placeholder() {
    let screen = screen();
    let secret = random();
    let places = [
        secret.to_string(),
        format!("token = \"{secret}\"\n"),
        format!("https://x-access-token:{secret}@github.com/a/b"),
        format!("{{\"content\":\"first\\n{secret}\\nlast\"}}"),
        format!("curl -H 'Authorization: Bearer {secret}' https://api.github.com"),
        format!("é{secret}🦀"),
        format!("GITHUB_TOKEN={secret}"),
        format!("?access_token={secret}&x=1"),
        format!("%3D{secret}%26"),
    ];
    let mut seen = std::collections::BTreeSet::new();
    for place in &places {
        let out = screen.text(place);
        assert!(!out.contains(&secret), "{out}");
        seen.extend(placeholders(&out).map(|(_, placeholder)| placeholder));
        let back = screen.restore(&out);
        assert_eq!((&back.text, back.restored, back.unknown.len()), (place, 1, 0));
    }
    assert_eq!(seen.len(), 1, "{seen:?}");
    assert!(seen.iter().all(|placeholder| placeholder.label() == "github-token"));
}

#[test]
fn an_unmistakable_prefix_is_enough_at_any_length() {
    let random = "9fK2mQ7xR4tV8bN1cL6zW3yH5jD0sGpEuTiX".repeat(20);
    for prefix in [
        "sk-ant-",
        "sk-ant-api03-",
        "sk-proj-",
        "sk-svcacct-",
        "ghp_",
        "ghs_",
        "glpat-",
        "xoxb-",
        "npm_",
        "hf_",
    ] {
        // Written in parts, so that secret scanners do not report this file.
        for length in (20..130).chain([250, 600]) {
            let tail = length.max(prefix.len() + 16) - prefix.len();
            let secret = format!("{prefix}{}", &random[..tail]);
            assert!(!screen().text(&format!("key: {secret}\n")).contains(&secret), "{secret}");
        }
    }
    for prefix in ["sk-ant-api03-", "sk-proj-", "ghp_"] {
        let secret = format!("{prefix}{}", "A".repeat(85));
        assert!(!screen().text(&secret).contains(&secret), "{secret}");
    }
    for word in [
        "npm_config_registry_url",
        "hf_hub_download_progress",
        "sk-ant-your-key-goes-here",
        "ghp_xxxxxxxxxxxxxxxxxxxx",
    ] {
        assert_eq!(screen().text(word), word);
    }
}

#[test]
fn what_is_found_is_told_without_the_secret() {
    let text: Arc<str> =
        format!("one\ntwo {}\nthree\npassword: \"{}\"\n", random(), ["xK9#mP2$", "vL5n"].concat()).into();
    let ScreenedText { text: shown, found } = screen().screened(&text);
    let told: Vec<(&str, usize)> = found.iter().map(|found| (found.rule, found.line)).collect();
    assert_eq!(told, [("github-token", 2), ("assigned-secret", 4)]);
    assert_eq!(shown.lines().count(), text.lines().count());
    let json = serde_json::to_string(&found[..]).unwrap();
    assert!(!json.contains("xK9#mP2$") && json.contains("[secret:credential:"), "{json}");
}

#[test]
fn what_is_allowed_passes_and_what_is_switched_off_looks_at_nothing() {
    let secret = random();
    let text = format!("a {secret}");
    let placeholder = placeholders(&screen().text(&text)).next().unwrap().1;
    for allow in [placeholder.to_string(), "github-token".to_owned()] {
        let settings = RedactionSettings { allow: vec![allow], ..RedactionSettings::default() };
        assert_eq!(screen().with(&settings).text(&text), text);
    }
    let off = RedactionSettings { enabled: false, ..RedactionSettings::default() };
    assert_eq!(screen().with(&off).text(&text), text);
    let other = RedactionSettings { allow: vec!["gitlab-token".to_owned()], ..RedactionSettings::default() };
    assert_ne!(screen().with(&other).text(&text), text);
}

#[test]
fn only_bytes_and_what_is_sealed_are_left_as_they_are() {
    let screen = screen();
    let screened = |value: &serde_json::Value| {
        let mut screened = value.clone();
        screen.value(&mut screened);
        screened
    };
    // The bytes of an image can look like anything.
    let key = ["AKI", "A2345ABCDEFGHJKLM"].concat();
    for kept in [
        json!({ "type": "base64", "media_type": "image/png", "data": key }),
        json!({ "mediaType": "application/pdf", "data": key }),
        json!({ "type": "thinking", "thinking": "so", "signature": key }),
        json!({ "type": "redacted_thinking", "data": key }),
    ] {
        assert_eq!(screened(&kept), kept);
    }
    let secret = random();
    for shown in [
        json!({ "type": "text", "media_type": "text/plain", "data": key }),
        json!({ "type": "base64", "media_type": "image/png", "data": format!("token {secret}") }),
        json!({ "mediaType": "image/png", "data": "iVBORw0KGgo=", "other": secret }),
        json!({ "signature": key, "data": key }),
        json!({ "type": "thinking", "thinking": "so", "signature": format!("{key} and more") }),
        json!({ "type": "redacted_thinking", "data": { "password": secret } }),
        json!({ format!("{key}_token"): secret }),
        json!({ secret.clone(): 1, "b": 2 }),
    ] {
        let out = screened(&shown).to_string();
        assert!(!out.contains(&key) && !out.contains(&secret), "{out}");
    }
    // Content that a provider only accepts unchanged is removed entirely if it contains a secret.
    let thoughts = json!([
        { "type": "thinking", "thinking": "so", "signature": format!("{key} and more") },
        { "type": "redacted_thinking", "data": format!("{key} and more") },
        { "type": "redacted_thinking", "data": key },
    ]);
    assert_eq!(screened(&thoughts), json!([{ "type": "redacted_thinking", "data": key }]));
    let names: Vec<String> = screened(&json!({ "a": 0, secret.clone(): 1, "b": 2 }))
        .as_object()
        .unwrap()
        .keys()
        .cloned()
        .collect();
    assert!(names[0] == "a" && names[1].starts_with("[secret:") && names[2] == "b", "{names:?}");
    let bedrock = ["ABS", "K"].concat() + &"Q9xZ7mK2pL4vN8bR".repeat(7);
    assert!(!screened(&json!({ "signature": bedrock })).to_string().contains(&bedrock));
}

#[test]
fn a_secret_that_was_never_seen_is_not_made_up() {
    let out = screen().text(&random()).into_owned();
    let back = screen().restore(&out);
    assert_eq!((back.text, back.restored), (out, 0));
    assert_eq!(back.unknown.len(), 1);
}

#[test]
fn examples_and_templates_are_left_alone() {
    for text in [
        format!("AKIA{}EXAMPLE", "IOSFODNN7"),
        "password = \"${DB_PASSWORD}\"".to_owned(),
        "postgres://user:password@localhost/db".to_owned(),
        "postgres://user:$PASSWORD@localhost/db".to_owned(),
        "password: str = \"correct-horse\"".to_owned(),
        format!("{}xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", ["gh", "p_"].concat()),
        "let token = TokenStream2::from(x9Y8z7);".to_owned(),
        "-----BEGIN PRIVATE KEY-----\n...\n-----END PRIVATE KEY-----".to_owned(),
    ] {
        assert_eq!(screen().text(&text), text);
    }
}

proptest! {
    /// Screening succeeds for any text, does not change a screened text, and can be undone.
    #[test]
    fn any_text_goes_out_once_and_comes_back(parts in prop::collection::vec(
        prop_oneof![
            any::<String>(),
            "[a-zA-Z0-9_]{30,40}".prop_map(|tail| token(&tail)),
            Just("password=\"".to_owned()), Just("\"\n".to_owned()), Just("://a:".to_owned()), Just("@b".to_owned()),
            Just("-----BEGIN PRIVATE KEY-----\n".to_owned()), Just("\n-----END PRIVATE KEY-----".to_owned()),
            Just("[secret:credential:1a2b3c4d5e6f]".to_owned()), Just("eyJ".to_owned()), Just("token: ".to_owned()),
            "[A-Za-z0-9+/]{16,80}",
        ],
        0..12,
    )) {
        let text = parts.concat();
        let screen = screen();
        let out = screen.text(&text).into_owned();
        prop_assert_eq!(&screen.text(&out), &out);
        prop_assert_eq!(screen.restore(&out).text, text.as_str());
        let hits = scan(&text);
        prop_assert!(hits.windows(2).all(|pair| pair[0].range.end <= pair[1].range.start));
        prop_assert!(hits.iter().all(|hit| text.is_char_boundary(hit.range.start) && !text[hit.range.clone()].contains('\n')));
    }
}
