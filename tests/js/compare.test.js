import assert from "node:assert/strict";
import { test } from "node:test";

import { Comparison, TURN_MS } from "../../static/js/stimuli/compare.js";

function comparison() {
  const classes = new Set(["compare", "is-side"]);
  const element = { classList: { add: (name) => classes.add(name), remove: (name) => classes.delete(name) } };
  const clock = { action: null, ms: null, stopped: 0 };
  const repeat = (action, ms) => {
    clock.action = action;
    clock.ms = ms;
    return () => (clock.stopped += 1);
  };
  return { classes: () => [...classes].filter((name) => name !== "compare"), clock, one: new Comparison(element, repeat) };
}

test("each mode shows itself alone", () => {
  const { classes, one } = comparison();
  for (const mode of ["stimulus", "original", "difference", "side"]) {
    one.show(mode);
    assert.deepEqual(classes(), [`is-${mode}`]);
  }
});

test("alternating begins with the stimulus and changes at each turn", () => {
  const { classes, clock, one } = comparison();
  one.show("flicker");
  assert.deepEqual(classes(), ["is-stimulus"]);
  clock.action();
  assert.deepEqual(classes(), ["is-original"]);
  clock.action();
  assert.deepEqual(classes(), ["is-stimulus"]);
});

test("another mode ends alternating", () => {
  const { classes, clock, one } = comparison();
  one.show("flicker");
  one.show("difference");
  assert.equal(clock.stopped, 1);
  assert.deepEqual(classes(), ["is-difference"]);
});

test("pictures change less than three times a second", () => {
  const { clock, one } = comparison();
  one.show("flicker");
  assert.equal(clock.ms, TURN_MS);
  assert.ok(1000 / TURN_MS < 3);
});
