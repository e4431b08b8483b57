//! The page of a timeline in a headless Chromium: it draws, shows what is under the pointer, zooms, scrolls and finds
//! slices and moments.

use super::{pipeline, traced};
use ptx_dsl::prelude::*;
use ptx_dsl::trace::{Kind, Timeline};
use ptx_dsl_test_support::browser::{self, chromium};
use serde_json::{Value, json};
use std::path::Path;

/// Loads the page of a timeline, with `browser.js` after it, and returns what that has written.
fn opened(browser: &str, name: &str, t: &Timeline) -> Value {
    let page = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}.html"));
    let said = browser::opened(browser, &page, &t.to_html(), include_str!("browser.js"));
    serde_json::from_str(&said).unwrap_or_else(|e| panic!("{e}: {said}"))
}

/// A pipeline of two warps in each of so many CTAs, all resident.
fn timeline(ctas: u32) -> Timeline {
    traced(|host| {
        let host = host.clone().resident_clusters(ctas as usize);
        pipeline.launch(&host, Launch::grid(ctas), (&mut [0],)).unwrap();
    })
}

/// How many slices and moments the search has to find.
fn found(t: &Timeline, text: &str) -> usize {
    let place = |track: usize| format!("{} {}", t.tracks[track].process, t.tracks[track].name);
    let slices = t.slices.iter().map(|s| {
        let notes: Vec<&str> = s.notes.iter().map(|(_, value)| value.as_str()).collect();
        format!("{} {} {}", s.name, place(s.track), notes.join(" "))
    });
    let moments = t.instants.iter().map(|i| format!("{} {}", i.name, place(i.track)));
    // `slot 1` does not find slot 10
    let digit = |c: Option<char>| c.is_some_and(|c| c.is_ascii_digit());
    let has = |all: &String| {
        let all = all.to_lowercase();
        let whole = |i: usize| !digit(text.chars().last()) || !digit(all[i + text.len()..].chars().next());
        all.match_indices(&text.to_lowercase()).any(|(i, _)| whole(i))
    };
    slices.chain(moments).filter(|all| has(all)).count()
}

/// Did the search of the page find them, and Enter show the first?
fn finds(said: &Value, t: &Timeline) {
    let finds = said["finds"].as_object().unwrap();
    assert_eq!(finds.len(), 6);
    for (text, shown) in finds {
        let found = found(t, text);
        assert!(found > 0, "{text}");
        assert_eq!(shown, &json!([format!("{found} found"), format!("1 of {found}")]), "{text}");
    }
}

#[test]
fn a_browser_draws_it() {
    let Some(browser) = chromium() else { return };
    let t = timeline(4);
    let said = opened(browser, "timeline-of-8-warps", &t);
    assert_eq!(said["error"], Value::Null, "{said}");
    assert!(said["title"].as_str().unwrap().starts_with("pipeline, "), "{said}");
    assert_eq!((said["legend"].as_u64(), said["marks"].as_u64()), (Some(5), Some(2)));
    // pixels of each colour
    for kind in ["run", "wait", "phase", "cta"] {
        assert!(said["drawn"][kind].as_u64().unwrap() > 200, "{kind}: {said}");
    }
    assert_eq!(said["drawn"]["async"], 0, "there are no asynchronous operations");
    let waits = t.slices.iter().filter(|s| s.kind == Kind::Wait);
    let first = waits.clone().min_by_key(|s| (s.track, s.from)).unwrap();
    let tip = said["tip"].as_str().unwrap();
    assert!(tip.starts_with(&first.name) && tip.contains("waits"), "{tip}");
    // the search finds notes, names of slices, of their tracks and processes, and moments
    finds(&said, &t);
    let moment = &said["moment"];
    let number = |name: &str| moment[name].as_f64().unwrap();
    assert_eq!(number("row"), 1.0, "the first track of the first process: {moment}");
    assert!(number("from") <= number("at") && number("at") < number("to"), "{moment}");
    assert!(number("frame") > 10.0 && said["frame"] == 0, "{said}");
    // Ctrl and the wheel show a part, F shows all
    let (zoomed, all) = (said["zoomed"].as_f64().unwrap(), said["all"].as_f64().unwrap());
    assert!(zoomed < 0.6 && all == 1.0, "{said}");
    // W shows a part too, as does w; Ctrl+W is the browser's
    assert!(said["key"].as_f64().unwrap() < 0.8, "{said}");
    assert_eq!(said["kept"], json!([]), "keys that the page must leave to the browser");
}

#[test]
fn a_browser_counts() {
    let Some(browser) = chromium() else { return };
    let mut t = Timeline::default();
    (t.kernel, t.dropped) = ("empty".to_owned(), 1);
    assert_eq!(opened(browser, "timeline-of-nothing", &t)["title"], "empty, 1 turn, 1 slice left out");
}

#[test]
fn a_browser_scrolls_through_500_warps() {
    let Some(browser) = chromium() else { return };
    let t = timeline(250);
    let said = opened(browser, "timeline-of-500-warps", &t);
    assert_eq!(said["error"], Value::Null, "{said}");
    finds(&said, &t);
    let rows = said["rows"].as_u64().unwrap();
    assert!(rows >= 500, "{rows} rows");
    // the first rows when the page opens, and the last ones at the end
    assert_eq!((&said["first"], &said["last"]), (&0.into(), &(rows - 1).into()), "{said}");
    // by keys: used, the first row, the last row
    let keys: Vec<(String, bool, u64, u64)> = serde_json::from_value(said["keys"].clone()).unwrap();
    let [down, page, up, back, end, home] = &keys[..] else { panic!("{said}") };
    assert!(keys.iter().all(|key| key.1), "{keys:?}");
    assert_eq!((down.2, page.2 > 15, up.2), (1, true, page.2 - 1), "{keys:?}");
    // no row is skipped
    assert!(page.2 < down.3, "{keys:?}");
    assert_eq!((back.2, end.3, home.2), (0, rows - 1, 0), "{keys:?}");
    assert!(said["labels"].as_u64().unwrap() > 1000 && said["scrolled"].as_u64().unwrap() > 1000, "{said}");
}
