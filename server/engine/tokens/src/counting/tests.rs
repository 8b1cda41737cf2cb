//! Compares every count with tiktoken-rs if it can process the text, and otherwise with a known result.

use std::sync::OnceLock;

use proptest::prelude::*;
use tiktoken_rs::CoreBPE;

use super::*;

const EXACT: [Tokenizer; 2] = [Tokenizer::O200k, Tokenizer::Cl100k];

fn reference(tokenizer: Tokenizer) -> &'static CoreBPE {
    static O200K: OnceLock<CoreBPE> = OnceLock::new();
    static CL100K: OnceLock<CoreBPE> = OnceLock::new();
    match tokenizer {
        Tokenizer::Cl100k => CL100K.get_or_init(|| tiktoken_rs::cl100k_base().unwrap()),
        _ => O200K.get_or_init(|| tiktoken_rs::o200k_base().unwrap()),
    }
}

#[test]
fn vocabularies_equal_those_of_tiktoken() {
    let o200k: &[u8] = include_bytes!("../../vocabularies/o200k.tokens");
    let cl100k: &[u8] = include_bytes!("../../vocabularies/cl100k.tokens");
    // As many ordinary tokens as in the vocabulary files of `openai/tiktoken`. Only special tokens follow them.
    for (tokenizer, expected, size) in
        [(Tokenizer::O200k, o200k, 199_998), (Tokenizer::Cl100k, cl100k, 100_256)]
    {
        let encoding = reference(tokenizer);
        let mut vocabulary = Vec::new();
        for rank in 0..size {
            let token = encoding.decode_bytes(&[rank]).unwrap();
            vocabulary.push(u8::try_from(token.len()).unwrap());
            vocabulary.extend(token);
        }
        assert!(vocabulary == expected, "the vocabulary of {tokenizer:?} differs");
        assert!(encoding.decode_bytes(&[size]).is_err(), "{tokenizer:?} has more ordinary tokens");
    }
}

/// Counts without any cache.
fn count_fresh(tokenizer: Tokenizer, text: &str) -> usize {
    let Some(BaseTokenizer::Encoding(encoding)) = tokenizer.base_tokenizer() else {
        panic!("{tokenizer:?} has no vocabulary")
    };
    TokenCounter::default().count_uncached(encoding, text)
}

#[track_caller]
fn assert_equals_reference(text: &str) {
    for tokenizer in EXACT {
        let expected = reference(tokenizer).count_ordinary(text);
        assert_eq!(
            count_fresh(tokenizer, text),
            expected,
            "{tokenizer:?} {:?}",
            text.get(..100).unwrap_or(text)
        );
    }
}

/// Text that provokes the split patterns: words in every mix of cases, marks, contractions, numbers, white
/// space of all kinds, symbols and slashes around newlines.
fn tricky_text() -> impl Strategy<Value = String> {
    let fragment = prop_oneof![
        4 => "[a-zA-Z]{1,8}",
        2 => "[ \t\r\n]{1,6}",
        2 => "[-=_.,;:(){}/\\\\'\"<>#*!]{1,5}",
        1 => "[0-9]{1,7}",
        2 => prop::sample::select(vec![
            "'s", "'S", "'ſ", "'t", "'LL", "'vE", "'re", "'x", "/\n", ")\n\n/", "\r\n", "\u{a0}", "\u{2028}",
            "\u{301}", "é", "e\u{301}", "ǅ", "ª", "ʰ", "語", "日本語", "Ünï", "ÀÉ", "😀", "👩\u{200d}💻", "½", "٣",
            "\u{200b}", "\u{3000}", "\u{85}", "ſ", "İ", "K", "<|endoftext|>", "\u{b}", "\u{c}", "\0",
        ]).prop_map(str::to_owned),
        1 => any::<char>().prop_map(String::from),
        1 => "\\PC{1,6}",
        1 => ("[a-zA-Z ='/\n\t-]", 1usize..300).prop_map(|(unit, times)| unit.repeat(times)),
    ];
    prop::collection::vec(fragment, 0..24).prop_map(|fragments| fragments.concat())
}

/// Source-like text long enough for several chunks.
fn pages() -> impl Strategy<Value = String> {
    let line = prop_oneof![
        5 => "(    ){0,4}[a-z_]{2,12} = [a-z_.]{2,20}\\([a-z0-9, \"]{0,20}\\);?\n",
        1 => "[ \t]{0,5}\r?\n",
        1 => " {0,4}/[/*].{0,20}\n",
        1 => "[})]{1,3}\n",
        1 => tricky_text(),
    ];
    prop::collection::vec(line, 700..1_000).prop_map(|lines| lines.concat())
}

/// Edits as (position, inserted text, removed bytes).
fn edits() -> impl Strategy<Value = Vec<(f64, String, usize)>> {
    let typed = prop_oneof![tricky_text(), "[\n /]{1,3}", Just(String::new())];
    prop::collection::vec((0.0..1.0, typed, 0_usize..80), 20..40)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3_000))]

    #[test]
    fn counts_equal_tiktoken(text in tricky_text()) {
        for tokenizer in EXACT {
            prop_assert_eq!(count_fresh(tokenizer, &text), reference(tokenizer).count_ordinary(&text), "{:?}", tokenizer);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// A piece of one class is a single pre-token of any length, so this compares the merges.
    #[test]
    fn long_pre_tokens_equal_tiktoken(letters in "([a-z]{1,9}|[A-Z]|語|é|ab){20,200}", symbols in "([-=_#*]|😀|\u{301}){20,300}") {
        for text in [letters.to_lowercase(), symbols] {
            for tokenizer in EXACT {
                prop_assert_eq!(count_fresh(tokenizer, &text), reference(tokenizer).count_ordinary(&text), "{:?}", tokenizer);
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn the_counts_of_chunks_add_up_to_that_of_the_text(text in pages()) {
        prop_assert!(text.len() > CHUNKED_FROM_BYTES, "{}", text.len());
        prop_assert!(chunks::Chunks::new(&text).count() > 1);
        for tokenizer in EXACT {
            let expected = reference(tokenizer).count_ordinary(&text);
            prop_assert_eq!(TokenCounter::default().count(tokenizer, &text), expected);
        }
    }

    /// Counting only the difference gives the exact count, for any edit at any position.
    /// `tests/libraries/token_recounts.rs` makes many more edits.
    #[test]
    fn a_recount_is_exact(text in pages(), edits in edits()) {
        let (counter, mut text) = (TokenCounter::default(), text);
        for tokenizer in EXACT {
            counter.count(tokenizer, &text);
        }
        for (place, insert, removed) in edits {
            let floor = |text: &str, at: usize| (0..=at.min(text.len())).rev().find(|&at| text.is_char_boundary(at)).unwrap();
            let start = floor(&text, (place * text.len() as f64) as usize);
            let end = floor(&text, start + removed).max(start);
            let before = text.clone();
            text.replace_range(start..end, &insert);
            for tokenizer in EXACT {
                let hashed = [&before, &text].map(|text| (text.as_str(), ContentHash::from_text(text)));
                prop_assert_eq!(counter.recount(tokenizer, hashed[0], hashed[1]), count_fresh(tokenizer, &text));
            }
        }
    }

    /// Counts cached for one version of a text do not affect the count of the next.
    #[test]
    fn edits_recount_exactly(text in pages(), edits in prop::collection::vec((0.0..1.0, tricky_text()), 1..4)) {
        let (counter, mut text) = (TokenCounter::default(), text);
        for (place, insert) in edits {
            let mut at = (place * text.len() as f64) as usize;
            while !text.is_char_boundary(at) {
                at -= 1;
            }
            text.insert_str(at, &insert);
            for tokenizer in EXACT {
                prop_assert_eq!(counter.count(tokenizer, &text), count_fresh(tokenizer, &text));
            }
        }
    }
}

#[test]
fn each_rule_of_the_split_patterns_equals_tiktoken() {
    for text in [
        "",
        " ",
        "\n",
        "a",
        "don't DON'T we'll WE'LL I'ſ 'tis o'clock",
        "camelCase HTTPServer XMLHttpRequest aB Ab",
        "ªA ªa Aª AªB \u{301}A \u{301}a A\u{301}B ǅa aǅ",
        "1234567 ١٢٣٤ ½½½½",
        "a  b   c\n\n\n  d \n \n e  ",
        "x \t\n\t y\r\n\r\n",
        ")\n\n/ //\n/\n /",
        "-\u{301}\u{301}a",
        "\u{a0}a \u{a0}\u{a0}a \u{2028}a",
        "\u{85}\u{85}\n\u{85}",
        "日本語テスト",
        "👩‍💻 !?",
        "trailing   ",
        "trailing \n ",
        "\u{1f}a",
        "<|endoftext|>",
    ] {
        assert_equals_reference(text);
    }
}

/// Text, `cl100k_base` count, `o200k_base` count, by tiktoken 0.14.0 in Python.
const KNOWN: [(&str, usize, usize); 16] = [
    ("", 0, 0),
    ("tiktoken is great!", 6, 6),
    ("antidisestablishmentarianism", 6, 6),
    ("2 + 2 = 4", 7, 7),
    ("お誕生日おめでとう", 9, 8),
    ("    return self._count(text)\n", 7, 7),
    ("\n\n\n\n", 1, 1),
    ("1234567890", 4, 4),
    ("<|endoftext|>", 7, 7),
    ("don't DON'T WE'LL I'ſ 'tis", 14, 9),
    ("HTTPServer XMLHttpRequest aBcD ǅungla ªA", 15, 15),
    ("e\u{301}A\u{301} naïve Ünïcode", 10, 9),
    ("if (x)\n\n/ 2 //\n/*\r\n\t*/", 11, 11),
    ("  a \t b\u{a0}\u{a0}c\u{2028}\n  d  ", 13, 12),
    ("👩\u{200d}💻 !?😀😀", 13, 9),
    ("½ ٣٤٥٦ ⅷ", 13, 9),
];

#[test]
fn counts_equal_the_python_implementation() {
    for (text, cl100k, o200k) in KNOWN {
        let counts = (count_fresh(Tokenizer::Cl100k, text), count_fresh(Tokenizer::O200k, text));
        assert_eq!(counts, (cl100k, o200k), "{text:?}");
    }
    for (unit, cl100k, o200k) in [("a", 125, 125), (" ", 9, 9)] {
        let text = unit.repeat(1_000);
        assert_eq!(
            (count_fresh(Tokenizer::Cl100k, &text), count_fresh(Tokenizer::O200k, &text)),
            (cl100k, o200k),
            "{unit:?}"
        );
    }
}

/// Texts for which tiktoken-rs panics or is very slow.
#[test]
fn a_megabyte_of_one_character_can_be_counted() {
    const MB: usize = 1 << 20;
    for unit in ["a", " ", "\t", "\n", "-", "\u{a0}", "😀", "語"] {
        let count = count_fresh(Tokenizer::O200k, &unit.repeat(MB / unit.len()));
        assert!((1..=MB / unit.len()).contains(&count), "{unit:?}: {count}");
    }
    // A pre-token of spaces consists of as many of the longest tokens as fit. In cl100k, the longest is 128
    // spaces.
    assert_eq!(count_fresh(Tokenizer::Cl100k, &" ".repeat(MB)), MB / 128);
}

/// The longest runs that the reference can process.
#[test]
fn long_runs_equal_tiktoken() {
    for unit in [
        "a", "A", " ", "\t", "\n", "\r\n", "-", "/", "1", "\u{a0}", "😀", "\u{301}", "語", "'s", "aB", " x",
        "= ",
    ] {
        for len in [1, 2, 3, 63, 64, 65, 128, 129, 3_000] {
            assert_equals_reference(&unit.repeat(len));
            assert_equals_reference(&format!("{}x", unit.repeat(len)));
        }
    }
}

#[test]
fn other_tokenizers_scale_or_estimate() {
    let counter = TokenCounter::default();
    let text = "fn main() { println!(\"hello\"); }\n".repeat(10);
    let exact = counter.count(Tokenizer::O200k, &text);
    let ratio = Tokenizer::O200kTimes(Ratio::new(1.21).unwrap());
    assert_eq!(counter.count(ratio, &text), (exact as f64 * 1.21).ceil() as usize);
    assert_eq!(counter.count(Tokenizer::Chars, "äöüß!"), 2);
    assert_eq!(counter.count(ratio, ""), 0);
    assert!(Ratio::new(f64::NAN).is_err() && Ratio::new(0.0).is_err());
}

/// Counts one token per byte, until it fails.
#[derive(Debug)]
struct Bytes;

impl CountTokens for Bytes {
    fn count(&self, text: &str) -> Option<usize> {
        (!text.contains("broken")).then_some(text.len())
    }
}

#[test]
fn a_custom_tokenizer_is_used() {
    let plain = TokenCounter::default();
    let counter = plain.with_custom_tokenizers([Arc::new(Bytes) as Arc<dyn CountTokens>]);
    let given = Tokenizer::Given(GivenId(0));
    let long = "some lines of text\n".repeat(5_000);
    for text in ["", "short", &long] {
        assert_eq!(counter.count(given, text), text.len());
        assert_eq!(counter.count(given, text), text.len());
    }
    assert_eq!(counter.count(given, "it is broken"), count_by_chars("it is broken"));
    assert_eq!(plain.count(given, "no such tokenizer"), count_by_chars("no such tokenizer"));
    assert_eq!(counter.count(Tokenizer::O200k, &long), plain.count(Tokenizer::O200k, &long));
}

#[test]
fn counts_of_lists_are_sums_and_hashed_texts_have_the_same_count() {
    let counter = TokenCounter::default();
    let texts = ["one", "two three", &"four ".repeat(100)];
    let sum: usize = texts.iter().map(|text| count_fresh(Tokenizer::O200k, text)).sum();
    assert_eq!(counter.count_all(Tokenizer::O200k, texts), sum);
    for text in texts {
        let hash = ContentHash::from_text(text);
        assert_eq!(counter.count_hashed(Tokenizer::O200k, text, hash), count_fresh(Tokenizer::O200k, text));
    }
}

#[test]
#[expect(clippy::disallowed_methods, reason = "hosts share a counter between threads")]
fn threads_share_one_counter() {
    let counter = TokenCounter::default();
    let text = "shared between threads ".repeat(2_000);
    let expected = count_fresh(Tokenizer::Cl100k, &text);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| assert_eq!(counter.clone().count(Tokenizer::Cl100k, &text), expected));
        }
    });
}
