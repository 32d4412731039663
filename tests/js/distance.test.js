import assert from "node:assert/strict";
import test from "node:test";
import { distanceMm, forgetDistance, measureDistance } from "../../static/js/participation/trial/distance.js";
import { Storage } from "./support.js";

test("a dot that vanishes 144 mm from the square is seen from 600 mm", () => {
  assert.equal(distanceMm(144 * 4, 4), 600);
});

function fakeRun({ wants = ["distance"], pxPerMm = 4, places = [570, 580, 700], action = "vanished" } = {}) {
  const slider = Object.assign(new EventTarget(), { value: "", min: "60", max: "900", focus: () => {} });
  const shown = [];
  const parts = { "[data-dot-place]": slider, "[data-dot]": { style: {} }, "[data-blind-spot]": { clientWidth: 960 } };
  const run = {
    key: "k",
    pxPerMm,
    session: { set_up: wants },
    local: new Storage(),
    screens: {
      show: (name) => shown.push(name),
      fill: () => {},
      find: (selector) => parts[selector],
      pressed: async () => {
        slider.value = String(places.shift());
        return action;
      },
    },
  };
  return { run, shown };
}

test("the median of three counts, once a session", async () => {
  const { run, shown } = fakeRun();
  await measureDistance(run);
  assert.equal(run.distanceMm, distanceMm(580, 4));
  await measureDistance(run);
  assert.deepEqual(shown, ["distance"]);
  forgetDistance(run);
  assert.equal(run.local.length, 0);
});

test("a dot next to the square has not vanished: that one is asked again", async () => {
  const { run } = fakeRun({ places: [60, 570, 580, 590] });
  await measureDistance(run);
  assert.equal(run.distanceMm, distanceMm(580, 4));
});

test("nothing is shown to a study that does not want it, nor to a person without a card", async () => {
  for (const options of [{ wants: [] }, { pxPerMm: null }]) {
    const { run, shown } = fakeRun(options);
    await measureDistance(run);
    assert.deepEqual([shown, run.distanceMm], [[], undefined]);
  }
});

test("who skips it has no distance", async () => {
  const { run } = fakeRun({ action: "no-distance" });
  await measureDistance(run);
  assert.equal(run.distanceMm, null);
});
