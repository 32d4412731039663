import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";
import { ENGINE_VERSION, runTrial } from "../../static/js/trial/trial.js";
import { Canvas, Display, PROTOCOL } from "./support.js";

const TABLES = readFileSync(new URL("../../analysis/tables.py", import.meta.url), "utf8");
/** The columns that analysis/tables.py promises of the browser. */
const COLUMNS = [...TABLES.slice(TABLES.indexOf("_TIMING = ("), TABLES.indexOf("TIMING_COLUMNS")).matchAll(/(?:name=|_measured\(\s*)"(\w+)"/g)].map(([, name]) => name);

const near = (actual, expected) => assert.ok(Math.abs(actual - expected) < 1e-6, `${actual} is not ${expected}`);

const SEEN = {
  visible_whole_trial: true,
  focused_whole_trial: true,
  fullscreen: false,
  resized: false,
  viewport_width_px: 1280,
  viewport_height_px: 860,
  pointer_start_x_px: 3,
  pointer_start_y_px: -4,
};
const CLIENT = { timer_resolution_ms: 0.1, cross_origin_isolated: false, client_seq: 7, wallClock: () => 1_700_000_000_000 };

/** A trial up to its response window; `answer(choice, ms)` clicks that long after the grid came up. */
function begin({ protocol = {}, hz = 60 } = {}) {
  const display = new Display({ hz });
  const surface = new Canvas(display);
  const grid = { onAnswer: null, shownAt: null, show: () => { grid.shownAt = display.ts; } };
  const watch = { starts: 0, appearedAt: null, choicesAppear: () => { watch.appearedAt = display.ts; }, start: () => { watch.starts += 1; }, seen: SEEN };
  let outcome = null;
  runTrial({
    protocol: { ...PROTOCOL, ...protocol },
    pictures: { stimuli: [{ name: "stimulus" }], mask: { name: "mask" }, decodeOk: true },
    refresh: { medianMs: 1000 / hz, madMs: 0.1 },
    surface,
    grid,
    watch,
    raf: display.raf,
    clock: display.clock,
    afterFrame: display.afterFrame,
    client: CLIENT,
  }).then((result) => {
    outcome = result;
  });
  while (grid.shownAt === null) display.frame();
  return {
    display,
    grid,
    watch,
    surface,
    answer: (choice, ms) => grid.onAnswer({ choice, at: grid.shownAt + ms, input: "pointer" }),
    end: async () => {
      display.run();
      await Promise.resolve();
      return outcome;
    },
  };
}

test("a full trial gives every timing column, and no other", async () => {
  const trial = begin();
  trial.answer("cat", 512.25);
  const { response, rt_ms, clicks, timing } = await trial.end();
  assert.equal(response, "cat");
  near(rt_ms, 512.25);
  assert.deepEqual(clicks, [{ choice: "cat", t_ms: rt_ms, input: "pointer" }]);
  assert.deepEqual(Object.keys(timing).sort(), [...COLUMNS].sort());
  near(timing.rt_from_stim_ms, 912.25);
  assert.equal(timing.n_clicks, 1);
  assert.equal(timing.engine_version, ENGINE_VERSION);
  near(timing.dur_stim_taken_ms, 200);
  assert.equal(timing.client_seq, 7);
  assert.equal(timing.client_epoch_ms, 1_700_000_000_000);
  assert.equal(timing.timer_resolution_ms, 0.1);
  assert.equal(timing.cross_origin_isolated, false);
});

test("the grid comes up in the callback that removes the mask", () => {
  const { grid, surface } = begin();
  assert.equal(surface.drawn.at(-1).what, "clear");
  assert.equal(surface.drawn.at(-1).ts, grid.shownAt);
});

test("the pointer's start is noted when the choices appear", () => {
  const { grid, watch } = begin();
  assert.equal(watch.appearedAt, grid.shownAt);
});

test("watching begins with the fixation, once", () => {
  assert.equal(begin().watch.starts, 1);
});

test("no answer: the loop ends with the window and the record has no reaction time", async () => {
  const { response, rt_ms, timing } = await begin({ protocol: { response_ms: 1500 } }).end();
  assert.equal(response, "na");
  assert.equal(rt_ms, null);
  assert.equal(timing.rt_from_stim_ms, null);
  assert.equal(timing.n_clicks, 0);
});

test("last click counts: the window lasts its full time", async () => {
  const trial = begin({ protocol: { click_policy: "last", fixed_response_window: true, response_ms: 1500 } });
  trial.answer("cat", 300);
  trial.answer("dog", 1400);
  const started = trial.grid.shownAt;
  const { response, rt_ms, timing } = await trial.end();
  assert.equal(response, "dog");
  near(rt_ms, 1400);
  assert.equal(timing.n_clicks, 2);
  assert.equal(timing.click_policy, "last");
  near(timing.rt_first_click_ms, 300);
  near(timing.rt_last_click_ms, 1400);
  assert.ok(trial.display.ts - started >= 1500);
});

test("after the trial the grid is deaf", async () => {
  const trial = begin();
  trial.answer("cat", 400);
  await trial.end();
  assert.equal(trial.grid.onAnswer, null);
});
