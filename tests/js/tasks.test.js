import assert from "node:assert/strict";
import test from "node:test";
import { areTimed, register, taskOf } from "../../static/js/participation/trial/tasks/index.js";
import { runTrial } from "../../static/js/participation/trial/trial.js";
import { Canvas, Display, PROTOCOL } from "./support.js";

test("every task has the whole interface", () => {
  for (const name of ["categorisation", "discrimination", "abx", "validation"]) {
    const task = taskOf(name);
    assert.equal(task.name, name);
    assert.equal(typeof task.isTimed, "boolean");
    assert.equal(typeof task.open, "function");
    assert.deepEqual(Object.keys(task.needs(PROTOCOL)), ["showings", "withMask", "withQuestion"]);
  }
});

test("discrimination shows two pictures, ABX three; only validation asks of each anew and masks none", () => {
  assert.deepEqual(taskOf("categorisation").needs(PROTOCOL), { showings: 1, withMask: true, withQuestion: false });
  assert.deepEqual(taskOf("discrimination").needs(PROTOCOL), { showings: 2, withMask: true, withQuestion: false });
  assert.deepEqual(taskOf("abx").needs(PROTOCOL), { showings: 3, withMask: true, withQuestion: false });
  assert.deepEqual(taskOf("validation").needs(PROTOCOL), { showings: 1, withMask: false, withQuestion: true });
  assert.equal(taskOf("categorisation").needs({ ...PROTOCOL, mask_ms: 0 }).withMask, false);
});

test("worked examples show as many drawings as a trial shows pictures, changed in ways that there are", () => {
  for (const name of ["categorisation", "discrimination", "abx"]) {
    const task = taskOf(name);
    for (const changes of Object.values(task.examples)) {
      assert.equal(changes.length, task.needs(PROTOCOL).showings);
      assert.ok(changes.every((change) => ["unchanged", "speckled", "coarse"].includes(change)));
    }
  }
  const { a, b } = taskOf("abx").examples;
  assert.equal(a[2], a[0]);
  assert.equal(b[2], b[1]);
});

for (const hz of [60, 144]) {
  test(`${hz} Hz: A, B and X are shown in turn, each with its fixation and its mask, then the choices`, async () => {
    const display = new Display({ hz });
    const surface = new Canvas(display);
    const grid = { onAnswer: null, shownAt: null, show: () => { grid.shownAt = display.ts; } };
    const watch = { start() {}, choicesAppear() {}, seen: {} };
    const stimuli = ["A", "B", "X"].map((name) => ({ name }));
    let outcome = null;
    runTrial({
      protocol: PROTOCOL,
      pictures: { stimuli, mask: { name: "mask" }, decodeOk: true },
      refresh: { medianMs: 1000 / hz, madMs: 0 },
      surface,
      grid,
      watch,
      raf: display.raf,
      clock: display.clock,
      afterFrame: display.afterFrame,
    }).then((result) => {
      outcome = result;
    });
    while (grid.shownAt === null) display.frame();
    grid.onAnswer({ choice: "b", at: grid.shownAt + 600, input: "key" });
    display.run();
    await Promise.resolve();
    const shown = surface.shownFor.slice(1); // after the warm-up
    assert.deepEqual(shown.map(({ what }) => what), ["A", "B", "X"].flatMap((name) => ["fixation", name, "mask"]));
    for (const { what, ms } of shown) assert.ok(Math.abs(ms - PROTOCOL[what === "fixation" ? "fixation_ms" : what === "mask" ? "mask_ms" : "stimulus_ms"]) <= 500 / hz);
    assert.equal(outcome.response, "b");
    const { timing } = outcome;
    assert.equal(timing.frames_shown, Math.round(0.2 * hz));
    assert.equal(timing.ts_stim_on, surface.of("X").ts, "the response is counted from X");
    assert.equal(timing.ts_fix_on, surface.of("fixation").ts);
  });
}

test("a new task is one module that registers itself; its name is taken once", () => {
  const toy = { name: "toy", isTimed: false, needs: () => ({ showings: 1, withMask: false, withQuestion: false }), open: async () => ({}) };
  register(toy);
  assert.equal(taskOf("toy"), toy);
  assert.equal(areTimed(["toy"]), false);
  assert.throws(() => register({ ...toy }), /there is a task "toy" already/);
});

test("a session with any timed task needs a desktop", () => {
  assert.equal(areTimed(["validation"]), false);
  assert.equal(areTimed(["validation", "categorisation"]), true);
  assert.equal(areTimed([]), false);
});

test("a task that this page does not know is named", () => {
  assert.throws(() => taskOf("telepathy"), /no task "telepathy"/);
});
