/**
 * The page's own watching of people, on a clock that jumps: `benchmarks/absence.py` says what people do, this says what the page
 * records of it and when it asks whether they are there.
 */
import { readFileSync } from "node:fs";
import { Presence } from "../static/js/participation/trial/presence.js";
import { Watch } from "../static/js/participation/trial/watch.js";

const { phases_ms: phasesMs, window_ms: windowMs, interval_ms: intervalMs, people } = JSON.parse(readFileSync(0, "utf8"));

class Time {
  now = 1_000;
  #planned = [];

  later = (action, ms) => {
    const plan = { action, at: this.now + ms };
    this.#planned.push(plan);
    return () => {
      this.#planned = this.#planned.filter((other) => other !== plan);
    };
  };

  async to(at) {
    for (;;) {
      const next = this.#planned.reduce((soonest, plan) => (!soonest || plan.at < soonest.at ? plan : soonest), null);
      if (!next || next.at > at) break;
      this.now = Math.max(this.now, next.at);
      this.#planned = this.#planned.filter((plan) => plan !== next);
      next.action();
    }
    this.now = at;
    // Promises settle before anything else happens.
    await null;
    await null;
  }
}

async function session(trials) {
  const time = new Time();
  const view = new EventTarget();
  view.document = Object.assign(new EventTarget(), { visibilityState: "visible", hasFocus: () => true, fullscreenElement: null });
  const watch = new Watch(view, () => time.now);
  const presence = new Presence({ watch, later: time.later });
  let x = 0;
  const move = () => view.dispatchEvent(Object.assign(new Event("pointermove"), { clientX: (x += 1), clientY: 0 }));
  move();
  const records = [];
  const asked = [];
  for (const [number, { answer_ms: answerMs, moves_ms: movesMs, back_after_ms: backAfterMs }] of trials.entries()) {
    if (presence.isInDoubt) {
      asked.push(number);
      await time.to(time.now + (backAfterMs ?? 2_000));
      move();
      presence.confirm();
    }
    const onset = time.now + intervalMs;
    await time.to(onset);
    watch.start(onset);
    const choices = onset + phasesMs;
    const end = choices + (answerMs ?? windowMs);
    // What is done up to the choices, and after them, in the order of time.
    const inputs = [...(answerMs === null ? [] : [end]), ...movesMs.map((ms) => onset + ms)].sort((a, b) => a - b);
    for (const at of inputs.filter((one) => one <= choices)) {
      await time.to(at);
      move();
    }
    await time.to(choices);
    watch.choicesAppear(choices);
    for (const at of inputs.filter((one) => one > choices && one <= end)) {
      await time.to(at);
      move();
    }
    await time.to(end);
    const record = { response: answerMs === null ? "na" : "cat", timing: watch.seen };
    records.push(record);
    presence.note(record)?.then((whole) => {
      records[number] = whole;
    });
  }
  await time.to(time.now + 20_000);
  return { asked, timing: records.map(({ timing }) => timing) };
}

for (const trials of people) process.stdout.write(`${JSON.stringify(await session(trials))}\n`);
