import assert from "node:assert/strict";
import test from "node:test";
import { backOff, patiently } from "../../static/js/participation/trial/pause.js";

test("pauses double up to a ceiling, spread over their upper half", () => {
  assert.deepEqual([1, 2, 3, 10].map((attempt) => backOff(attempt, () => 1)), [400, 800, 1600, 15_000]);
  assert.equal(backOff(1, () => 0), 200);
});

test("patience ends with success, with a refusal, or with the attempts", async () => {
  const passing = Object.assign(new Error("busy"), { mayPass: true });
  const run = async (outcomes, attempts = 3) => {
    let count = 0;
    const attempt = async () => {
      const outcome = outcomes[count++];
      if (outcome instanceof Error) throw outcome;
      return outcome;
    };
    try {
      return [await patiently(attempt, { sleep: async () => {}, attempts }), count];
    } catch (error) {
      return [error.message, count];
    }
  };
  assert.deepEqual(await run([passing, "done"]), ["done", 2]);
  assert.deepEqual(await run([new Error("refused"), "done"]), ["refused", 1]);
  assert.deepEqual(await run([passing, passing, passing, "done"]), ["busy", 3]);
});

test("where somebody waits, the longest pause is a shorter one", () => {
  assert.equal(backOff(10, () => 1, 3_000), 3_000);
  assert.equal(backOff(10, () => 1), 15_000);
});
