import assert from "node:assert/strict";
import test from "node:test";
import { foundBy, zoomOf } from "../../static/js/participation/trial/setup.js";

function view({ outer = 1280, inner = 1280, isFramed = false } = {}) {
  const own = { innerWidth: inner, innerHeight: 800, outerWidth: outer, screen: { width: 1920, height: 1080 }, devicePixelRatio: 1.5 };
  return Object.assign(own, { top: isFramed ? {} : own });
}

test("the zoom is told by a window's two widths", () => {
  assert.equal(zoomOf(view()), 1);
  assert.equal(zoomOf(view({ outer: 1290, inner: 1280 })), 1);
  assert.equal(zoomOf(view({ outer: 1280, inner: 1024 })), 1.25);
  assert.equal(zoomOf(view({ outer: 0 })), null);
  assert.equal(zoomOf(view({ isFramed: true })), null);
});

test("only what the study asks goes to the server, next to what is always measured", () => {
  const measured = { window_px: [1280, 800], screen_px: [1920, 1080], dpr: 1.5, zoom: 1, refresh_hz: 62.5 };
  const run = { view: view(), refresh: { medianMs: 16 }, session: { set_up: ["light"] }, asked: { light: "dim", glasses: "none" } };
  assert.deepEqual(foundBy(run), { ...measured, light: "dim" });
  const all = { ...run, asked: {}, pxPerMm: 4, distanceMm: null, greys: { dark_steps: 5, bright_steps: 6 } };
  assert.deepEqual(foundBy(all), { ...measured, px_per_mm: 4, distance_mm: null, dark_steps: 5, bright_steps: 6 });
});

test("a longer window is asked for with a word of yes, and with nothing else", () => {
  const session = { set_up: ["longer_window"] };
  const run = { view: view(), session, asked: { longer_window: "no" } };
  assert.equal("longer_window" in foundBy(run), false);
  assert.equal(foundBy({ ...run, asked: { longer_window: "yes" } }).longer_window, true);
});
