//! The page of a timeline in a headless Chromium: it draws, shows what is under the pointer, zooms, scrolls and finds slices.

use super::{pipeline, traced};
use ptx_dsl::prelude::*;
use ptx_dsl::trace::{Kind, Timeline};
use serde_json::Value;
use std::path::Path;
use std::process::Command;

/// A Chromium, if there is one. Prints a line if not. `.ci/run` installs it.
fn chromium() -> Option<&'static str> {
    let runs = |name: &&str| Command::new(name).arg("--version").output().is_ok_and(|o| o.status.success());
    let found = ["chromium", "chromium-browser", "google-chrome"].into_iter().find(runs);
    if found.is_none() {
        eprintln!("skipped: there is no Chromium (`apt-get install chromium`)");
    }
    found
}

/// Loads the page of a timeline, with `browser.js` after it, and returns what that has written.
fn opened(browser: &str, name: &str, t: &Timeline) -> Value {
    let page = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}.html"));
    let probe = format!("<script>{}</script></body>", include_str!("browser.js"));
    std::fs::write(&page, t.to_html().replace("</body>", &probe)).unwrap();
    let profile = page.with_extension("profile");
    let output = Command::new(browser)
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"])
        .args(["--disable-component-update", "--disable-sync", "--window-size=1200,600", "--dump-dom"])
        .arg(format!("--user-data-dir={}", profile.display()))
        .arg(format!("file://{}", page.display()))
        .output()
        .unwrap();
    let _ = std::fs::remove_dir_all(profile);
    let dom = String::from_utf8_lossy(&output.stdout);
    let said = dom.split_once("<pre id=\"said\">").and_then(|(_, rest)| rest.split_once("</pre>"));
    let said = said.unwrap_or_else(|| panic!("{dom}\n{}", String::from_utf8_lossy(&output.stderr))).0;
    let said = said.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&");
    serde_json::from_str(&said).unwrap_or_else(|e| panic!("{e}: {said}"))
}

/// A pipeline of two warps in each of so many CTAs, all resident.
fn timeline(ctas: u32) -> Timeline {
    traced(|host| {
        let host = host.clone().resident_clusters(ctas as usize);
        pipeline.launch(&host, Launch::grid(ctas), (&mut [0],)).unwrap();
    })
}

#[test]
fn a_browser_draws_it() {
    let Some(browser) = chromium() else { return };
    let t = timeline(4);
    let said = opened(browser, "timeline-of-8-warps", &t);
    assert_eq!(said["error"], Value::Null, "{said}");
    assert!(said["title"].as_str().unwrap().starts_with("pipeline, "), "{said}");
    assert_eq!(said["legend"], 5);
    // pixels of each colour
    for kind in ["run", "wait", "phase", "cta"] {
        assert!(said["drawn"][kind].as_u64().unwrap() > 200, "{kind}: {said}");
    }
    assert_eq!(said["drawn"]["async"], 0, "there are no asynchronous operations");
    let waits = t.slices.iter().filter(|s| s.kind == Kind::Wait);
    let first = waits.clone().min_by_key(|s| (s.track, s.from)).unwrap();
    let tip = said["tip"].as_str().unwrap();
    assert!(tip.starts_with(&first.name) && tip.contains("waits"), "{tip}");
    // the search finds names and notes
    let has = |text: &str| text.to_lowercase().contains("try_wait");
    let found = t.slices.iter().filter(|s| has(&s.name) || s.notes.iter().any(|(_, value)| has(value))).count();
    assert!(found > 0);
    assert_eq!((&said["found"], &said["next"]), (&format!("{found} found").into(), &format!("1 of {found}").into()));
    // Ctrl and the wheel show a part, F shows all
    let (zoomed, all) = (said["zoomed"].as_f64().unwrap(), said["all"].as_f64().unwrap());
    assert!(zoomed < 0.6 && all == 1.0, "{said}");
}

#[test]
fn a_browser_scrolls_through_500_warps() {
    let Some(browser) = chromium() else { return };
    let said = opened(browser, "timeline-of-500-warps", &timeline(250));
    assert_eq!(said["error"], Value::Null, "{said}");
    let rows = said["rows"].as_u64().unwrap();
    assert!(rows >= 500, "{rows} rows");
    // the first rows when the page opens, and the last ones at the end
    assert_eq!((&said["first"], &said["last"]), (&0.into(), &(rows - 1).into()), "{said}");
    assert!(said["labels"].as_u64().unwrap() > 1000 && said["scrolled"].as_u64().unwrap() > 1000, "{said}");
}
