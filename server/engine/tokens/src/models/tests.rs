//! Tests that the built-in table is valid, that names resolve to the right entries, and that overrides apply.

use super::*;
use crate::cost::Prices;
use crate::counting::ImageSize;
use crate::models::CacheTtl;

fn models() -> Models {
    ModelTable::from_toml(BUILTIN).and_then(Models::new).unwrap()
}

#[test]
fn the_builtin_table_can_be_parsed() {
    let models = models();
    assert_eq!(Models::builtin(), models);
    assert!(models.iter().count() > 80);
    for provider in [
        ModelProvider::Anthropic,
        ModelProvider::OpenAi,
        ModelProvider::Google,
        ModelProvider::DeepSeek,
        ModelProvider::Mistral,
        ModelProvider::Alibaba,
        ModelProvider::Meta,
    ] {
        assert!(models.iter().any(|model| model.provider == provider), "{provider:?}");
    }
}

#[test]
fn every_model_of_the_table_resolves_to_itself() {
    let models = models();
    for model in models.iter() {
        for spelling in [model.id.clone(), format!("openrouter/vendor/{}:free", model.id)] {
            let resolved = models.resolve(&spelling);
            assert_eq!(
                (&resolved.model.id, resolved.known),
                (&model.id, ModelCertainty::Known),
                "{spelling}"
            );
        }
    }
}

/// Routes, clouds, registries and clients decorate the names of models.
#[test]
fn every_model_resolves_with_every_prefix_and_suffix() {
    const PREFIXES: [&str; 15] = [
        "",
        "vendor/",
        "openrouter/vendor/",
        "models/",
        "accounts/vendor/models/",
        "publishers/vendor/models/",
        "projects/p/locations/us-east5/publishers/vendor/models/",
        "bedrock/",
        "vendor.",
        "us.vendor.",
        "global.vendor.",
        "arn:aws:bedrock:us-east-1::foundation-model/vendor.",
        "arn:aws:bedrock:us-east-1:123456789012:inference-profile/eu.vendor.",
        "databricks-",
        "anthropic--",
    ];
    const SUFFIXES: [&str; 16] = [
        "",
        "-latest",
        "-preview",
        "-20250929",
        "-2025-09-29",
        "@20250929",
        "@latest",
        "-v1:0",
        "-20250929-v1:0",
        ":free",
        ":latest",
        "[1m]",
        "-20250929[1m]",
        "-thinking",
        "-20250929-thinking",
        "-thinking:free",
    ];
    let models = models();
    for model in models.iter() {
        for prefix in PREFIXES {
            for suffix in SUFFIXES {
                for id in [model.id.clone(), model.id.replace('.', "-"), model.id.to_uppercase()] {
                    let spelling = format!("{prefix}{id}{suffix}");
                    let resolved = models.resolve(&spelling);
                    let found = (&*resolved.model.id, resolved.known);
                    assert_eq!(found, (&*model.id, ModelCertainty::Known), "{spelling}");
                }
            }
        }
    }
}

#[test]
fn the_version_of_a_claude_model_may_precede_its_kind() {
    let models = models();
    for (spelling, id) in [
        ("claude-4.5-sonnet", "claude-sonnet-4-5"),
        ("claude-4-5-sonnet-20250929", "claude-sonnet-4-5"),
        ("anthropic/claude-4.7-opus:thinking", "claude-opus-4-7"),
        ("claude-4-opus", "claude-opus-4"),
        ("claude-sonnet-3-7", "claude-3-7-sonnet"),
        ("us.anthropic.claude-haiku-3.5", "claude-3-5-haiku"),
    ] {
        assert_eq!(models.resolve(spelling).model.id, id, "{spelling}");
    }
}

#[test]
fn a_size_or_a_long_window_mark_determines_the_window() {
    let models = models();
    for (spelling, id, max_input) in [
        ("gemma3:1b", "gemma-3-1b-it", 32_768),
        ("ollama/gemma3:270m", "gemma-3-1b-it", 32_768),
        ("gemma3:1b-it-qat", "gemma-3-1b-it", 32_768),
        ("gemma3:27b", "gemma-3-27b-it", 131_072),
        ("gemma3", "gemma-3-27b-it", 131_072),
        ("claude-sonnet-4-5", "claude-sonnet-4-5", 200_000),
        ("claude-sonnet-4-5[1m]", "claude-sonnet-4-5", 1_000_000),
        ("claude-opus-4-8[1m]", "claude-opus-4-8", 1_000_000),
    ] {
        let model = models.resolve(spelling).model;
        assert_eq!((&*model.id, model.max_input), (id, max_input), "{spelling}");
    }
}

/// No name may refer to two models, either as their own name or as an alias.
#[test]
fn names_and_aliases_are_unique() {
    let mut model_by_name = std::collections::BTreeMap::new();
    for (aliases, model) in ModelTable::from_toml(BUILTIN).unwrap().models().unwrap() {
        for name in aliases.into_iter().chain([model.id.clone()]) {
            assert_eq!(model_by_name.insert(names::canonical_name(&name), model.id.clone()), None, "{name}");
        }
    }
}

#[test]
fn common_spellings_resolve() {
    let models = models();
    for (spelling, id) in [
        ("us.anthropic.claude-sonnet-4-5-20250929-v1:0", "claude-sonnet-4-5"),
        ("anthropic/claude-opus-4.7", "claude-opus-4-7"),
        ("claude-haiku-4-5@20251001", "claude-haiku-4-5"),
        ("bedrock/anthropic.claude-opus-4-6-v1", "claude-opus-4-6"),
        ("openrouter/openai/gpt-5.1-codex", "gpt-5.1-codex"),
        ("gpt-4o-2024-08-06", "gpt-4o"),
        ("azure/gpt-4.1-mini-2025-04-14", "gpt-4.1-mini"),
        ("gpt-4-1106-preview", "gpt-4-turbo"),
        ("gemini/gemini-3.1-pro-preview", "gemini-3.1-pro"),
        ("vertex_ai/gemini-2.5-pro", "gemini-2.5-pro"),
        ("mistral/codestral-latest", "codestral-2508"),
        ("dashscope/qwen3.8-max", "qwen3.8-max"),
        ("ollama/llama3.3:70b", "llama-3.3-70b-instruct"),
    ] {
        let resolved = models.resolve(spelling);
        assert_eq!((resolved.model.id.as_str(), &resolved.known), (id, &ModelCertainty::Known), "{spelling}");
        assert_eq!(resolved.warning(), None);
    }
}

#[test]
fn an_unlisted_model_gets_the_values_of_its_family_and_a_warning() {
    let models = models();
    for (spelling, family) in [
        ("anthropic/claude-opus-7", "claude"),
        ("claude-3-sonnet-20240229", "claude up to 4.6"),
        ("us.anthropic.claude-sonnet-4-4-20250514-v1:0", "claude up to 4.6"),
        ("gpt-6-nova", "gpt from 5.6"),
        ("gpt-4-32k", "gpt-4 and 3.5"),
        ("gpt-4.5-preview", "gpt"),
        ("gemini-9-ultra", "gemini"),
        ("us.meta.llama3-3-70b-instruct-v1:0", "llama"),
        ("ollama/phi4", "local"),
    ] {
        let resolved = models.resolve(spelling);
        assert_eq!(resolved.known, ModelCertainty::Guessed { family: family.to_owned() }, "{spelling}");
        assert_eq!(resolved.model.id, spelling);
        assert!(resolved.warning().unwrap().contains(family));
    }
}

#[test]
fn an_unknown_model_has_defaults_and_a_warning() {
    for spelling in ["", "   ", "frobnicate-9000", "/", "...", "::@", "日本"] {
        let resolved = models().resolve(spelling);
        assert_eq!(resolved.known, ModelCertainty::Unknown, "{spelling:?}");
        assert!(resolved.model.max_input > resolved.model.max_output);
        assert!(resolved.warning().unwrap().contains("unknown"));
    }
    assert_eq!(Models::default().resolve("gpt-4o").known, ModelCertainty::Unknown);
}

/// Checks figures from the providers' own pages against the table.
#[test]
fn minimum_cacheable_prefixes_and_write_prices() {
    let models = models();
    for (id, min_tokens) in [
        ("claude-opus-5", 512),
        ("claude-opus-5-5", 512),
        ("claude-sonnet-5-5", 512),
        ("claude-opus-4-8", 1024),
        ("claude-sonnet-5", 1024),
        ("claude-sonnet-4-6", 1024),
        ("claude-sonnet-4-5", 1024),
        ("claude-opus-4-7", 2048),
        ("claude-opus-4-6", 4096),
        ("claude-opus-4-5", 4096),
        ("claude-haiku-4-5", 4096),
        ("claude-haiku-5-5", 512),
        ("claude-fable-5-1", 512),
        ("claude-mythos-preview", 2048),
        ("claude-3-5-haiku-20241022", 2048),
        ("claude-3-haiku-20240307", 2048),
        ("claude-opus-4-1-20250805", 1024),
        ("us.anthropic.claude-sonnet-4-20250514-v1:0", 1024),
        ("claude-3-7-sonnet-20250219", 1024),
    ] {
        let cache = &models.resolve(id).model.cache;
        assert_eq!(cache.min_tokens, min_tokens, "{id}");
        assert_eq!(cache.kind, CacheKind::Explicit { max_breakpoints: 4, max_matched: 0, lookback: 20 });
        let writes: Vec<_> = cache.lifetimes.iter().map(|life| (life.seconds, life.write)).collect();
        assert_eq!(writes, [(300, 1.25), (3600, 2.0)]);
    }
    let new = &models.resolve("gpt-5.6").model.cache;
    assert_eq!(
        (new.min_tokens, new.read, new.lifetimes[0].seconds, new.lifetimes[0].write),
        (1024, 0.1, 1800, 1.25)
    );
    for (id, granularity, seconds) in [
        ("gpt-5.5", 2_048, 1_800),
        ("gpt-5.4", 128, 1_800),
        ("gpt-5.1-chat-latest", 128, 1_800),
        ("gpt-5-2025-08-07", 128, 1_800),
        ("gpt-4.1", 128, 1_800),
        ("gpt-5-mini", 128, 300),
        ("gpt-4o", 128, 300),
    ] {
        let old = &models.resolve(id).model.cache;
        let lifetime = old.lifetimes[0];
        assert_eq!((old.kind, old.min_tokens), (CacheKind::Automatic { granularity }, 1_024), "{id}");
        assert_eq!((lifetime.seconds, lifetime.write), (seconds, 1.0), "{id}");
    }
    for (id, min_tokens) in
        [("gemini-2.5-flash", 2_048), ("gemini-2.0-flash", 2_048), ("gemini-3.8-flash", 4_096)]
    {
        assert_eq!(models.resolve(id).model.cache.min_tokens, min_tokens, "{id}");
    }
}

#[test]
fn models_without_a_price_for_cached_input_cache_nothing() {
    for id in [
        "gpt-5-pro",
        "gpt-5.4-pro",
        "gpt-5.5-pro",
        "o1-pro",
        "o3-pro-2025-06-10",
        "gpt-4o-2024-05-13",
        "gpt-4",
    ] {
        let model = models().resolve(id).model;
        assert_eq!(model.cache.kind, CacheKind::None, "{id}");
        assert_eq!(Prices::for_model(&model, CacheTtl::FiveMinutes).read, 1.0, "{id}");
    }
}

/// From GPT-5.6 on, an entry is only found by a breakpoint at its own position, under every name of such a
/// model.
#[test]
fn openai_takes_breakpoints_from_5_6_on() {
    let explicit = CacheKind::Explicit { max_breakpoints: 4, max_matched: 80, lookback: 1 };
    for (name, read) in [
        ("gpt-5.6", 0.1),
        ("gpt-5.6-sol", 0.1),
        ("gpt-5.6-luna", 0.1),
        ("gpt-5.6-sol-2026-07-09", 0.1),
        ("openai/gpt-5.6-terra", 0.1),
        ("openrouter/openai/gpt-5.6-sol:free", 0.1),
        ("GPT-5.6-Sol", 0.1),
        ("gpt-5-6", 0.1),
        ("gpt-5.7-nova", 0.1),
        ("gpt-5.10", 0.1),
        ("gpt-6", 0.1),
        ("azure/gpt-6-luna", 0.1),
        ("gpt-6-nova-2026-12-01", 0.1),
        ("gpt-6.1-sol", 0.05),
        ("gpt-6.1-sol-2026-10-01", 0.05),
        ("gpt-6.1-terra", 0.1),
        ("gpt-7", 0.1),
    ] {
        let model = models().resolve(name).model;
        assert_eq!((model.cache.kind, model.cache.read), (explicit, read), "{name}");
    }
    for name in
        ["gpt-5.5", "gpt-5.1", "gpt-5", "gpt-5-2025-08-07", "gpt-4.1", "gpt-oss-20b", "o3", "claude-opus-5-5"]
    {
        assert_ne!(models().resolve(name).model.cache.kind, explicit, "{name}");
    }
    // The model must be resolved by its own name, since other models of its family have different prices.
    assert_eq!(models().resolve("openai/gpt-5.6-luna").model.id, "gpt-5.6-luna");
}

#[test]
fn the_tokenizer_of_claude_changed_with_4_7() {
    let factor = |id: &str| match models().resolve(id).model.tokenizer {
        Tokenizer::O200kTimes(ratio) => ratio.get(),
        other => panic!("{other:?}"),
    };
    assert_eq!(
        [factor("claude-opus-4-6"), factor("claude-opus-4-7"), factor("claude-opus-9")],
        [1.21, 1.52, 1.52]
    );
    assert_eq!(models().resolve("gpt-4").model.tokenizer, Tokenizer::Cl100k);
    assert_eq!(models().resolve("gpt-oss-20b").model.tokenizer, Tokenizer::O200k);
}

#[test]
fn structure_and_images_cost_tokens() {
    let gpt = models().resolve("gpt-4o").model;
    assert_eq!(gpt.structure_tokens(StructureCounts { messages: 2, ..StructureCounts::default() }), 9);
    let tools = StructureCounts { messages: 2, tools: 2, tool_round_trips: 1 };
    assert_eq!(gpt.structure_tokens(tools), 9 + 12 + 14 + 6);
    let image = gpt.image.unwrap();
    assert_eq!(image.tokens(Some(ImageSize { width: 1024, height: 1024 })), 765);
    assert_eq!(models().resolve("o3-mini").model.image, None);
}

#[test]
fn overrides_change_add_and_extend() {
    let overrides = r#"
        [model.claude-opus-5]
        max_input = 500_000
        cache = { read = 0.2 }

        [model."house/special"]
        family = "llama"
        tokenizer = "chars"
        max_input = 16_000

        [family.llama]
        max_output = 1_000
    "#;
    let models = models().with_overrides(ModelTable::from_toml(overrides).unwrap()).unwrap();
    let opus = models.resolve("anthropic/claude-opus-5").model;
    assert_eq!(
        (opus.max_input, opus.max_output, opus.cache.read, opus.cache.min_tokens),
        (500_000, 128_000, 0.2, 512)
    );
    let house = models.resolve("house/special");
    assert_eq!(house.known, ModelCertainty::Known);
    assert_eq!((house.model.tokenizer, house.model.max_input), (Tokenizer::Chars, 16_000));
    assert_eq!(house.model.max_output, 1_000);
    assert_eq!(models.resolve("llama-9").model.max_output, 1_000);
}

#[test]
fn an_invalid_table_is_rejected_with_the_reason() {
    let error_of = |text: &str| {
        let table = ModelTable::from_toml(text);
        table.and_then(|table| models().with_overrides(table)).unwrap_err().to_string()
    };
    for (text, reason) in [
        ("[model.x]\nwindow = 5", "unknown field `window`"),
        ("[models.x]\nmax_input = 5", "unknown field `models`"),
        ("[model.x]\nfamily = \"nobody\"", "the family `nobody`"),
        ("[model.x]\nmax_input = 5", "has no `provider`"),
        ("[model.gpt-5]\nmax_input = 0", "invalid `max_input"),
        ("[model.gpt-5]\ncache = { read = -1.0 }", "invalid `cache price`"),
        ("[model.gpt-5]\ncache = { lifetimes = [] }", "invalid `cache.lifetimes`"),
        ("[model.gpt-5]\ntokenizer = { o200k_times = 99.0 }", "between 0.1 and 10"),
        ("[model.gpt-5]\ntokenizer = \"magic\"", "unknown variant `magic`"),
        ("[model.gpt-5\n", "cannot read"),
    ] {
        assert!(error_of(text).contains(reason), "{text}: {}", error_of(text));
    }
}

#[test]
fn a_custom_tokenizer_applies_to_a_family_or_to_one_model() {
    let given = Tokenizer::Given(GivenId(3));
    let models =
        models().with_custom_tokenizers([("llama", GivenId(3)), ("gpt-4.1-mini", GivenId(3))]).unwrap();
    for name in ["llama-9-70b", "meta/llama-4-scout", "openai/gpt-4.1-mini"] {
        assert_eq!(models.resolve(name).model.tokenizer, given, "{name}");
    }
    assert_eq!(models.resolve("gpt-4.1").model.tokenizer, Tokenizer::O200k);
    assert!(
        models.with_custom_tokenizers([("nobody", GivenId(0))]).unwrap_err().to_string().contains("nobody")
    );
}
