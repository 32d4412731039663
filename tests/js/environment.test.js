import assert from "node:assert/strict";
import test from "node:test";
import { describeEnvironment, deviceFault, fits, lacksRoom, neededWindow, timerResolution } from "../../static/js/participation/trial/environment.js";
import { PROTOCOL } from "./support.js";

const view = ({ media = [], width = 1440, height = 900, ...rest } = {}) => ({
  matchMedia: (query) => ({ matches: media.includes(query) }),
  screen: { width, height },
  innerWidth: width,
  innerHeight: height,
  devicePixelRatio: 1,
  navigator: { userAgent: "agent", language: "en" },
  createImageBitmap: () => {},
  PointerEvent: class {},
  ...rest,
});

const DESKTOP = ["(any-pointer: fine)"];
const PHONE = ["(pointer: coarse)"];

test("desktops and tablets with a mouse may take part; phones and bare tablets are refused", () => {
  assert.equal(deviceFault(view({ media: DESKTOP })), null);
  assert.equal(deviceFault(view({ media: [...PHONE, ...DESKTOP], width: 1180, height: 820 })), null);
  assert.equal(deviceFault(view({ media: PHONE, width: 390, height: 844 })), "phone");
  assert.equal(deviceFault(view({ media: PHONE, width: 1180, height: 820 })), "phone");
  assert.equal(deviceFault(view({ media: [...PHONE, ...DESKTOP], width: 412, height: 915 })), "phone");
});

test("a computer without a pointer has a keyboard", () => {
  assert.equal(deviceFault(view({ media: [] })), null);
});

test("a browser that cannot decode pictures beforehand is refused", () => {
  assert.equal(deviceFault(view({ media: DESKTOP, createImageBitmap: undefined })), "browser");
});

test("picture and choices need room", () => {
  assert.equal(fits(view({ width: 800, height: 700 }), PROTOCOL), true);
  assert.equal(fits(view({ width: 600, height: 700 }), PROTOCOL), false);
  assert.equal(fits(view({ width: 800, height: 500 }), PROTOCOL), false);
});

test("a large picture needs a large window", () => {
  const large = { ...PROTOCOL, size_px: 900, fixation_px: 24 };
  assert.deepEqual(neededWindow(view(), large), { width: 916, height: 956 });
  assert.equal(fits(view({ width: 1440, height: 900 }), large), false);
});

test("a window without room is told before anybody agrees; in a frame the browser's own size tells it", () => {
  const large = view({ width: 800, height: 700 });
  assert.equal(lacksRoom(Object.assign(large, { top: large }), PROTOCOL), false);
  const small = view({ width: 600, height: 700 });
  assert.equal(lacksRoom(Object.assign(small, { top: small }), PROTOCOL), true);
  assert.equal(lacksRoom({ ...small, top: {}, outerWidth: 1280, outerHeight: 900 }, PROTOCOL), false);
});

test("the clock's smallest step is found", () => {
  let calls = 0;
  assert.ok(Math.abs(timerResolution(() => Math.floor(calls++ / 7) * 0.1) - 0.1) < 1e-9);
  assert.equal(timerResolution(() => 5), null);
});

test("the record of the environment holds the person's own words and no identity", () => {
  const record = describeEnvironment({
    view: view({ media: DESKTOP }),
    clock: () => 0,
    refresh: { medianMs: 16.7, madMs: 0.1, longShare: 0, intervals: 120 },
    selfReport: { sight: "yes" },
    isPersistent: true,
  });
  assert.deepEqual(record.self_report, { sight: "yes" });
  assert.deepEqual(record.refresh, { median_ms: 16.7, mad_ms: 0.1, long_share: 0, intervals: 120 });
  assert.equal(JSON.stringify(record).includes("undefined"), false);
});
