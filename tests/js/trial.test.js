import assert from "node:assert/strict";
import test from "node:test";
import { ENGINE_VERSION, runTrial } from "../../static/js/trial/trial.js";
import { Canvas, Display, PROTOCOL } from "./support.js";

const COLUMNS = `t_refresh_median_ms t_refresh_mad_ms frames_target frames_shown dur_stim_ms dur_mask_ms dur_fix_ms isi_frames
  ts_fix_on ts_stim_on ts_mask_on ts_grid_on max_frame_gap_ms n_long_frames callback_lag_max_ms visible_whole_trial focused_whole_trial
  fullscreen resized dpr css_px canvas_px decode_ok n_clicks rt_from_stim_ms engine_version`.split(/\s+/);

const near = (actual, expected) => assert.ok(Math.abs(actual - expected) < 1e-6, `${actual} is not ${expected}`);

/** A trial up to its response window; `answer(choice, ms)` clicks that long after the grid came up. */
function begin({ protocol = {}, hz = 60 } = {}) {
  const display = new Display({ hz });
  const surface = new Canvas(display);
  const grid = { onAnswer: null, shownAt: null, show: () => { grid.shownAt = display.ts; } };
  const watch = { starts: 0, start: () => { watch.starts += 1; }, seen: { visible_whole_trial: true, focused_whole_trial: true, fullscreen: false, resized: false } };
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
});

test("the grid comes up in the callback that removes the mask", () => {
  const { grid, surface } = begin();
  assert.equal(surface.drawn.at(-1).what, "clear");
  assert.equal(surface.drawn.at(-1).ts, grid.shownAt);
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
  assert.ok(trial.display.ts - started >= 1500);
});

test("after the trial the grid is deaf", async () => {
  const trial = begin();
  trial.answer("cat", 400);
  await trial.end();
  assert.equal(trial.grid.onAnswer, null);
});
