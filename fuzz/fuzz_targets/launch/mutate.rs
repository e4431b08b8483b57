//! Mutations that keep a module legal more often than those of bytes do.

use ptx_dsl_test_support::random::Random;
use libfuzzer_sys::fuzzer_mutate;
use ptx_dsl_frontend::{compile, lex::lex};

/// Numbers near a limit of something.
const NUMBERS: &str = "0 1 2 3 4 7 8 15 16 17 31 32 33 63 64 100 127 128 255 256 1023 1024 4095 4096 65535 65536 232448
    0x7fffffff 0xffffffff 0x80000000 0xffffffffffffffff 0x7fffffffffffffff";

/// Attempts at a legal module.
const ATTEMPTS: usize = 6;

pub fn mutate(data: &mut [u8], size: usize, max_size: usize, seed: u32) -> usize {
    let mut random = Random::new(seed.into());
    if random.one_in(20) {
        return fuzzer_mutate(data, size, max_size);
    }
    let text = String::from_utf8_lossy(&data[..size]).into_owned();
    let mut mutated = text.clone();
    for _ in 0..ATTEMPTS {
        mutated = text.clone();
        for _ in 0..1 + random.below(3) {
            mutated = once(&mutated, &mut random);
        }
        let (lexed, early) = lex(&mutated);
        if mutated.len() <= max_size && early.is_empty() && !compile(&lexed.tokens).failed() {
            break;
        }
    }
    if mutated.len() > max_size {
        return size;
    }
    data[..mutated.len()].copy_from_slice(mutated.as_bytes());
    mutated.len()
}

fn once(text: &str, random: &mut Random) -> String {
    match random.below(8) {
        0 => seed(text, random),
        1 | 2 => lines(text, random),
        _ => tokens(text, random),
    }
}

/// Another launch.
fn seed(text: &str, random: &mut Random) -> String {
    let rest = if text.starts_with("// ") { text.split_once('\n').map_or("", |(_, rest)| rest) } else { text };
    format!("// {}\n{rest}", random.below(1 << 20))
}

/// Deletes, copies or exchanges lines.
fn lines(text: &str, random: &mut Random) -> String {
    let mut lines: Vec<&str> = text.lines().collect();
    if lines.is_empty() {
        return String::new();
    }
    let (a, b) = (random.below(lines.len()), random.below(lines.len()));
    match random.below(4) {
        0 => drop(lines.remove(a)),
        1 => lines.swap(a, b),
        _ => lines.insert(a, lines[b]),
    }
    lines.join("\n") + "\n"
}

/// Replaces a word by one of the same kind: of the text, or a number.
fn tokens(text: &str, random: &mut Random) -> String {
    let words = words(text);
    if words.is_empty() {
        return text.to_owned();
    }
    let (start, end) = words[random.below(words.len())];
    let kind = kind(&text[start..end]);
    let number = kind == 0 && random.one_in(2);
    let by: Vec<&str> = match number {
        true => NUMBERS.split_whitespace().collect(),
        false => words.iter().map(|(s, e)| &text[*s..*e]).filter(|w| self::kind(w) == kind).collect(),
    };
    let by = random.choose(&by);
    format!("{}{by}{}", &text[..start], &text[end..])
}

/// Numbers, qualifiers, registers, and the rest.
fn kind(word: &str) -> u8 {
    match word.as_bytes()[0] {
        b'0'..=b'9' => 0,
        b'.' => 1,
        b'%' => 2,
        _ => 3,
    }
}

/// Where words lie. A qualifier begins with its dot.
fn words(text: &str) -> Vec<(usize, usize)> {
    let (mut words, mut start) = (Vec::new(), None);
    for (at, c) in text.char_indices().chain([(text.len(), ' ')]) {
        let inner = c.is_ascii_alphanumeric() || c == '_' || c == '$';
        if let Some(first) = start
            && !inner
        {
            words.push((first, at));
            start = None;
        }
        if start.is_none() && (inner || c == '%' || c == '.') {
            start = Some(at);
        }
    }
    words
}
