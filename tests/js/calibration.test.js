import assert from "node:assert/strict";
import test from "node:test";
import { calibrate, forgetCalibration, pxPerMmOf } from "../../static/js/participation/trial/calibration.js";
import { Storage } from "./support.js";

test("a card of 323.5 CSS pixels lies on a screen of 96 dpi", () => {
  assert.equal(pxPerMmOf(323.5), 3.779);
  assert.ok(Math.abs(pxPerMmOf(323.5) * 25.4 - 96) < 0.02);
});

function fakeRun({ asks = true, presses = "fitted", width = "428" } = {}) {
  const slider = Object.assign(new EventTarget(), { value: width, min: "150", max: "900" });
  const card = { style: {} };
  const shown = [];
  const run = {
    key: "k",
    session: { set_up: asks ? ["size"] : [] },
    view: { innerWidth: 1280 },
    local: new Storage(),
    screens: { show: (name) => shown.push(name), find: (selector) => (selector === "[data-card]" ? card : slider), pressed: async () => presses },
  };
  return { run, shown, card, slider };
}

test("only a study that asks for it shows the page, and only once", async () => {
  const quiet = fakeRun({ asks: false });
  await calibrate(quiet.run);
  assert.deepEqual([quiet.shown, quiet.run.pxPerMm], [[], undefined]);
  const { run, shown, card } = fakeRun();
  await calibrate(run);
  assert.equal(run.pxPerMm, 5);
  assert.equal(card.style.width, "428px");
  assert.equal(Math.round(Number.parseFloat(card.style.height)), 270);
  await calibrate(run);
  assert.deepEqual(shown, ["calibration"]);
  forgetCalibration(run);
  assert.equal(run.local.length, 0);
});

test("who has no card goes on without", async () => {
  const { run } = fakeRun({ presses: "no-card" });
  await calibrate(run);
  assert.equal(run.pxPerMm, null);
});
