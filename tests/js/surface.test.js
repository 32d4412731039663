import assert from "node:assert/strict";
import test from "node:test";
import { Surface, geometry, greyOf } from "../../static/js/participation/trial/surface.js";
import { PROTOCOL } from "./support.js";

test("a picture pixel is a whole number of device pixels at every pixel ratio", () => {
  const expected = [[1, 1, 224], [1.25, 1, 179.2], [1.5, 1, 224 / 1.5], [2, 2, 224], [2.5, 2, 179.2], [3, 3, 224], [0.8, 1, 280]];
  for (const [dpr, scale, cssPx] of expected) {
    const size = geometry({ protocol: PROTOCOL, dpr });
    assert.equal(size.scale, scale, `dpr ${dpr}`);
    assert.equal(size.picturePx, 224 * scale);
    assert.ok(Math.abs(size.pictureCssPx - cssPx) < 1e-9);
    assert.equal(size.canvasPx % 1, 0);
    assert.equal((size.canvasPx - size.picturePx) % 2, 0, "centred on whole pixels");
  }
});

test("the protocol's greys as the canvas has them", () => {
  assert.equal(greyOf(0.454), "rgb(116, 116, 116)");
  assert.equal(greyOf(0.4423), "rgb(113, 113, 113)");
});

function make(view, protocol = {}) {
  const calls = [];
  const context = {
    fillRect: (...box) => calls.push([context.fillStyle, ...box]),
    drawImage: (bitmap, ...box) => calls.push([bitmap.name, context.imageSmoothingEnabled, context.globalAlpha, ...box]),
  };
  const canvas = { style: {}, getContext: (kind, options) => Object.assign(context, { options }) && context };
  const surface = new Surface({ canvas, view, protocol: { ...PROTOCOL, ...protocol } });
  return { surface, canvas, context, calls };
}

test("opaque, unsmoothed, at its own pixels", () => {
  const { surface, context, calls } = make({ devicePixelRatio: 2, innerWidth: 1280, innerHeight: 800 });
  assert.deepEqual(context.options, { alpha: false });
  calls.length = 0;
  surface.picture({ name: "stimulus" });
  assert.deepEqual(calls, [["rgb(116, 116, 116)", 0, 0, 492, 492], ["stimulus", false, 1, 22, 22, 448, 448]]);
  assert.deepEqual(surface.shown, { dpr: 2, css_px: 224, canvas_px: 448, pixel_scale: 2 });
});

test("the canvas lies on whole device pixels, in the middle", () => {
  const { canvas } = make({ devicePixelRatio: 1.5, innerWidth: 1281, innerHeight: 801 });
  assert.equal(canvas.width, 246);
  assert.equal(canvas.style.width, `${246 / 1.5}px`);
  const left = Number.parseFloat(canvas.style.left) * 1.5;
  assert.ok(Math.abs(left - Math.round(left)) < 1e-9);
  assert.ok(Math.abs(left - (1281 * 1.5 - 246) / 2) <= 1);
});

test("an unchanged window is not laid out again, a changed one is", () => {
  const view = { devicePixelRatio: 1, innerWidth: 1280, innerHeight: 800 };
  const { surface, canvas } = make(view);
  canvas.style.left = "untouched";
  surface.fit();
  assert.equal(canvas.style.left, "untouched");
  view.innerWidth = 1000;
  surface.fit();
  assert.equal(canvas.style.left, "377px");
});

test("contrast is taken about the background: the picture is laid over the grey", () => {
  const { surface, context, calls } = make({ devicePixelRatio: 1, innerWidth: 1280, innerHeight: 800 });
  calls.length = 0;
  surface.picture({ name: "stimulus" }, 0.25);
  assert.deepEqual(calls, [["rgb(116, 116, 116)", 0, 0, 246, 246], ["stimulus", false, 0.25, 11, 11, 224, 224]]);
  assert.equal(context.globalAlpha, 1);
});

test("the fixation mark: an outline of 230 px, or a cross", () => {
  const view = { devicePixelRatio: 1, innerWidth: 1280, innerHeight: 800 };
  const square = make(view);
  square.calls.length = 0;
  square.surface.fixation();
  assert.deepEqual(square.calls.slice(1), [["#fff", 8, 8, 230, 230], ["rgb(116, 116, 116)", 10, 10, 226, 226]]);
  const cross = make(view, { fixation_shape: "cross", fixation_px: 24 });
  cross.calls.length = 0;
  cross.surface.fixation();
  assert.deepEqual(cross.calls.slice(1), [["#fff", 108, 119, 24, 2], ["#fff", 119, 108, 2, 24]]);
});
