import assert from "node:assert/strict";
import test from "node:test";
import { Presence } from "../../humanexp/static/js/participation/trial/presence.js";

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

test("two misses in a row without any input are in doubt, one is not", () => {
  const { presence, trial } = make();
  trial();
  assert.equal(presence.isInDoubt, false);
  trial();
  assert.equal(presence.isInDoubt, true);
  presence.confirm();
  assert.equal(presence.isInDoubt, false);
});

test("an answer, a movement during a trial, and one between two trials, begin the count again", () => {
  for (const between of [{ response: "cat", inputAfterMs: 900 }, { inputAfterMs: 900 }]) {
    const { presence, trial } = make();
    trial();
    trial(between);
    trial();
    assert.equal(presence.isInDoubt, false, JSON.stringify(between));
  }
  const { presence, trial } = make();
  trial();
  trial({ inputBeforeMs: 200 });
  assert.equal(presence.isInDoubt, false, "moved after the first miss");
  trial();
  assert.equal(presence.isInDoubt, true, "and then nothing for two trials");
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
