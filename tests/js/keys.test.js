import assert from "node:assert/strict";
import test from "node:test";
import { directKeys, readKey } from "../../humanexp/static/js/participation/trial/keys.js";
import { CATEGORIES, GRID, PAIR } from "./support.js";

const read = (key, cursor, choices = GRID, columns = 4) => readKey({ key, cursor, columns, choices });
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

test("sixteen categories share first letters: no letter ever answers by itself", () => {
  assert.equal(directKeys(GRID).size, 0);
  for (const letter of "abcdefghijklmnopqrstuvwxyz0123456789") assert.equal(read(letter, null)?.answer, undefined, letter);
});

test("a letter jumps to the next category that begins with it, round and round", () => {
  assert.deepEqual(read("c", null), { move: at("clock") });
  assert.deepEqual(read("c", at("clock")), { move: at("car") });
  assert.deepEqual(read("c", at("car")), { move: at("cat") });
  assert.deepEqual(read("c", at("chair")), { move: at("clock") });
  assert.deepEqual(read("E", null), { move: at("elephant") });
  assert.equal(read("x", null), null);
});

test("two answers have keys of their own: first letters and digits", () => {
  assert.deepEqual(read("s", null, PAIR, 2), { answer: 0 });
  assert.deepEqual(read("D", null, PAIR, 2), { answer: 1 });
  assert.deepEqual(read("2", null, PAIR, 2), { answer: 1 });
  assert.equal(read("3", null, PAIR, 2), null);
});

test("keys that mean nothing here are left to the browser", () => {
  for (const key of ["Tab", "Escape", "F5", "Shift"]) assert.equal(read(key, 3), null, key);
});
