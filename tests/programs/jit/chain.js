// Calls through tables of six functions, which V8 does not inline.
'use strict';
let state = 1;
function pick(x) { state = (Math.imul(state, 1103515245) + 12345 + x) | 0; return (state >>> 16) % 6; }
const leaf = [
  function leaf0(x) { let s = x; for (let i = 0; i < 40; i++) s = (s * 31 + i) | 0; return s; },
  function leaf1(x) { let s = x; for (let i = 0; i < 41; i++) s = (s * 33 + i) | 0; return s; },
  function leaf2(x) { let s = x; for (let i = 0; i < 42; i++) s = (s * 35 + i) | 0; return s; },
  function leaf3(x) { let s = x; for (let i = 0; i < 43; i++) s = (s * 37 + i) | 0; return s; },
  function leaf4(x) { let s = x; for (let i = 0; i < 44; i++) s = (s * 39 + i) | 0; return s; },
  function leaf5(x) { let s = x; for (let i = 0; i < 45; i++) s = (s * 41 + i) | 0; return s; },
];
const small = [
  function small0(x) { return leaf[pick(x)](x + 1) + 1; },
  function small1(x) { return leaf[pick(x)](x + 2) + 2; },
  function small2(x) { return leaf[pick(x)](x + 3) + 3; },
  function small3(x) { return leaf[pick(x)](x + 4) + 4; },
  function small4(x) { return leaf[pick(x)](x + 5) + 5; },
  function small5(x) { return leaf[pick(x)](x + 6) + 6; },
];
const mid = [
  function mid0(x) { return small[pick(x + 7)](x) ^ 1; },
  function mid1(x) { return small[pick(x + 7)](x) ^ 2; },
  function mid2(x) { return small[pick(x + 7)](x) ^ 3; },
  function mid3(x) { return small[pick(x + 7)](x) ^ 4; },
  function mid4(x) { return small[pick(x + 7)](x) ^ 5; },
  function mid5(x) { return small[pick(x + 7)](x) ^ 6; },
];
function outer(until) {
  let sum = 0;
  while (Date.now() < until) {
    for (let i = 0; i < 1000; i++) sum = (sum + mid[pick(i)](i)) | 0;
  }
  return sum;
}
outer(Date.now() + 1000 * Number(process.argv[2] || 2));
