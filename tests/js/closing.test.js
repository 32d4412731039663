/** The last pages say why a session ended before its last trial. */
import assert from "node:assert/strict";
import test from "node:test";
import { tellEnding } from "../../static/js/participation/trial/closing.js";

for (const [end, shown] of [
  [{ qualified: null, practised: true }, "whole"],
  [{ qualified: false, practised: null }, "early"],
  [{ qualified: false, practised: false }, "practice"],
]) {
  test(`an end of ${JSON.stringify(end)} is shown as ${shown}`, () => {
    const parts = ["whole", "early", "practice"].map((ending) => ({ dataset: { ending }, hidden: false }));
    tellEnding({ findAll: () => parts }, end);
    assert.deepEqual(parts.filter((part) => !part.hidden).map((part) => part.dataset.ending), [shown]);
  });
}
