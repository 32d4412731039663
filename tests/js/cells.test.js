import assert from "node:assert/strict";
import { test } from "node:test";

import { destination, enter } from "../../static/js/stimuli/cells.js";

const ROWS = [40, 40, 3];
const go = (row, place, key) => destination(ROWS, { row, place }, key);

test("arrows stay inside a row and between the rows", () => {
  assert.deepEqual(go(0, 5, "ArrowRight"), { row: 0, place: 6 });
  assert.deepEqual(go(0, 39, "ArrowRight"), { row: 0, place: 39 });
  assert.deepEqual(go(1, 0, "ArrowLeft"), { row: 1, place: 0 });
  assert.deepEqual(go(0, 7, "ArrowUp"), { row: 0, place: 7 });
  assert.deepEqual(go(0, 7, "ArrowDown"), { row: 1, place: 7 });
});

test("a shorter row is entered at its end", () => {
  assert.deepEqual(go(1, 30, "ArrowDown"), { row: 2, place: 2 });
  assert.deepEqual(go(2, 2, "ArrowDown"), { row: 2, place: 2 });
});

test("Home and End lead to the ends of the row, other keys nowhere", () => {
  assert.deepEqual(go(1, 17, "Home"), { row: 1, place: 0 });
  assert.deepEqual(go(1, 17, "End"), { row: 1, place: 39 });
  for (const key of ["Tab", "Enter", " ", "a", "PageDown"]) assert.equal(go(1, 17, key), null);
});

/** Links with attributes, and the one question that is asked of their parent. */
function cells(count, current = -1) {
  const all = Array.from({ length: count }, (_, place) => {
    const kept = new Map(place === current ? [["aria-current", "true"]] : []);
    return { hasAttribute: (name) => kept.has(name), setAttribute: (name, value) => kept.set(name, value), kept };
  });
  return { root: { querySelectorAll: () => all }, stops: () => all.map(({ kept }) => kept.get("tabindex")) };
}

test("one cell is a stop of the Tab key: the current one, else the first", () => {
  const plain = cells(3);
  enter(plain.root);
  assert.deepEqual(plain.stops(), ["0", "-1", "-1"]);
  const chosen = cells(3, 2);
  enter(chosen.root);
  assert.deepEqual(chosen.stops(), ["-1", "-1", "0"]);
  enter(cells(0).root);
});
