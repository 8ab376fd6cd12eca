'use strict';
// Allocates, throws, and is called back from native code.
function allocate(n) { const list = []; for (let i = 0; i < n; i++) list.push({ key: 'k' + (i % 97), value: [i, i * 2] }); return list; }
function compare(a, b) { return a.value[0] % 13 - b.value[0] % 13; }
function throwing(x) { if (x % 3 === 0) throw new Error('three ' + x); return x; }
function catching(n) { let caught = 0; for (let i = 0; i < n; i++) { try { throwing(i); } catch (e) { caught++; } } return caught; }
function replace(text) { return text.replace(/k(\d+)/g, function replacer(all, d) { return String(Number(d) + 1); }); }
function parse(text) { return JSON.parse(text, function reviver(key, value) { return typeof value === 'number' ? value + 1 : value; }); }
class Shape { constructor(x) { this.x = x; } get area() { return this.x * this.x; } static make(x) { return new Shape(x); } }
class Square extends Shape { constructor(x) { super(x); this.kind = 'square'; } get area() { return super.area + 1; } }
function* numbers(n) { for (let i = 0; i < n; i++) yield new Square(i).area; }
async function later(n) { let sum = 0; for (const x of numbers(n)) sum += x; await null; return sum; }
function round() {
  const list = allocate(300);
  list.sort(compare);
  catching(60);
  replace(list.map(function mapper(o) { return o.key; }).join(' '));
  parse(JSON.stringify(list.slice(0, 40)));
  return list.reduce(function reducer(sum, o) { return sum + o.value[1]; }, 0);
}
async function main(until) { let sum = 0; while (Date.now() < until) { sum += round(); sum += await later(100); } return sum; }
main(Date.now() + 1000 * Number(process.argv[2] || 2)).then(sum => process.exit(0));
