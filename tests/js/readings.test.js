import assert from "node:assert/strict";
import { test } from "node:test";

import { readingsAt } from "../../static/js/console/readings.js";

const line = (observer, y) => ({ meta: { kind: "line", observer, band: "" }, x: [0, 0.5, 1], y });
const band = (observer, meaning, lower, upper) => ({
  meta: { kind: "band", observer, band: meaning },
  x: [0, 0.5, 1, 1, 0.5, 0],
  y: [...lower, ...[...upper].reverse()],
});
const entries = [
  band("people", "95 %", [0.8, 0.7, 0.1], [1, 0.9, 0.3]),
  band("people", "83 %", [0.7, 0.6, 0], [1, 1, 0.4]),
  line("people", [0.9, 0.8, 0.2]),
  line("net", [0.9, 0.4, 0.1]),
];

test("a curve is read at the nearest place, with the band that is shown", () => {
  const readings = readingsAt(entries, 0.6, "95 %");
  assert.deepEqual(readings.get("people"), { estimate: 0.8, band: [0.7, 0.9] });
  assert.deepEqual(readings.get("net"), { estimate: 0.4, band: null });
});

test("another band and another end", () => {
  assert.deepEqual(readingsAt(entries, 1, "83 %").get("people"), { estimate: 0.2, band: [0, 0.4] });
  assert.equal(readingsAt(entries, 0, "").get("people").band, null);
});
