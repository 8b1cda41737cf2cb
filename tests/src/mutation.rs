//! Generates texts by damaging valid source code, as editors, broken disks and generators do. The same number
//! always gives the same text. Independent of the language.

use crate::Rng;

/// Maximum length of a generated text in bytes, unless its source is longer.
const LONGEST: usize = 50_000;

/// Opening brackets and other openers, with what closes them.
const NESTS: [(&str, &str); 12] = [
    ("(", ")"),
    ("[", "]"),
    ("{", "}"),
    ("<", ">"),
    ("f(", ")"),
    ("if x { ", " }"),
    ("a ? b : ", ""),
    ("/*", "*/"),
    ("\"${", "}\""),
    ("- ", ""),
    ("!", ""),
    ("<a>", "</a>"),
];

/// Returns the mutation number `seed` of one of `texts`, which must not be empty. The result may contain parts
/// of the others.
pub fn mutated(texts: &[&str], seed: u64) -> String {
    let mut rng = Rng::new(seed);
    let mut bytes = texts[rng.below(texts.len())].as_bytes().to_vec();
    for _ in 0..=rng.below(8) {
        mutate(&mut bytes, texts, &mut rng);
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn mutate(bytes: &mut Vec<u8>, texts: &[&str], rng: &mut Rng) {
    let room = LONGEST.saturating_sub(bytes.len());
    let at = rng.below(bytes.len() + 1);
    let end = (at + rng.below(40)).min(bytes.len());
    match rng.below(16) {
        0 => drop(bytes.drain(at..end)),
        1 => bytes.insert(at, u8::try_from(rng.below(256)).unwrap()),
        2 => {
            let copy = bytes[at..end].to_vec();
            let place = rng.below(bytes.len() + 1);
            bytes.splice(place..place, copy);
        }
        3 => {
            let other = rng.below(bytes.len());
            if at < bytes.len() {
                bytes.swap(at, other);
            }
        }
        4 => bytes.truncate(at),
        5 => {
            let (open, close) = NESTS[rng.below(NESTS.len())];
            let depth = rng.below(room / (open.len() + close.len() + 1)).min(500);
            let nest = format!("{}x{}", open.repeat(depth), close.repeat(depth));
            bytes.splice(at..at, nest.into_bytes());
        }
        6 => {
            let (open, _) = NESTS[rng.below(NESTS.len())];
            bytes.splice(at..at, open.repeat(rng.below(room / 8).min(200)).into_bytes());
        }
        7 => {
            let other = texts[rng.below(texts.len())].as_bytes();
            let from = rng.below(other.len());
            let piece = &other[from..(from + rng.below(2_000)).min(other.len())];
            bytes.splice(at..at, piece.iter().copied());
        }
        8 => bytes.splice(at..at, [0xff, 0xc0, 0x80, 0xed, 0xa0]).for_each(drop),
        9 => bytes.splice(at..at, [0; 3]).for_each(drop),
        10 => *bytes = String::from_utf8_lossy(bytes).replace('\n', "\r\n").into_bytes(),
        11 => bytes.splice(at..at, b"x ".repeat(rng.below(room / 2).min(4_000))).for_each(drop),
        12 => *bytes = String::from_utf8_lossy(bytes).replace('\n', " ").into_bytes(),
        13 => swap_tokens(bytes, rng),
        14 => {
            let copy = bytes[..bytes.len().min(room)].to_vec();
            bytes.extend(copy);
        }
        _ => {
            let tabs = [" ", "\t", "        ", "\u{2028}", "\u{feff}", "\u{1f980}"];
            bytes.splice(at..at, tabs[rng.below(tabs.len())].bytes()).for_each(drop);
        }
    }
}

/// Swaps two words.
fn swap_tokens(bytes: &mut Vec<u8>, rng: &mut Rng) {
    let text = String::from_utf8_lossy(bytes).into_owned();
    let mut tokens: Vec<&str> = text.split_inclusive(|c: char| !c.is_alphanumeric()).collect();
    let (one, other) = (rng.below(tokens.len()), rng.below(tokens.len()));
    if one < tokens.len() && other < tokens.len() {
        tokens.swap(one, other);
    }
    *bytes = tokens.concat().into_bytes();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_gives_one_text_and_others_give_others() {
        let texts = ["fn a() {}\n", "class B: pass\n"];
        let all: Vec<String> = (0..200).map(|seed| mutated(&texts, seed)).collect();
        assert!(all.iter().enumerate().all(|(seed, text)| *text == mutated(&texts, seed as u64)));
        let different: std::collections::BTreeSet<&String> = all.iter().collect();
        assert!(different.len() > 150, "{}", different.len());
    }
}
