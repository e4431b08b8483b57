//! A headless Chromium, for pages that a test looks at.

use std::path::Path;
use std::process::Command;

/// A Chromium, if there is one. Prints a line if not. `.ci/run` installs it.
pub fn chromium() -> Option<&'static str> {
    let runs = |name: &&str| Command::new(name).arg("--version").output().is_ok_and(|o| o.status.success());
    let found = ["chromium", "chromium-browser", "google-chrome"].into_iter().find(runs);
    if found.is_none() {
        eprintln!("skipped: there is no Chromium (`apt-get install chromium`)");
    }
    found
}

/// Loads a page from a file, after which `script` runs, and returns what that has written into `<pre id="said">`.
///
/// # Panics
/// If the page cannot be loaded, or the script writes nothing.
pub fn opened(browser: &str, page: &Path, html: &str, script: &str) -> String {
    let end = html.rfind("</body>").expect("the page has a body");
    std::fs::write(page, format!("{}<script>{script}</script>{}", &html[..end], &html[end..])).unwrap();
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
    said.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
}
