/** What fits before the end of a place, and when the person is told. */
import assert from "node:assert/strict";
import test from "node:test";
import { Deadline, endInTime, tellOfDeadline, tellPayInTime, timeOf } from "../../static/js/participation/trial/deadline.js";

const MINUTE = 60_000;

function make(leftMinutes) {
  const clock = { ms: 1_700_000_000_000 };
  const deadline = new Deadline(() => clock.ms);
  deadline.note({ due_in_s: leftMinutes === null ? null : leftMinutes * 60 });
  return { clock, deadline, pass: (minutes) => (clock.ms += minutes * MINUTE) };
}

test("a round has to be over three minutes before the end", () => {
  const { deadline, pass } = make(10);
  assert.equal(deadline.holds(7 * 60), true);
  assert.equal(deadline.holds(7 * 60 + 1), false);
  pass(4);
  assert.equal(deadline.holds(3 * 60), true);
  assert.equal(deadline.holds(3 * 60 + 1), false);
  pass(4);
  assert.equal(deadline.holds(0), false);
});

test("without an end everything fits, and nobody is told", () => {
  const { deadline } = make(null);
  assert.equal(deadline.holds(1e9), true);
  assert.equal(deadline.isDueToTell(), false);
  assert.equal(deadline.isOver, false);
  assert.equal(deadline.at, null);
});

test("the person is told once, within the last ten minutes, and not afterwards", () => {
  const { deadline, pass } = make(11);
  assert.equal(deadline.isDueToTell(), false);
  pass(1);
  assert.equal(deadline.isDueToTell(), true);
  assert.equal(deadline.isDueToTell(), false);
  const late = make(0);
  assert.equal(late.deadline.isOver, true);
  assert.equal(late.deadline.isDueToTell(), false);
});

test("every reply sets the end anew: the server's clock counts", () => {
  const { deadline } = make(5);
  deadline.note({ due_in_s: 3600 });
  assert.equal(deadline.holds(50 * 60), true);
});

test("the page says when, and waits until it was read", async () => {
  const shown = [];
  const screens = {
    show: (name, values) => shown.push([name, values.time]),
    pressed: async (action) => shown.push([action]),
  };
  const document = { documentElement: { lang: "en-GB" } };
  const { deadline } = make(9);
  assert.equal(await tellOfDeadline({ deadline, screens, document }), true);
  assert.deepEqual(shown, [["deadline", timeOf(deadline.at, document)], ["continue"]]);
  assert.equal(await tellOfDeadline({ deadline, screens, document }), false);
});

/** A run that ends for want of time; `state`: as the server sees it. */
async function ended(leftMinutes, state) {
  const steps = [];
  await endInTime({
    deadline: make(leftMinutes).deadline,
    document: { documentElement: { lang: "en-GB" }, querySelectorAll: () => [] },
    session: { cursor: 6, total: 11 },
    screens: { show: (name) => steps.push(name), pressed: async (action) => steps.push(action) },
    api: { withdraw: async (how) => (steps.push(how), { state }) },
    begun: { clear: () => steps.push("forgotten") },
    outbox: null,
  });
  return steps;
}

test("the session ends before the page says so, and the person reads it", async () => {
  const call = { keep: true, reason: "time" };
  assert.deepEqual(await ended(2, "out-of-time"), [call, "forgotten", "time-short", "finish"]);
  assert.deepEqual(await ended(-2, "out-of-time"), [call, "forgotten", "time-over", "finish"]);
  assert.deepEqual(await ended(2, "left"), [call, "forgotten"], "the server finds that it would fit: nothing is promised");
});

test("full pay is promised to whoever has done half of it, and to nobody else", () => {
  const parts = [{ dataset: { inTime: "most" } }, { dataset: { inTime: "little" } }];
  const shown = (cursor, total) => {
    tellPayInTime({ querySelectorAll: () => parts }, { cursor, total });
    return parts.filter(({ hidden }) => !hidden).map(({ dataset }) => dataset.inTime);
  };
  assert.deepEqual([shown(0, 11), shown(5, 11), shown(5, 10), shown(6, 11)], [["little"], ["little"], ["most"], ["most"]]);
});
