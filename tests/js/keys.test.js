import assert from "node:assert/strict";
import test from "node:test";
import { readKey } from "../../static/js/participation/trial/keys.js";
import { CATEGORIES, GRID, PAIR } from "./support.js";

const read = (key, cursor, choices = GRID, columns = 4, more = {}) => readKey({ key, cursor, row: null, columns, choices, ...more });
const at = (name) => CATEGORIES.indexOf(name);

test("arrows walk the 4 x 4 grid and stop at its edges", () => {
  assert.deepEqual(read("ArrowRight", null), { move: 0 });
  assert.deepEqual(read("ArrowRight", at("knife")), { move: at("bicycle") });
  assert.deepEqual(read("ArrowDown", at("bicycle")), { move: at("clock") });
  assert.deepEqual(read("ArrowUp", at("clock")), { move: at("bicycle") });
  assert.deepEqual(read("ArrowLeft", at("airplane")), { move: at("airplane") });
  assert.deepEqual(read("ArrowRight", at("truck")), { move: at("truck") });
  assert.deepEqual(read("ArrowUp", at("bear")), { move: at("bear") });
  assert.deepEqual(read("ArrowDown", at("dog")), { move: at("dog") });
});

test("Enter and space answer under the cursor, and mean nothing without one", () => {
  assert.deepEqual(read("Enter", 5), { answer: 5 });
  assert.deepEqual(read(" ", 0), { answer: 0 });
  assert.equal(read("Enter", null), null);
});

test("no single key ever answers among sixteen: letters and arrows only move, a number chooses a row", () => {
  for (const key of [..."abcdefghijklmnopqrstuvwxyz0123456789", "ArrowDown"]) assert.equal(read(key, null)?.answer, undefined, key);
});

test("the number of the row and that of the column answer, two presses for every category", () => {
  GRID.forEach((_, index) => {
    const { row } = read(String(Math.floor(index / 4) + 1), null);
    assert.deepEqual(read(String((index % 4) + 1), null, GRID, 4, { row }), { answer: index });
  });
  assert.equal(read("5", null), null);
  assert.equal(read("5", null, GRID, 4, { row: 0 }), null);
  assert.deepEqual(read("Backspace", null, GRID, 4, { row: 0 }), { row: null }, "a slip of the finger can be taken back");
  assert.equal(read("Backspace", null), null);
});

test("digits count by the place of their key, as on keyboards that need Shift for them", () => {
  assert.deepEqual(read("é", null, GRID, 4, { code: "Digit2" }), { row: 1 });
  assert.deepEqual(read("3", null, GRID, 4, { code: "Numpad3", row: 1 }), { answer: 6 });
  assert.deepEqual(read("ArrowDown", null, GRID, 4, { code: "Numpad2" }), { move: 0 }, "a number pad that moves");
});

test("a row that is not full has no answer beyond its last", () => {
  assert.deepEqual(read("2", null, GRID.slice(0, 6), 3, { row: 1 }), { answer: 4 });
  assert.equal(read("3", null, GRID.slice(0, 5), 3, { row: 1 }), null);
});

test("a letter jumps to the next category that begins with it, round and round", () => {
  assert.deepEqual(read("c", null), { move: at("clock") });
  assert.deepEqual(read("c", at("clock")), { move: at("car") });
  assert.deepEqual(read("c", at("car")), { move: at("cat") });
  assert.deepEqual(read("c", at("chair")), { move: at("clock") });
  assert.deepEqual(read("E", null), { move: at("elephant") });
  assert.equal(read("x", null), null);
});

test("in a single row the number answers, and a letter only moves", () => {
  assert.deepEqual(read("s", null, PAIR, 2), { move: 0 });
  assert.deepEqual(read("D", null, PAIR, 2), { move: 1 });
  assert.deepEqual(read("2", null, PAIR, 2), { answer: 1 });
  assert.equal(read("3", null, PAIR, 2), null);
});

test("keys that mean nothing here are left to the browser", () => {
  for (const key of ["Tab", "Escape", "F5", "Shift"]) assert.equal(read(key, 3), null, key);
});
