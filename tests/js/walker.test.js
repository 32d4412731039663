import assert from "node:assert/strict";
import { test } from "node:test";

import { filled, shortened, shown, Walker } from "../../static/js/stimuli/walker.js";

/** A server that answers when the test says so. */
function server() {
  const asked = [];
  const waiting = [];
  const load = (step) => {
    asked.push(step);
    return new Promise((resolve, reject) => waiting.push({ step, resolve: () => resolve({ step }), reject }));
  };
  const answer = async () => {
    waiting.shift()?.resolve();
    await new Promise((done) => setImmediate(done));
  };
  return { asked, waiting, load, answer };
}

function walking(steps = 40) {
  const painted = [];
  const failed = [];
  const one = server();
  const walker = new Walker(steps, one.load, (step) => painted.push(step), (error) => failed.push(error.message));
  return { ...one, painted, failed, walker };
}

test("the wanted step comes first, then its neighbours, one at a time", async () => {
  const { asked, answer, painted, walker } = walking();
  walker.show(20);
  assert.deepEqual(asked, [20]);
  for (let turn = 0; turn < 6; turn += 1) await answer();
  assert.deepEqual(asked, [20, 21, 19, 22, 18]);
  assert.deepEqual(painted, [20]);
});

test("a step that was fetched ahead is shown at once", async () => {
  const { answer, painted, walker } = walking();
  walker.show(20);
  for (let turn = 0; turn < 6; turn += 1) await answer();
  walker.show(21);
  assert.deepEqual(painted, [20, 21]);
});

test("a step that is no longer wanted is not shown, and those passed by are not asked for", async () => {
  const { asked, answer, painted, walker } = walking();
  walker.show(5);
  for (let step = 6; step <= 30; step += 1) walker.show(step);
  await answer();
  await answer();
  assert.deepEqual(asked.slice(0, 2), [5, 30]);
  assert.deepEqual(painted, [30]);
});

test("nothing is asked for beyond the ends", async () => {
  const { asked, answer, walker } = walking(3);
  walker.show(0);
  for (let turn = 0; turn < 8; turn += 1) await answer();
  assert.deepEqual(asked, [0, 1, 2]);
  walker.show(3);
  await answer();
  assert.deepEqual(asked, [0, 1, 2, 3]);
  assert.equal(walker.next(), null);
});

test("a failure is told, and the next wish asks again", async () => {
  const { asked, answer, failed, painted, waiting, walker } = walking();
  walker.show(7);
  waiting.shift().reject(new Error("500"));
  await answer();
  assert.deepEqual(failed, ["500"]);
  walker.show(7);
  await answer();
  assert.deepEqual(painted, [7]);
  assert.equal(asked.filter((step) => step === 7).length, 2);
});

test("numbers are written for people", () => {
  assert.equal(shown(-0.25, 2), "−0.25");
  assert.equal(shortened(0.075687), "0.07569");
  assert.equal(shortened(3), "3");
  assert.equal(filled("{parameter} {unit}", { parameter: "3", unit: "px" }), "3 px");
});
