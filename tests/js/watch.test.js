import assert from "node:assert/strict";
import test from "node:test";
import { Watch } from "../../static/js/participation/trial/watch.js";

function make() {
  const view = new EventTarget();
  view.document = Object.assign(new EventTarget(), { visibilityState: "visible", isFocused: true, fullscreenElement: null });
  view.document.hasFocus = () => view.document.isFocused;
  view.innerWidth = 1280;
  view.innerHeight = 860;
  const timers = [];
  const time = { now: 1_000 };
  const later = (action, ms) => {
    const timer = { action, at: time.now + ms };
    timers.push(timer);
    return () => timers.splice(timers.indexOf(timer), 1);
  };
  time.to = (now) => {
    time.now = now;
    for (const timer of timers.filter(({ at }) => at <= now)) timer.action();
  };
  const watch = new Watch(view, () => time.now);
  watch.start();
  return { view, watch, time, later, timers };
}

test("an undisturbed trial", () => {
  assert.deepEqual(make().watch.seen, {
    visible_whole_trial: true,
    focused_whole_trial: true,
    focus_lost_ms: null,
    last_input_ms: null,
    input_watched_ms: null,
    fullscreen: false,
    resized: false,
    viewport_width_px: 1280,
    viewport_height_px: 860,
    pointer_start_x_px: null,
    pointer_start_y_px: null,
  });
});

test("the pointer's start is its place when the choices appear, from the middle of the window", () => {
  const { view, watch } = make();
  const moved = (clientX, clientY) => view.dispatchEvent(Object.assign(new Event("pointermove"), { clientX, clientY }));
  moved(700, 400);
  watch.choicesAppear();
  moved(10, 10);
  assert.equal(watch.seen.pointer_start_x_px, 60);
  assert.equal(watch.seen.pointer_start_y_px, -30);
  watch.start();
  assert.equal(watch.seen.pointer_start_x_px, null);
});

test("a tab that was hidden and came back is remembered until the next trial", () => {
  const { view, watch } = make();
  view.document.visibilityState = "hidden";
  view.document.dispatchEvent(new Event("visibilitychange"));
  view.document.visibilityState = "visible";
  view.document.dispatchEvent(new Event("visibilitychange"));
  assert.equal(watch.seen.visible_whole_trial, false);
  watch.start();
  assert.equal(watch.seen.visible_whole_trial, true);
});

test("lost focus and a changed window are remembered", () => {
  const { view, watch } = make();
  view.dispatchEvent(new Event("blur"));
  view.dispatchEvent(new Event("resize"));
  assert.equal(watch.seen.focused_whole_trial, false);
  assert.equal(watch.seen.resized, true);
});

test("a trial that begins without the focus says so", () => {
  const { view, watch } = make();
  view.document.isFocused = false;
  assert.equal(watch.isAttended, false);
  watch.start();
  assert.equal(watch.seen.focused_whole_trial, false);
});

test("the record says when the focus was lost for the first time, from the first fixation", () => {
  const { view, watch, time } = make();
  time.to(1_250);
  view.dispatchEvent(new Event("blur"));
  time.to(2_000);
  view.dispatchEvent(new Event("blur"));
  assert.equal(watch.seen.focus_lost_ms, 250);
  watch.start();
  assert.equal(watch.seen.focus_lost_ms, null);
});

test("the last input counts from the first fixation, and is negative before it", () => {
  const { view, watch, time } = make();
  time.to(1_100);
  view.dispatchEvent(new Event("keydown"));
  assert.equal(watch.seen.last_input_ms, 100);
  time.to(5_000);
  watch.start(5_000);
  watch.choicesAppear(5_700);
  time.to(9_700);
  assert.equal(watch.seen.last_input_ms, -3_900);
  assert.equal(watch.seen.input_watched_ms, 4_000);
});

test("a pointer that lies still is no input, however often the browser reports it", () => {
  const { view, watch, time } = make();
  const moved = (clientX) => view.dispatchEvent(Object.assign(new Event("pointermove"), { clientX, clientY: 5 }));
  moved(7);
  time.to(3_000);
  watch.start(3_000);
  moved(7);
  assert.equal(watch.seen.last_input_ms, -2_000);
  moved(8);
  assert.equal(watch.seen.last_input_ms, 0);
});

test("the page waits for input until so long into the question, and is content with the first", async () => {
  const quiet = make();
  quiet.watch.choicesAppear(1_700);
  quiet.time.to(5_700);
  const waited = quiet.watch.inputWithin(10_000, quiet.later);
  quiet.time.to(11_699);
  quiet.time.to(11_700);
  assert.deepEqual(await waited, { last_input_ms: null, input_watched_ms: 10_000 });

  const moved = make();
  moved.watch.choicesAppear(1_700);
  moved.time.to(5_700);
  const found = moved.watch.inputWithin(10_000, moved.later);
  moved.time.to(6_000);
  moved.watch.start(6_000);
  moved.time.to(6_100);
  moved.view.dispatchEvent(new Event("pointerdown"));
  assert.deepEqual(await found, { last_input_ms: 5_100, input_watched_ms: 4_400 }, "counted from the trial that waited");
  assert.equal(moved.timers.length, 0, "and nothing is left running");
});
