import assert from "node:assert/strict";
import test from "node:test";
import { Presence } from "../../static/js/participation/trial/presence.js";

/** A trial every 5 s; an input where a test says so. */
function make() {
  const watch = {
    startedAt: 0,
    inputAt: null,
    inputWithin: async (ms) => ({ last_input_ms: null, input_watched_ms: ms }),
  };
  const presence = new Presence({ watch, later: () => () => {} });
  const trial = ({ response = "na", inputAfterMs = null, inputBeforeMs = null } = {}) => {
    watch.startedAt += 5_000;
    if (inputBeforeMs !== null) watch.inputAt = watch.startedAt - inputBeforeMs;
    if (inputAfterMs !== null) watch.inputAt = watch.startedAt + inputAfterMs;
    return presence.note({ response, timing: { frames_shown: 12, input_watched_ms: 4_000 } });
  };
  return { presence, trial };
}

test("three misses in a row without any input are in doubt, two are not", () => {
  const { presence, trial } = make();
  trial();
  trial();
  assert.equal(presence.isInDoubt, false);
  trial();
  assert.equal(presence.isInDoubt, true);
  presence.confirm();
  assert.equal(presence.isInDoubt, false);
});

test("the trial that somebody left is the first of the three", () => {
  const { presence, trial } = make();
  trial({ inputAfterMs: 900 });
  trial();
  assert.equal(presence.isInDoubt, false);
  trial();
  assert.equal(presence.isInDoubt, true);
});

test("an answer begins the count again, and after a movement it begins with that trial", () => {
  const three = [
    { between: { response: "cat", inputAfterMs: 900 }, more: 3 },
    { between: { inputAfterMs: 900 }, more: 2 },
    { between: { inputBeforeMs: 200 }, more: 2 },
  ];
  for (const { between, more } of three) {
    const { presence, trial } = make();
    trial();
    trial();
    trial(between);
    for (let missed = 0; missed < more; missed += 1) {
      assert.equal(presence.isInDoubt, false, `${JSON.stringify(between)}, then ${missed} misses`);
      trial();
    }
    assert.equal(presence.isInDoubt, true, `${JSON.stringify(between)}, then ${more} misses`);
  }
});

test("only a miss without any input is waited for, and keeps the rest of its record", async () => {
  const { trial } = make();
  assert.equal(trial({ response: "cat", inputAfterMs: 900 }), null);
  assert.equal(trial({ inputAfterMs: 900 }), null);
  assert.deepEqual(await trial(), {
    response: "na",
    timing: { frames_shown: 12, input_watched_ms: 10_020, last_input_ms: null },
  });
});
