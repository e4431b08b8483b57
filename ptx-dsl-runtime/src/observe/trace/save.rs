//! Writes a timeline, as JSON or as a page.

use super::timeline::Timeline;
use super::{html, json};
use std::io;
use std::path::Path;

impl Timeline {
    /// The timeline as JSON in the Trace Event format, which <https://ui.perfetto.dev> opens. A microsecond there is a turn.
    pub fn to_json(&self) -> String {
        json::write(self)
    }

    /// The timeline as a self-contained page of HTML for a browser.
    pub fn to_html(&self) -> String {
        html::write(self)
    }

    /// Writes [`Timeline::to_html`] to a file if its name ends with `.html`, else [`Timeline::to_json`].
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn save(&self, path: impl AsRef<Path>) -> io::Result<()> {
        let path = path.as_ref();
        let html = path.extension().is_some_and(|e| e.eq_ignore_ascii_case("html"));
        std::fs::write(path, if html { self.to_html() } else { self.to_json() })
    }
}
