// SPDX-License-Identifier: Apache-2.0
// node's own C++ code at work: V8's parser and bytecode compiler on the main thread, the garbage collector in
// its threads, zlib, brotli and OpenSSL in the thread pool. Usage: native_mix.js WALL_SECONDS.
'use strict';
const crypto = require('crypto');
const vm = require('vm');
const zlib = require('zlib');

const end = Date.now() + 1000 * Number(process.argv[2]);
const text = Array.from({length: 4000}, (_, i) => `item ${i * 7919 % 1000}: ${Math.sqrt(i)}\n`).join('');
let checksum = 0;

// A source nobody has compiled before, with expressions that the parser goes down into.
function source(seed) {
  const lines = [];
  for (let i = 0; i < 300; ++i) {
    lines.push(`(function f${i}(a) { return ((((a + ${seed}) * [${i}, {b: (c) => c ? a : [a]}].length))); })(${i});`);
  }
  return lines.join('\n');
}

function mainThread(seed) {
  checksum += new vm.Script(source(seed), {produceCachedData: true}).cachedData.length;
  checksum += JSON.stringify(JSON.parse(JSON.stringify(Array.from({length: 3000}, (_, i) => ({i, s: [i, `${seed}`]}))))).length;
  checksum += text.replace(/([0-9]+)\.([0-9]+)/g, '$2').length;
  if (Date.now() < end) setImmediate(mainThread, seed + 1);
}

// Each job asks for itself again when it is done, so that the pool is never idle.
function pool(job) {
  job((error, result) => {
    if (error) throw error;
    checksum += result.length;
    if (Date.now() < end) pool(job);
  });
}

mainThread(1);
pool((done) => zlib.deflate(text, {level: 9}, done));
pool((done) => zlib.brotliCompress(text, {params: {[zlib.constants.BROTLI_PARAM_QUALITY]: 6}}, done));
pool((done) => crypto.pbkdf2(text, 'salt', 2000, 64, 'sha512', done));
pool((done) => crypto.generateKeyPair('ec', {namedCurve: 'secp384r1'}, (error, key) => done(error, key && [key])));
process.on('exit', () => console.log('checksum:', checksum));
