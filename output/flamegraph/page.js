// SPDX-License-Identifier: Apache-2.0

const data = JSON.parse(document.getElementById("data").textContent);
const tree = new Tree(data);
const unit = data.value[1];
const element = (id) => document.getElementById(id);
const view = element("view");
const canvas = element("canvas");
const painter = new Painter(canvas, tree);
const state = { focus: 0, path: [0], found: null, wrong: "", chosen: -1 };
const dark = matchMedia("(prefers-color-scheme: dark)");

function make(tag, text, className = "") {
  const made = document.createElement(tag);
  made.textContent = text;
  made.className = className;
  return made;
}

let isDrawingDue = false;
function drawSoon() {
  if (isDrawingDue) return;
  isDrawingDue = true;
  requestAnimationFrame(() => {
    isDrawingDue = false;
    draw();
  });
}

function draw() {
  painter.draw({ ...state, width: view.clientWidth, height: view.clientHeight, scroll: view.scrollTop });
}

function resize() {
  // The rows of the whole tree, or the view if that is higher, so that the canvas always fills the view.
  element("rows").style.height = Math.max(tree.levels * kRowHeight, view.clientHeight) + "px";
  draw();
}

function zoom(node) {
  state.focus = node;
  state.path = tree.ancestors(node);
  const top = tree.level[node] * kRowHeight;
  // Some callers stay in sight above the zoomed frame.
  if (top < view.scrollTop || top > view.scrollTop + view.clientHeight - 3 * kRowHeight) {
    view.scrollTop = Math.max(0, top - 4 * kRowHeight);
  }
  showPath();
  showMatched();
  drawSoon();
}

// The way to the zoomed frame: everything, then its nearest callers.
function showPath() {
  const { path } = state;
  const nearest = 4;
  const parts = path.length <= nearest + 2 ? path : [0, -1, ...path.slice(-nearest)];
  element("path").replaceChildren(...parts.flatMap((node, place) => {
    const part = node < 0 ? make("span", `… ${path.length - nearest - 1} more …`)
      : make("button", place === parts.length - 1 ? tree.name(node) : shortName(tree.name(node)));
    part.type = "button";
    part.title = node < 0 ? "" : tree.signature(node);
    if (node >= 0) part.addEventListener("click", () => zoom(node));
    return place === 0 ? [part] : [make("span", "›"), part];
  }));
  element("reset").disabled = state.focus === 0;
}

function search(text) {
  state.wrong = "";
  state.found = null;
  if (text !== "") {
    try {
      const pattern = compileSearch(text);
      // Once per function, not once per frame. "all" is no function.
      state.found = Uint8Array.from(tree.functions, ([name, signature], index) =>
        index < tree.functions.length - 1 && (pattern.test(name) || signature !== 0 && pattern.test(signature)) ? 1 : 0);
    } catch (error) {
      state.wrong = error.message;
    }
  }
  showMatched();
  drawSoon();
}

function matchedSum() { return state.found === null ? 0 : tree.sumOf(state.found, state.focus); }

function showMatched() {
  element("search").classList.toggle("wrong", state.wrong !== "");
  element("search").title = state.wrong || "Without capital letters, case does not matter";
  const sum = matchedSum();
  element("matched").textContent = state.wrong ? "no regular expression" : state.found === null ? ""
    : `found ${formatPercent(sum, tree.total[state.focus])} (${formatValue(sum, unit)})`;
}

function describeKind(node) {
  const kind = ["native code", "JIT code", "kernel code", "the stack is not known beyond this"][tree.kind(node)];
  const owner = ["", " of a library", " of the runtime"][tree.owner(node)];
  return tree.isInlined(node) ? `inlined into ${tree.name(tree.physical[node])}` : node === 0 ? "" : kind + owner;
}

function describeValue(label, value) {
  let text = `${label} ${formatValue(value, unit)} (${formatPercent(value, tree.total[0])}`;
  if (state.focus !== 0) text += `, ${formatPercent(value, tree.total[state.focus])} of the zoomed frame`;
  return text + ")";
}

function choose(node, point) {
  state.chosen = node;
  const tip = element("tip");
  tip.hidden = node < 0 || !point;
  canvas.classList.toggle("pointing", node >= 0);
  if (node < 0) {
    element("status").textContent = "";
    return drawSoon();
  }
  element("status").textContent = `${tree.name(node)}: ${describeValue("total", tree.total[node])}`
    + (tree.isInlined(node) ? ", inlined" : "");
  if (point) {
    const lines = [tree.place(node), tree.module(node), describeKind(node)].filter((line) => line !== "");
    tip.replaceChildren(make("b", tree.signature(node)), ...lines.map((line) => make("div", line)),
      make("div", describeValue("total", tree.total[node]), "values"),
      make("div", describeValue("self", tree.self[node]), "values"));
    const { width, height } = tip.getBoundingClientRect();
    const below = point.y + 18 + height < innerHeight;
    tip.style.left = Math.max(4, Math.min(point.x + 12, innerWidth - width - 6)) + "px";
    tip.style.top = Math.max(4, below ? point.y + 18 : point.y - height - 10) + "px";
  }
  drawSoon();
}

function nodeAt(x, y) {
  const box = canvas.getBoundingClientRect();
  const level = Math.floor((y - box.top + view.scrollTop) / kRowHeight);
  if (level <= tree.level[state.focus]) return level >= 0 ? state.path[level] : -1;
  const value = tree.start[state.focus] + (x - box.left) / box.width * tree.total[state.focus];
  return value < tree.right(state.focus) ? tree.at(value, level) : -1;
}

function bringIntoSight(node) {
  const top = tree.level[node] * kRowHeight;
  if (top < view.scrollTop) view.scrollTop = top;
  const low = top + kRowHeight - view.clientHeight;
  if (low > view.scrollTop) view.scrollTop = low;
}

function step(key) {
  if (state.chosen < 0) return state.focus;
  const node = state.chosen;
  const caller = tree.caller[node];
  if (key === "ArrowUp") return caller;
  if (key === "ArrowDown") return tree.firstChild(node);
  if (caller < 0) return -1;
  if (key === "ArrowRight") return tree.end[node] < tree.end[caller] ? tree.end[node] : -1;
  const value = tree.start[node];
  return value > tree.start[caller] ? tree.byLevel[tree.findRightOf(value, tree.level[node]) - 1] : -1;
}

function onKey(event) {
  const isTyping = document.activeElement === element("search");
  if (event.key === "/" && !isTyping || event.key === "f" && (event.ctrlKey || event.metaKey)) {
    element("search").select();
  } else if (event.key === "Escape") {
    if (element("search").value !== "") search(element("search").value = "");
    else if (state.focus !== 0) zoom(0);
    canvas.focus({ preventScroll: true });
  } else if (!isTyping && event.key.startsWith("Arrow")) {
    const node = step(event.key);
    if (node >= 0) choose(node, null);
    if (node >= 0) bringIntoSight(node);
  } else if (!isTyping && event.key === "Enter" && document.activeElement === canvas && state.chosen >= 0) {
    zoom(state.chosen);
  } else {
    return;
  }
  event.preventDefault();
}

function start() {
  document.title = `${data.title} – flame graph`;
  element("title").textContent = data.title;
  element("title").title = data.title;
  element("about").textContent = data.about;
  element("notes").replaceChildren(...data.notes.map((note) => make("li", note)));
  canvas.addEventListener("mousemove", (event) => choose(nodeAt(event.clientX, event.clientY), { x: event.clientX, y: event.clientY }));
  canvas.addEventListener("mouseleave", () => choose(-1, null));
  canvas.addEventListener("click", (event) => {
    const node = nodeAt(event.clientX, event.clientY);
    if (node >= 0) zoom(node);
  });
  element("reset").addEventListener("click", () => zoom(0));
  element("search").addEventListener("input", () => search(element("search").value));
  document.addEventListener("keydown", onKey);
  view.addEventListener("scroll", drawSoon);
  dark.addEventListener("change", () => {
    painter.setTheme(dark.matches);
    drawSoon();
  });
  painter.setTheme(dark.matches);
  new ResizeObserver(resize).observe(view);
  showPath();
  resize();
}

// What tests ask the page.
window.jitprof = {
  find: (name) => Array.from({ length: tree.count }, (_, node) => node).filter((node) => tree.name(node) === name),
  node: (node) => ({
    name: tree.name(node), level: tree.level[node], total: tree.total[node], self: tree.self[node],
    inlined: tree.isInlined(node), physical: tree.name(tree.physical[node]), caller: tree.caller[node],
  }),
  // The middle of a node in the window.
  point: (node) => {
    const box = canvas.getBoundingClientRect();
    const [x, width] = painter.extent(node);
    return { x: box.left + x + width / 2, y: box.top + (tree.level[node] + 0.5) * kRowHeight - view.scrollTop };
  },
  zoom,
  state: () => ({ focus: state.focus, total: tree.total[0], matched: matchedSum(), wrong: state.wrong,
    chosen: state.chosen, drawn: painter.drawn, levels: tree.levels, count: tree.count }),
};

start();
