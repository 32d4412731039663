import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import test from "node:test";
import { estimateRefresh, framesFor, lowerQuartile, measureRefresh, median, refreshFaults } from "../../static/js/participation/trial/frames.js";
import { Display } from "./support.js";

test("median of odd and even lists, by hand", () => {
  assert.equal(median([3, 1, 2]), 2);
  assert.equal(median([4, 1, 3, 2]), 2.5);
  assert.ok(Number.isNaN(median([])));
});

test("lower quartile, by hand", () => {
  assert.equal(lowerQuartile([4, 1, 3, 2]), 1);
  assert.equal(lowerQuartile([5, 4, 1, 3, 2]), 2);
  assert.equal(lowerQuartile([7]), 7);
  assert.ok(Number.isNaN(lowerQuartile([])));
});

test("200 ms in frames at the usual rates (crowdsourcing.md 2.2, computed by hand)", () => {
  const expected = { 60: 12, 75: 15, 90: 18, 100: 20, 120: 24, 144: 29, 165: 33, 240: 48 };
  for (const [hz, frames] of Object.entries(expected)) assert.equal(framesFor(200, 1000 / hz), frames, `${hz} Hz`);
});

test("a measured 60.02 Hz stays at 12 frames, where ceil would give 13", () => {
  assert.equal(framesFor(200, 1000 / 60.02), 12);
});

test("a positive duration is at least one frame, none is none", () => {
  assert.equal(framesFor(3, 16.7), 1);
  assert.equal(framesFor(0, 16.7), 0);
});

test("one long stall moves neither median nor deviation", () => {
  const estimate = estimateRefresh([...Array(119).fill(16.7), 800]);
  assert.equal(estimate.medianMs, 16.7);
  assert.equal(estimate.madMs, 0);
  assert.equal(estimate.longShare, 1 / 120);
});

test("a clock in steps longer than a frame leaves the mean interval, and says that it hides time", () => {
  const stamps = Array.from({ length: 121 }, (_, frame) => 100 * Math.floor(frame / 6));
  const estimate = estimateRefresh(stamps.slice(1).map((stamp, frame) => stamp - stamps[frame]));
  assert.ok(Math.abs(estimate.medianMs - 1000 / 60) < 0.1);
  assert.equal(framesFor(200, estimate.medianMs), 12);
  assert.ok(refreshFaults(estimate).includes("jitter"));
});

const handedIn = path.join(process.env.REFERENCE_DATA ?? "/nonexistent", "inputs/browser-whose-clock-steps/timestamps.json");
test("timestamps of a browser that rounds time to 100 ms", { skip: !fs.existsSync(handedIn) && "REFERENCE_DATA holds no such input" }, () => {
  const stamps = JSON.parse(fs.readFileSync(handedIn, "utf8"));
  const estimate = estimateRefresh(stamps.slice(1).map((stamp, frame) => stamp - stamps[frame]));
  assert.ok(Number.isFinite(framesFor(200, estimate.medianMs)) && framesFor(200, estimate.medianMs) > 0);
  assert.ok(refreshFaults(estimate).includes("jitter"));
});

test("a clock that stands still is taken for 60 Hz, and one in steps of a frame and a bit keeps its median", () => {
  assert.equal(framesFor(200, estimateRefresh(Array(120).fill(0)).medianMs), 12);
  const uneven = estimateRefresh(Array.from({ length: 120 }, (_, frame) => (frame % 3 ? 16 : 20)));
  assert.equal(uneven.medianMs, 16);
});

test("a steady screen has no faults; each fault is named", () => {
  assert.deepEqual(refreshFaults(estimateRefresh(Array(120).fill(16.7))), []);
  assert.deepEqual(refreshFaults(estimateRefresh(Array(120).fill(33.4))), ["rate"]);
  assert.deepEqual(refreshFaults(estimateRefresh(Array(20).fill(16.7))), ["too-few"]);
  const jittery = Array.from({ length: 120 }, (_, index) => (index % 2 ? 14 : 19));
  assert.deepEqual(refreshFaults(estimateRefresh(jittery)), ["jitter"]);
  const dropping = Array.from({ length: 120 }, (_, index) => (index % 10 ? 16.7 : 33.4));
  assert.deepEqual(refreshFaults(estimateRefresh(dropping)), ["drops"]);
});

for (const hz of [60, 75, 90, 120, 144, 165, 240]) {
  test(`measures ${hz} Hz from animation frames, over a dropped one`, async () => {
    const display = new Display({ hz });
    const measuring = measureRefresh({ raf: display.raf });
    display.run({ missedBefore: (count) => (count === 60 ? 3 : 0) });
    const estimate = await measuring;
    assert.ok(Math.abs(estimate.medianMs - 1000 / hz) < 1e-6);
    assert.equal(estimate.intervals, 120);
    assert.equal(estimate.longShare, 1 / 120);
  });
}
