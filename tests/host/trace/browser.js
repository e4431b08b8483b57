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

  said.title = document.getElementById("title").textContent;
  said.legend = document.querySelectorAll("#legend .key").length;
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

  // the search
  search.value = "try_wait";
  search.dispatchEvent(new Event("input"));
  said.found = document.getElementById("found").textContent;
  search.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter" }));
  said.next = document.getElementById("found").textContent;

  fire(WheelEvent, "wheel", [LABEL + 100, 100], { ctrlKey: true, deltaY: -300 });
  said.zoomed = (to - from) / end;
  document.dispatchEvent(new KeyboardEvent("keydown", { key: "f" }));
  said.all = (to - from) / end;

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
