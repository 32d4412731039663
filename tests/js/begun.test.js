/** A trial that has begun is remembered until it is answered, by session, whatever the storage holds. */
import assert from "node:assert/strict";
import test from "node:test";
import { Begun, cutOff } from "../../static/js/participation/trial/begun.js";
import { Storage } from "./support.js";

test("another page of the session finds the trial that has begun, until it is answered", () => {
  const storage = new Storage();
  const first = new Begun({ storage, session: "abc" });
  assert.equal(first.position, null);
  first.mark(0);
  const second = new Begun({ storage, session: "abc" });
  assert.equal(second.position, 0);
  assert.equal(new Begun({ storage, session: "other" }).position, null);
  first.clear();
  assert.equal(second.position, null);
  assert.equal(storage.length, 0);
});

test("what nobody of us wrote is no trial", () => {
  const storage = new Storage();
  for (const text of ["", "null", "-1", "1.5", "NaN"]) {
    storage.setItem("humanexp.begun.abc", text);
    assert.equal(new Begun({ storage, session: "abc" }).position, null);
  }
});

test("a full storage does not stop a trial", () => {
  const storage = new Storage();
  storage.setItem = () => {
    throw new Error("full");
  };
  new Begun({ storage, session: "abc" }).mark(3);
});

test("a trial that was cut off is no answer, and its record says why", () => {
  const { position, response, rt_ms: rt, timing } = cutOff(7);
  assert.deepEqual([position, response, rt], [7, "na", null]);
  assert.equal(timing.visible_whole_trial, false);
  assert.equal(timing.ts_stim_on, undefined);
});
