import assert from "node:assert/strict";
import { test } from "node:test";

import { sorted } from "../../static/js/console/sorting.js";

const value = (row) => row.value;
const rows = (...values) => values.map((one) => ({ value: one }));

test("numbers are ordered as numbers, either way, and rows without one stay last", () => {
  const given = rows("10", "9", "", "-1.5");
  assert.deepEqual(sorted(given, value, false).map(value), ["-1.5", "9", "10", ""]);
  assert.deepEqual(sorted(given, value, true).map(value), ["10", "9", "-1.5", ""]);
});

test("texts are ordered by name, and equal rows keep their order", () => {
  const given = [{ value: "b", n: 1 }, { value: "a", n: 2 }, { value: "b", n: 3 }];
  assert.deepEqual(sorted(given, value, false).map((row) => row.n), [2, 1, 3]);
});
