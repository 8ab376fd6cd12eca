// SPDX-License-Identifier: Apache-2.0

const kRowHeight = 19;
const kFont = '12px system-ui, "Segoe UI", Roboto, "DejaVu Sans", sans-serif';
const kShades = 8;
const kSliver = 0.6;  // pixels; narrower frames are drawn together as one grey run

// Fills by theme, kind and whether others than the application own the code, which makes them duller. An
// inlined frame has its physical frame's hue and shade, paler.
function makePalette(dark) {
  const hues = [[18, 46, 82], [104, 148, 46], [202, 222, 58]];  // from, to, saturation of native, JIT, kernel
  const fills = [1, 0.35].map((strength) => hues.map(([from, to, full]) =>
    [false, true].map((inlined) => Array.from({ length: kShades }, (_, shade) => {
      const saturation = full * strength;
      const hue = from + (to - from) * shade / (kShades - 1);
      const light = dark ? (inlined ? 27 : 35) + shade % 3 * 2 : (inlined ? 81 : 67) + shade % 3 * 2;
      return `hsl(${hue} ${dark ? saturation * 0.6 : saturation}% ${light}%)`;
    }))));
  return {
    fills,
    edges: hues.map(([from, to, saturation]) => `hsl(${(from + to) / 2} ${saturation * 0.8}% ${dark ? 62 : 36}%)`),
    root: dark ? "#34373d" : "#dedad3", back: dark ? "#191a1d" : "#fbfaf8",
    bracket: dark ? ["#44464b", "#6b6e75"] : ["#cfccc7", "#a19d96"], sliver: dark ? "#55524d" : "#c9bda9",
    text: dark ? "#f2f0ed" : "#201d19", match: dark ? "hsl(292 45% 48%)" : "hsl(292 62% 72%)",
    outline: dark ? "#ffffff" : "#1a1a1a",
  };
}

function shadeOf(name) {
  let hash = 0;
  for (let i = 0; i < name.length; ++i) hash = (hash * 31 + name.charCodeAt(i)) | 0;
  return (hash >>> 3) % kShades;
}

// Draws the rows that are in sight into a canvas as large as what is in sight: a canvas as high as the tree would
// stay blank from 32,768 pixels on.
class Painter {
  constructor(canvas, tree) {
    this.canvas = canvas;
    this.context = canvas.getContext("2d");
    this.tree = tree;
    this.shades = tree.functions.map(([name]) => shadeOf(name));
    this.shortNames = new Map();
    this.drawn = 0;  // frames and runs of slivers in the last picture
  }

  setTheme(dark) {
    this.palette = makePalette(dark);
    const tile = document.createElement("canvas");
    tile.width = tile.height = 8;
    const context = tile.getContext("2d");
    [context.fillStyle, context.strokeStyle] = this.palette.bracket;
    context.fillRect(0, 0, 8, 8);
    for (const shift of [-8, 0, 8]) {
      context.moveTo(shift, 8);
      context.lineTo(shift + 8, 0);
    }
    context.stroke();
    this.hatch = this.context.createPattern(tile, "repeat");
  }

  // scene: { width, height, scroll, focus, path (of focus), found (by function, or null), chosen (node, or -1) }
  draw(scene) {
    const { context, canvas, tree, palette } = this;
    const ratio = window.devicePixelRatio || 1;
    canvas.width = Math.round(scene.width * ratio);
    canvas.height = Math.round(scene.height * ratio);
    canvas.style.width = scene.width + "px";
    canvas.style.height = scene.height + "px";
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.font = kFont;
    context.textBaseline = "middle";
    context.fillStyle = palette.back;
    context.fillRect(0, 0, scene.width, scene.height);
    this.scene = scene;
    this.from = tree.start[scene.focus];
    this.scale = tree.total[scene.focus] > 0 ? scene.width / tree.total[scene.focus] : 0;
    this.drawn = 0;
    const first = Math.floor(scene.scroll / kRowHeight);
    const last = Math.min(tree.levels - 1, Math.floor((scene.scroll + scene.height) / kRowHeight));
    // From below, so that an inlined frame may reach up to the one it is joined to.
    for (let level = last; level >= first; --level) this.drawRow(level);
    if (scene.chosen >= 0) this.outline(scene.chosen);
  }

  // Left edge and width of a node in pixels; a caller of the zoomed frame fills the row.
  extent(node) {
    const { focus, width } = this.scene;
    if (node <= focus && focus < this.tree.end[node]) return [0, width];
    return [(this.tree.start[node] - this.from) * this.scale, this.tree.total[node] * this.scale];
  }

  drawRow(level) {
    const { tree, scene } = this;
    if (level <= tree.level[scene.focus]) return this.drawFrame(scene.path[level], level < tree.level[scene.focus]);
    const rowEnd = tree.levelStart[level + 1];
    const right = tree.right(scene.focus);
    let place = tree.findRightOf(this.from, level);
    while (place < rowEnd && tree.start[tree.byLevel[place]] < right) {
      const node = tree.byLevel[place];
      if (tree.total[node] * this.scale >= kSliver) {
        this.drawFrame(node, false);
        ++place;
      } else {
        place = this.drawSlivers(place, rowEnd, level, right);
      }
    }
  }

  // One rectangle for a run of neighbours that are too narrow to see. A gap below a pixel is not seen either.
  drawSlivers(place, rowEnd, level, right) {
    const { tree, context, scene } = this;
    const begin = tree.start[tree.byLevel[place]];
    let end = begin, isFound = false;
    while (place < rowEnd) {
      const node = tree.byLevel[place];
      if (tree.total[node] * this.scale >= kSliver || tree.start[node] >= right) break;
      if ((tree.start[node] - end) * this.scale > 1) break;
      if (scene.found && scene.found[tree.function[node]]) isFound = true;
      end = tree.right(node);
      // Leap over what falls into the same pixel.
      place = Math.max(place + 1, tree.findRightOf(end + kSliver / 2 / this.scale, level, place + 1));
    }
    context.globalAlpha = scene.found && !isFound ? 0.4 : 1;
    context.fillStyle = isFound ? this.palette.match : this.palette.sliver;
    const x = (begin - this.from) * this.scale;
    context.fillRect(x, level * kRowHeight - scene.scroll, Math.max(kSliver, (end - begin) * this.scale), kRowHeight - 1);
    context.globalAlpha = 1;
    ++this.drawn;
    return place;
  }

  fillOf(node) {
    const { tree, palette } = this;
    if (node === 0) return palette.root;
    if (tree.kind(node) === 3) return this.hatch;
    return palette.fills[tree.owner(node) ? 1 : 0][tree.kind(node)][tree.isInlined(node) ? 1 : 0][this.shades[tree.function[tree.physical[node]]]];
  }

  drawFrame(node, isAbove) {
    const { tree, context, scene, palette } = this;
    let [x, width] = this.extent(node);
    if (x < 0) { width += x; x = 0; }
    width = Math.min(width, scene.width - x);
    const gap = width > 3 ? 0.5 : 0;
    const joined = tree.isInlined(node);
    const y = tree.level[node] * kRowHeight - scene.scroll - (joined ? 1 : 0);
    const height = kRowHeight - (joined ? 0 : 1);
    const isFound = scene.found !== null && scene.found[tree.function[node]] !== 0;
    context.globalAlpha = isAbove || scene.found && !isFound ? 0.45 : 1;
    context.fillStyle = isFound ? palette.match : this.fillOf(node);
    context.fillRect(x, y, width - gap, height);
    if (joined && width > 8) this.drawJoint(node, x, y, width - gap, height);
    context.globalAlpha = isAbove || scene.found && !isFound ? 0.65 : 1;
    if (width > 26) this.drawLabel(node, x + (joined ? 8 : 4), y + kRowHeight / 2 + (joined ? 0.5 : 0), width - (joined ? 11 : 7));
    context.globalAlpha = 1;
    ++this.drawn;
  }

  // The bar and the dashed seam that tie an inlined frame to the one above.
  drawJoint(node, x, y, width, height) {
    const { context, palette, tree } = this;
    const edge = palette.edges[Math.min(tree.kind(node), 2)];
    context.fillStyle = edge;
    context.fillRect(x, y, width > 24 ? 3 : 1, height);
    context.strokeStyle = edge;
    context.lineWidth = 1;
    context.setLineDash([3, 3]);
    context.beginPath();
    context.moveTo(x, y + 0.5);
    context.lineTo(x + width, y + 0.5);
    context.stroke();
    context.setLineDash([]);
  }

  drawLabel(node, x, y, room) {
    const text = this.labelFor(this.tree.name(node), room);
    if (text === "") return;
    this.context.fillStyle = this.palette.text;
    this.context.fillText(text, x, y);
  }

  // The whole name, else the name without its scopes, else as much of that as there is room for.
  labelFor(name, room) {
    const { context } = this;
    const isTooWide = (text) => text.length * 3 > room || context.measureText(text).width > room;
    if (!isTooWide(name)) return name;
    if (!this.shortNames.has(name)) this.shortNames.set(name, shortName(name));
    const short = this.shortNames.get(name);
    if (short !== name && !isTooWide(short)) return short;
    let low = 0, high = Math.min(short.length, Math.floor(room / 3));
    while (low < high) {
      const middle = (low + high + 1) >>> 1;
      if (context.measureText(short.slice(0, middle) + "…").width <= room) low = middle; else high = middle - 1;
    }
    return low < 2 ? "" : short.slice(0, low) + "…";
  }

  outline(node) {
    const { tree, context, scene, palette } = this;
    let [x, width] = this.extent(node);
    if (x + width < 0 || x > scene.width) return;
    if (x < 0) { width += x; x = 0; }
    context.strokeStyle = palette.outline;
    context.lineWidth = 1.5;
    context.strokeRect(x + 0.75, tree.level[node] * kRowHeight - scene.scroll + 0.25,
      Math.max(1, Math.min(width, scene.width - x) - 2), kRowHeight - 1.5);
  }
}
