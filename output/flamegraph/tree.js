// SPDX-License-Identifier: Apache-2.0
"use strict";

// The call tree as columns, by node in preorder; node 0 stands for everything. Children lie under their caller from
// the left, the heaviest first; what is left on the right is the caller's own value. Loops only, no recursion: a
// stack may be 100,000 frames deep.
class Tree {
  constructor(data) {
    const { nodes } = data;
    const count = nodes.function.length + 1;
    this.count = count;
    this.functions = data.functions.concat([["all", 0, -1, 0, -1]]);
    this.files = data.files;
    this.modules = data.modules;
    this.function = new Uint32Array(count);
    this.level = new Uint32Array(count);
    this.flags = new Uint8Array(count);
    this.self = new Float64Array(count);
    this.total = new Float64Array(count);
    this.start = new Float64Array(count);  // left edge, in values
    this.caller = new Int32Array(count);
    this.end = new Uint32Array(count);  // after the last descendant
    this.physical = new Uint32Array(count);  // the node whose machine frame this one runs in
    this.function[0] = this.functions.length - 1;
    this.caller[0] = -1;
    for (let i = 1; i < count; ++i) {
      this.function[i] = nodes.function[i - 1];
      this.level[i] = nodes.level[i - 1] + 1;
      this.flags[i] = nodes.flags[i - 1];
      this.self[i] = nodes.self[i - 1];
    }
    this.link();
    this.sortByLevel();
  }

  link() {
    const { count, level, caller, total, end, start } = this;
    const lastAt = [0];  // the newest node of each level
    for (let i = 1; i < count; ++i) {
      caller[i] = lastAt[level[i] - 1];
      lastAt[level[i]] = i;
      this.physical[i] = this.isInlined(i) ? this.physical[caller[i]] : i;
    }
    for (let i = count - 1; i >= 0; --i) {
      total[i] += this.self[i];
      end[i] = Math.max(end[i], i + 1);
      if (i === 0) break;
      total[caller[i]] += total[i];
      end[caller[i]] = Math.max(end[caller[i]], end[i]);
    }
    const taken = new Float64Array(count);  // by children placed so far
    for (let i = 1; i < count; ++i) {
      start[i] = start[caller[i]] + taken[caller[i]];
      taken[caller[i]] += total[i];
    }
  }

  // Nodes of level l, from the left: byLevel[levelStart[l]] … byLevel[levelStart[l + 1] - 1].
  sortByLevel() {
    let levels = 0;
    for (let i = 0; i < this.count; ++i) levels = Math.max(levels, this.level[i] + 1);
    this.levels = levels;
    this.levelStart = new Uint32Array(levels + 1);
    for (let i = 0; i < this.count; ++i) ++this.levelStart[this.level[i] + 1];
    for (let l = 0; l < levels; ++l) this.levelStart[l + 1] += this.levelStart[l];
    const next = this.levelStart.slice();
    this.byLevel = new Uint32Array(this.count);
    for (let i = 0; i < this.count; ++i) this.byLevel[next[this.level[i]]++] = i;
  }

  isInlined(node) { return (this.flags[node] & 1) !== 0; }
  kind(node) { return this.flags[node] >> 1 & 3; }  // 0 native, 1 JIT, 2 kernel, 3 bracket
  owner(node) { return this.flags[node] >> 3; }  // 1 a library, 2 a runtime
  name(node) { return this.functions[this.function[node]][0]; }
  signature(node) { return this.functions[this.function[node]][1] || this.name(node); }
  place(node) {
    const [, , file, line] = this.functions[this.function[node]];
    return file < 0 ? "" : this.files[file] + (line ? ":" + line : "");
  }
  module(node) {
    const module = this.functions[this.function[node]][4];
    return module < 0 ? "" : this.modules[module];
  }
  right(node) { return this.start[node] + this.total[node]; }
  firstChild(node) { return node + 1 < this.end[node] ? node + 1 : -1; }

  // The place in byLevel of the first node of the level whose right edge lies right of `value`, or of the end.
  findRightOf(value, level, from = this.levelStart[level]) {
    let low = from, high = this.levelStart[level + 1];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.right(this.byLevel[middle]) > value) high = middle; else low = middle + 1;
    }
    return low;
  }

  // The node at a value and level, or -1.
  at(value, level) {
    if (level < 0 || level >= this.levels) return -1;
    const place = this.findRightOf(value, level);
    if (place === this.levelStart[level + 1]) return -1;
    const node = this.byLevel[place];
    return this.start[node] <= value ? node : -1;
  }

  ancestors(node) {
    const path = [];
    for (let i = node; i >= 0; i = this.caller[i]) path.push(i);
    return path.reverse();
  }

  // What the functions marked in `found` sum to below `node`, a stack with several of them counted once.
  sumOf(found, node) {
    let sum = 0;
    for (let i = node; i < this.end[node];) {
      if (found[this.function[i]]) {
        sum += this.total[i];
        i = this.end[i];
      } else {
        ++i;
      }
    }
    return sum;
  }
}

// The name without its scopes and with its template arguments: "vector<int>::push_back" → "push_back".
function shortName(name) {
  if (name.includes("operator")) return name;
  let depth = 0;
  for (let i = name.length - 1; i > 0; --i) {
    if (name[i] === ">" || name[i] === ")") ++depth;
    else if (name[i] === "<" || name[i] === "(") --depth;
    else if (depth === 0 && name[i] === ":" && name[i - 1] === ":") return name.slice(i + 1);
  }
  return name;
}

// Without capital letters the case does not matter. Throws what RegExp throws.
function compileSearch(text) { return new RegExp(text, /[A-Z]/.test(text) ? "" : "i"); }

function formatValue(value, unit) {
  if (unit !== "nanoseconds") return value.toLocaleString("en-US");
  const [size, name] = value >= 1e9 ? [1e9, "s"] : value >= 1e6 ? [1e6, "ms"] : value >= 1e3 ? [1e3, "µs"] : [1, "ns"];
  return (value / size).toLocaleString("en-US", { maximumFractionDigits: 3 }) + " " + name;
}

function formatPercent(part, whole) { return (whole > 0 ? 100 * part / whole : 0).toFixed(2) + " %"; }
