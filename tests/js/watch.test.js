import assert from "node:assert/strict";
import test from "node:test";
import { Watch } from "../../humanexp/static/js/participation/trial/watch.js";

function make() {
  const view = new EventTarget();
  view.document = Object.assign(new EventTarget(), { visibilityState: "visible", isFocused: true, fullscreenElement: null });
  view.document.hasFocus = () => view.document.isFocused;
  view.innerWidth = 1280;
  view.innerHeight = 860;
  const watch = new Watch(view);
  watch.start();
  return { view, watch };
}

test("an undisturbed trial", () => {
  assert.deepEqual(make().watch.seen, {
    visible_whole_trial: true,
    focused_whole_trial: true,
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
