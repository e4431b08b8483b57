// Uses the page as a person would, and writes what it sees, a line for each. Its names are those of the page's own script.
"use strict";
const seen = {};
try {
  seen.title = document.getElementById("title").textContent;
  seen.ranks = document.querySelectorAll(".rank").length;
  seen.columns = columns.map(([name]) => name).join(" ");
  const store = trs.find(tr => tr.textContent.includes("st.shared"));
  seen.row = store.textContent;
  store.click();
  seen.chosen = document.querySelector(".chosen .text").textContent;
  seen.detail = detail.textContent.replaceAll("\n", " ");
  by.value = "conflicts";
  by.dispatchEvent(new Event("change"));
  const bars = [...document.querySelectorAll(".bar")];
  seen.bars = bars.length;
  seen.longest = bars.map(bar => bar.style.width).sort((a, b) => parseInt(b) - parseInt(a))[0];
  document.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowDown", cancelable: true }));
  seen.down = document.querySelector(".chosen .text").textContent;
  const frames = document.querySelectorAll("iframe");
  seen.frames = frames.length;
  seen.inside = frames.length > 0 && frames[0].srcdoc.includes("<canvas");
} catch (error) {
  seen.error = String(error);
}
const pre = document.createElement("pre");
pre.id = "said";
pre.textContent = Object.entries(seen).map(([name, value]) => `${name}=${value}`).join("\n");
document.body.append(pre);
