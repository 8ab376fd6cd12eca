// SPDX-License-Identifier: Apache-2.0
// The flame graph page in a headless Chromium: `npm ci && npm test` here, with REPORT_TEXT naming the built
// tests/report-text (default ../../build/tests/report-text) and CHROMIUM the browser (default /usr/bin/chromium).
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const reportText = process.env.REPORT_TEXT ?? new URL("../../build/tests/report-text", import.meta.url).pathname;
const sample = `main;run;demo::step_[i];demo::Grid<int>::add_[i] 40
main;run;demo::step_[i] 12
main;run;compiled_[j];helper_[i] 8
main;read;entry_[k];copy_[k] 6
main;walk;walk;walk 5
[truncated];walk 4
main;</script><img src=x> 25
`;

let browser, folder;
before(async () => {
  folder = mkdtempSync(join(tmpdir(), "jitprof-pages-"));
  browser = await chromium.launch({
    executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox", "--disable-gpu"],
  });
});
after(async () => {
  await browser?.close();
  rmSync(folder, { recursive: true, force: true });
});

// A page on a text profile. Any error, message or request of the page fails the test.
async function open(text, options = {}) {
  const file = join(folder, "page.html");
  writeFileSync(file, execFileSync(reportText, ["flamegraph"], { input: text, maxBuffer: 1 << 30 }));
  const page = await browser.newPage({ viewport: { width: 1200, height: 600 }, ...options });
  page.setDefaultTimeout(20_000);
  const faults = [];
  page.on("pageerror", (error) => faults.push(error.message));
  // Chromium remarks on colorAt.
  page.on("console", (message) => { if (!message.text().startsWith("Canvas2D:")) faults.push(message.text()); });
  page.on("request", (request) => { if (!request.url().startsWith("file:")) faults.push(request.url()); });
  await page.goto(pathToFileURL(file).href);
  await page.waitForFunction(() => window.jitprof !== undefined && window.jitprof.state().drawn > 0);
  return { page, faults, state: () => page.evaluate(() => window.jitprof.state()) };
}

const find = (page, name) => page.evaluate((text) => window.jitprof.find(text), name);
const node = (page, index) => page.evaluate((at) => window.jitprof.node(at), index);

async function pointAt(page, index) { return page.evaluate((at) => window.jitprof.point(at), index); }

async function settle(page) { await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))); }

// Red, green, blue of the canvas at a place in the window.
const colorAt = (page, x, y) => page.evaluate(([px, py]) => {
  const canvas = document.getElementById("canvas");
  const box = canvas.getBoundingClientRect();
  const at = (value) => Math.floor(value * devicePixelRatio);
  return [...canvas.getContext("2d").getImageData(at(px - box.left), at(py - box.top), 1, 1).data].slice(0, 3);
}, [x, y]);

test("title, total and what is missing stand on the page", async () => {
  const { page, faults, state } = await open(sample);
  assert.equal(await page.title(), "./sample --text – flame graph");
  assert.equal(await page.textContent("#about"), "total: 100 samples");
  assert.match(await page.textContent("#notes"), /^4 of 100 stacks \(4\.0 %\) are incomplete: 4 truncated/);
  assert.equal((await state()).total, 100);
  const roots = await Promise.all(["main", "[truncated]"].map(async (name) => (await node(page, (await find(page, name))[0])).total));
  assert.deepEqual(roots, [96, 4]);
  assert.deepEqual(faults, []);
  await page.close();
});

test("a click zooms, Escape and the path zoom out", async () => {
  const { page, faults, state } = await open(sample);
  const [run] = await find(page, "run");
  const point = await pointAt(page, run);
  await page.mouse.click(point.x, point.y);
  assert.equal((await state()).focus, run);
  assert.match(await page.textContent("#path"), /all.*main.*run/);
  await settle(page);
  // The zoomed frame fills its row: its middle is the window's.
  assert.ok(Math.abs((await pointAt(page, run)).x - 600) < 10);
  await page.keyboard.press("Escape");
  assert.equal((await state()).focus, 0);
  await page.evaluate((at) => window.jitprof.zoom(at), run);
  await page.click("#path button:first-child");
  assert.equal((await state()).focus, 0);
  assert.deepEqual(faults, []);
  await page.close();
});

test("search marks functions and says what they sum to", async () => {
  const { page, faults, state } = await open(sample);
  await page.keyboard.press("/");
  await page.keyboard.type("WALK");
  assert.equal((await state()).matched, 0);
  await page.fill("#search", "^walk$|Grid<");
  assert.equal((await state()).matched, 49);
  assert.equal(await page.textContent("#matched"), "found 49.00 % (49)");
  await settle(page);
  const [walk] = await find(page, "walk");
  const [red, green, blue] = await (async () => { const { x, y } = await pointAt(page, walk); return colorAt(page, x + 6, y - 7); })();
  assert.ok(blue > green + 40 && red > green, `found frames are violet: ${red} ${green} ${blue}`);
  await page.fill("#search", "(");
  assert.equal(await page.textContent("#matched"), "no regular expression");
  await page.keyboard.press("Escape");
  assert.equal(await page.inputValue("#search"), "");
  assert.deepEqual(faults, []);
  await page.close();
});

test("code of libraries and runtimes is drawn duller", async () => {
  const { page, faults } = await open("main;own 40\nmain;lib_[l] 30\nmain;run_[r]_[j] 20\nmain;jit_[j] 10\n");
  const saturation = async (name) => {
    const [index] = await find(page, name);
    const { x, y } = await pointAt(page, index);
    const [red, green, blue] = await colorAt(page, x, y - 7);
    return Math.max(red, green, blue) - Math.min(red, green, blue);
  };
  const [own, library, runtime, compiled] = await Promise.all(["own", "lib", "run", "jit"].map(saturation));
  assert.ok(library < own / 2 && runtime < compiled / 2, `${own} ${library} ${runtime} ${compiled}`);
  assert.deepEqual(faults, []);
  await page.close();
});

test("inlined frames are joined to their physical frame", async () => {
  const { page, faults } = await open(sample);
  const [step] = await find(page, "demo::step");
  assert.deepEqual(await node(page, step).then(({ inlined, physical }) => [inlined, physical]), [true, "run"]);
  const [walk] = await find(page, "walk");
  assert.equal((await node(page, walk)).inlined, false);
  // Between a called frame and its caller the background shows, between an inlined one and its frame it does not.
  const background = await colorAt(page, 1190, 590 - 120);
  const gapAbove = async (index) => { const { x, y } = await pointAt(page, index); return colorAt(page, x, y - 10.2); };
  assert.notDeepEqual(await gapAbove(step), background);
  assert.deepEqual(await gapAbove(walk), background);
  const point = await pointAt(page, step);
  await page.mouse.move(point.x, point.y);
  assert.match(await page.textContent("#tip"), /demo::step.*inlined into run.*total 52 \(52\.00 %\).*self 12 \(12\.00 %\)/);
  assert.deepEqual(faults, []);
  await page.close();
});

test("arrow keys and Enter go through the tree", async () => {
  const { page, faults, state } = await open(sample);
  await page.focus("#canvas");
  for (const key of ["ArrowDown", "ArrowDown", "ArrowDown", "ArrowRight"]) await page.keyboard.press(key);
  const { chosen } = await state();
  assert.equal((await node(page, chosen)).name, "</script><img src=x>");
  await page.keyboard.press("ArrowLeft");
  await page.keyboard.press("Enter");
  assert.equal((await state()).focus, (await find(page, "run"))[0]);
  assert.match(await page.textContent("#status"), /^run: total 60 \(60\.00 %/);
  assert.deepEqual(faults, []);
  await page.close();
});

test("a stack of 100,000 frames is drawn, scrolled and zoomed", async () => {
  const { page, faults, state } = await open(`main${";f_[i];g".repeat(50_000)} 3\n`);
  assert.equal((await state()).levels, 100_002);
  await page.evaluate(() => window.jitprof.zoom(99_990));
  await settle(page);
  const { drawn, focus } = await state();
  assert.equal(focus, 99_990);
  assert.ok(drawn > 10 && drawn < 60, `${drawn} frames drawn`);
  const { x, y } = await pointAt(page, 99_990);
  assert.ok(y > 0 && y < 600);
  assert.notDeepEqual(await colorAt(page, x, y + 6), await colorAt(page, 600, 599 - 80 - 20));
  assert.deepEqual(faults, []);
  await page.close();
});

test("100,000 narrow frames become few rectangles", async () => {
  const lines = Array.from({ length: 100_000 }, (_, index) => `main;f${index};g 1`).join("\n");
  const { page, faults, state } = await open(lines + "\n");
  assert.equal((await state()).count, 200_002);
  assert.ok((await state()).drawn < 6_000, `${(await state()).drawn} drawn`);
  await page.fill("#search", "^f7");
  assert.equal((await state()).matched, 11_111);
  assert.deepEqual(faults, []);
  await page.close();
});

test("an empty profile has a page, and dark mode another background", async () => {
  const { page, faults, state } = await open("", { colorScheme: "dark" });
  assert.equal((await state()).total, 0);
  assert.equal(await page.textContent("#about"), "total: 0 samples");
  const [red] = await colorAt(page, 600, 300);
  assert.ok(red < 60);
  assert.deepEqual(faults, []);
  await page.close();
});
