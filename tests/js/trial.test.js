import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";
import { ENGINE_VERSION, runTrial } from "../../static/js/participation/trial/trial.js";
import { Watch } from "../../static/js/participation/trial/watch.js";
import { Canvas, Display, PROTOCOL } from "./support.js";

const TABLES = readFileSync(new URL("../../analysis/tables/trials.py", import.meta.url), "utf8");
/** The columns that analysis/tables/trials.py promises of the browser. */
const COLUMNS = [...TABLES.slice(TABLES.indexOf("TIMING = ("), TABLES.indexOf("TIMING_COLUMNS:")).matchAll(/(?:name=|_measured\(\s*)"(\w+)"/g)].map(([, name]) => name);

const near = (actual, expected) => assert.ok(Math.abs(actual - expected) < 1e-6, `${actual} is not ${expected}`);

const SEEN = {
  visible_whole_trial: true,
  focused_whole_trial: true,
  focus_lost_ms: null,
  last_input_ms: 900,
  input_watched_ms: 1000,
  fullscreen: false,
  resized: false,
  viewport_width_px: 1280,
  viewport_height_px: 860,
  pointer_start_x_px: 3,
  pointer_start_y_px: -4,
};
const CLIENT = { timer_resolution_ms: 0.1, cross_origin_isolated: false, client_seq: 7, wallClock: () => 1_700_000_000_000 };

function stillWatch() {
  const watch = {
    starts: 0,
    appearedAt: null,
    choicesAppear: () => {
      watch.appearedAt = watch.display.ts;
    },
    start: () => {
      watch.starts += 1;
    },
    seen: SEEN,
  };
  return watch;
}

/** A window that tests hide, blur and resize. */
function aWindow() {
  const view = new EventTarget();
  view.innerWidth = 1280;
  view.innerHeight = 860;
  view.document = Object.assign(new EventTarget(), { visibilityState: "visible", fullscreenElement: null, hasFocus: () => true });
  view.tell = (state) => {
    view.document.visibilityState = state;
    view.document.dispatchEvent(new Event("visibilitychange"));
  };
  return view;
}

/** A trial up to its response window; `answer(choice, ms)` clicks that long after the grid came up. */
function begin({ protocol = {}, hz = 60, watch = stillWatch(), before = () => {}, missedBefore = () => 0 } = {}) {
  const display = new Display({ hz });
  const surface = new Canvas(display);
  const grid = { onAnswer: null, shownAt: null, show: () => { grid.shownAt = display.ts; } };
  watch.display = display;
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
  for (let count = 0; grid.shownAt === null; count += 1) {
    before(count);
    display.frame(missedBefore(count));
  }
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

for (const hz of [60, 75, 90, 100, 120, 144, 165, 240]) {
  /** The callback in which the stimulus appears, and one in the middle of it. */
  const onset = Math.round(0.05 * hz) + Math.round(0.3 * hz);
  const middle = onset + Math.round(0.1 * hz);

  test(`${hz} Hz: a quiet trial lasts as planned`, async () => {
    const trial = begin({ hz, watch: new Watch(aWindow(), () => 0) });
    trial.answer("cat", 400);
    const { timing } = await trial.end();
    assert.equal(timing.frames_shown, Math.round(0.2 * hz));
    assert.ok(Math.abs(timing.dur_stim_taken_ms - 200) <= 500 / hz);
    assert.deepEqual([timing.visible_whole_trial, timing.resized, timing.n_long_frames, timing.n_onset_waits], [true, false, 0, 0]);
  });

  test(`${hz} Hz: a tab hidden for two seconds during the stimulus is in the record`, async () => {
    const view = aWindow();
    const before = (count) => {
      if (count === middle) view.tell("hidden");
      if (count === middle + 1) view.tell("visible");
    };
    const trial = begin({ hz, watch: new Watch(view, () => 0), before, missedBefore: (count) => (count === middle ? 2 * hz : 0) });
    trial.answer("cat", 400);
    const { timing } = await trial.end();
    assert.equal(timing.visible_whole_trial, false);
    assert.equal(timing.n_long_frames, 1);
    assert.ok(timing.max_frame_gap_ms >= 2000);
    assert.ok(timing.dur_stim_taken_ms > 2000);
  });

  test(`${hz} Hz: a window resized during the mask is in the record, and the picture kept its time`, async () => {
    const view = aWindow();
    const before = (count) => {
      if (count === middle + Math.round(0.2 * hz)) view.dispatchEvent(new Event("resize"));
    };
    const trial = begin({ hz, watch: new Watch(view, () => 0), before });
    trial.answer("cat", 400);
    const { timing } = await trial.end();
    assert.equal(timing.resized, true);
    assert.ok(Math.abs(timing.dur_stim_taken_ms - 200) <= 500 / hz);
  });

  test(`${hz} Hz: a frame dropped at the offset lengthens the stimulus by one frame`, async () => {
    const trial = begin({ hz, watch: new Watch(aWindow(), () => 0), missedBefore: (count) => (count === onset + Math.round(0.2 * hz) ? 1 : 0) });
    trial.answer("cat", 400);
    const { timing } = await trial.end();
    assert.equal(timing.frames_shown, timing.frames_target + 1);
    assert.equal(timing.n_long_frames, 1);
  });
}
