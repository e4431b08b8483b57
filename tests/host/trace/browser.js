// Uses the page as a person would, and writes what it sees. Its names are those of the page's own script.
"use strict";
const said = { error: null };
try {
  const pixels = (left, width, wanted) => {
    const { data } = g.getImageData(left, AXIS, width, canvas.height - AXIS);
    let count = 0;
    for (let i = 0; i < data.length; i += 4) count += wanted(data[i], data[i + 1], data[i + 2]) ? 1 : 0;
    return count;
  };
  const drawn = color => {
    const value = parseInt(color.slice(1), 16);
    return pixels(LABEL, canvas.width - LABEL, (r, green, b) => (r << 16 | green << 8 | b) === value);
  };
  const labels = () => pixels(0, LABEL - 2, (r, green, b) => r + green + b < 300);
  const fire = (kind, type, at, more) => {
    const box = canvas.getBoundingClientRect();
    canvas.dispatchEvent(new kind(type, { clientX: box.left + at[0], clientY: box.top + at[1], cancelable: true, ...more }));
  };
  const shownRow = y => Math.floor((y - AXIS + above) / ROW);
  /// Presses a key. Did the page use it?
  const press = (key, more) => {
    const e = new KeyboardEvent("keydown", { key, cancelable: true, ...more });
    document.dispatchEvent(e);
    return e.defaultPrevented;
  };
  const find = text => {
    search.value = text;
    search.dispatchEvent(new Event("input"));
    return document.getElementById("found").textContent;
  };
  const next = () => {
    search.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter" }));
    return document.getElementById("found").textContent;
  };

  said.title = document.getElementById("title").textContent;
  said.legend = document.querySelectorAll("#legend .key").length;
  said.marks = document.querySelectorAll("#legend .mark").length;
  said.rows = rows.length;
  said.first = shownRow(AXIS);
  said.labels = labels();
  said.drawn = {};
  for (const kind of Object.keys(colors)) said.drawn[kind] = drawn(colors[kind]);

  // the pointer over the first wait
  const waits = slices.filter(s => s.kind === "wait").sort((a, b) => a.track - b.track || a.from - b.from);
  const middle = [x((waits[0].from + waits[0].to) / 2), AXIS + rowOf[waits[0].track] * ROW - above + ROW / 2];
  fire(PointerEvent, "pointermove", middle);
  said.tip = tip.style.display === "block" ? tip.textContent : "";

  // the search: notes, names of slices, tracks and processes, and moments
  said.finds = {};
  for (const text of ["try_wait", "phase 1", "warp 1", "slot 1", "SLOT 2, cta rank 0 warp 1", "cluster (1, 0, 0) starts"]) {
    said.finds[text] = [find(text), next()];
  }
  // the moment that was found last is on the page, with a frame
  said.moment = { row: rowOf[matches[match].track] - shownRow(AXIS), from, to, at: matches[match].from, frame: drawn("#cc0000") };
  find("");
  said.frame = drawn("#cc0000");

  fire(WheelEvent, "wheel", [LABEL + 100, 100], { ctrlKey: true, deltaY: -300 });
  said.zoomed = (to - from) / end;
  // keys with Ctrl, Alt or Meta are those of the browser
  said.kept = [];
  for (const key of ["f", "s", "w", "a", "d", "ArrowLeft", "PageDown"]) {
    for (const more of [{ ctrlKey: true }, { metaKey: true }, { altKey: true }]) {
      const before = [from, to, above].join();
      if (press(key, more) || [from, to, above].join() !== before) said.kept.push([key, more]);
    }
  }
  press("F", { shiftKey: true });
  said.all = (to - from) / end;
  press("W", { shiftKey: true });
  said.key = (to - from) / end;
  press("f");
  said.keys = [];
  for (const key of ["ArrowDown", "PageDown", "ArrowUp", "PageUp", "End", "Home"]) {
    const used = press(key);
    said.keys.push([key, used, shownRow(AXIS), Math.min(shownRow(canvas.clientHeight - 1), rows.length - 1)]);
  }

  fire(WheelEvent, "wheel", [LABEL + 100, 100], { deltaY: 1e6 });
  said.last = Math.min(shownRow(canvas.clientHeight - 1), rows.length - 1);
  said.scrolled = labels();
} catch (e) {
  said.error = String(e);
}
const pre = document.createElement("pre");
pre.id = "said";
pre.textContent = JSON.stringify(said);
document.body.append(pre);
