import assert from "node:assert/strict";
import test from "node:test";
import { MOST_CLICKS, ResponseWindow } from "../../static/js/participation/trial/responses.js";

const opened = (options) => {
  const window = new ResponseWindow({ policy: "first", windowMs: 4000, fixed: false, ...options });
  window.open(1000);
  return window;
};
const click = (window, choice, at) => window.answer({ choice, at, input: "pointer" });

test("first answer, open end: the click ends the window and its own time is the reaction time", () => {
  const window = opened();
  assert.equal(click(window, "cat", 1456.5), true);
  assert.equal(window.isOpen, false);
  assert.equal(click(window, "dog", 1500), false);
  assert.deepEqual(window.result, { response: "cat", rt_ms: 456.5, clicks: [{ choice: "cat", t_ms: 456.5, input: "pointer" }] });
});

test("first answer, fixed window: it stays open, later clicks are kept but do not count", () => {
  const window = opened({ windowMs: 1500, fixed: true });
  click(window, "cat", 1300);
  click(window, "dog", 1900);
  assert.equal(window.frame(2499), true);
  assert.equal(window.frame(2500), false);
  assert.equal(window.result.response, "cat");
  assert.equal(window.result.rt_ms, 300);
  assert.deepEqual(window.result.clicks.map(({ choice }) => choice), ["cat", "dog"]);
});

test("last answer: the window runs to its end and the last click counts, with its own time", () => {
  const window = opened({ policy: "last", windowMs: 1500 });
  click(window, "cat", 1300);
  assert.equal(window.isOpen, true);
  click(window, "dog", 1900);
  window.frame(2500);
  assert.equal(window.result.response, "dog");
  assert.equal(window.result.rt_ms, 900);
});

test("no click in time is an answer of its own", () => {
  const window = opened();
  assert.equal(window.frame(4999.9), true);
  assert.equal(window.frame(5000), false);
  assert.deepEqual(window.result, { response: "na", rt_ms: null, clicks: [] });
});

test("a click after the time is over does not count, even before the next frame has closed the window", () => {
  const window = opened({ windowMs: 1500 });
  assert.equal(click(window, "cat", 2501), false);
  assert.equal(window.result.response, "na");
});

test("a press that began before the choices were visible is no answer", () => {
  const window = opened();
  assert.equal(click(window, "cat", 990), false);
  assert.equal(window.isOpen, true);
});

test("before the window opens nothing counts", () => {
  const window = new ResponseWindow({ policy: "first", windowMs: 4000, fixed: false });
  assert.equal(click(window, "cat", 900), false);
  assert.equal(window.frame(9e9), false);
});

test("without a time limit the window waits; the last-click rule then takes the first", () => {
  const window = opened({ policy: "last", windowMs: null, fixed: true });
  assert.equal(window.frame(9e6), true);
  assert.equal(click(window, "cat", 9e6), true);
  assert.equal(window.isOpen, false);
});

test("a stuck key does not grow the record without end, and the last click still counts", () => {
  const window = opened({ policy: "last", windowMs: 1500 });
  for (let at = 1001; at < 1400; at += 1) click(window, "cat", at);
  click(window, "dog", 1450);
  window.frame(2500);
  assert.equal(window.result.clicks.length, MOST_CLICKS);
  assert.deepEqual([window.result.response, window.result.rt_ms, window.result.clicks[0].t_ms], ["dog", 450, 1]);
});
