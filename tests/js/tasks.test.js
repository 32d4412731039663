import assert from "node:assert/strict";
import test from "node:test";
import { areTimed, taskOf } from "../../static/js/trial/tasks/index.js";
import { PROTOCOL } from "./support.js";

test("every task has the whole interface", () => {
  for (const name of ["categorisation", "discrimination", "validation"]) {
    const task = taskOf(name);
    assert.equal(task.name, name);
    assert.equal(typeof task.isTimed, "boolean");
    assert.equal(typeof task.open, "function");
    assert.deepEqual(Object.keys(task.needs(PROTOCOL)), ["showings", "withMask", "withQuestion"]);
  }
});

test("only discrimination shows two pictures, only validation asks of each anew and masks none", () => {
  assert.deepEqual(taskOf("categorisation").needs(PROTOCOL), { showings: 1, withMask: true, withQuestion: false });
  assert.deepEqual(taskOf("discrimination").needs(PROTOCOL), { showings: 2, withMask: true, withQuestion: false });
  assert.deepEqual(taskOf("validation").needs(PROTOCOL), { showings: 1, withMask: false, withQuestion: true });
  assert.equal(taskOf("categorisation").needs({ ...PROTOCOL, mask_ms: 0 }).withMask, false);
});

test("a session with any timed task needs a desktop", () => {
  assert.equal(areTimed(["validation"]), false);
  assert.equal(areTimed(["validation", "categorisation"]), true);
  assert.equal(areTimed([]), false);
});

test("a task that this page does not know is named", () => {
  assert.throws(() => taskOf("telepathy"), /no task "telepathy"/);
});
