import assert from "node:assert/strict";
import test from "node:test";
import { DOUBLE_CLICK_MS, Judgement } from "../../static/js/participation/trial/judgement.js";

const begin = () => new Judgement({ shownAt: 1000 });
const shows = (answer, at) => ({ question: "shows", answer, at, input: "pointer" });
const usable = (answer, at) => ({ question: "usable", answer, at, input: "key" });

test("both questions have to be answered before anything goes on", () => {
  const judgement = begin();
  assert.equal(judgement.submit(2000), "open");
  assert.equal(judgement.open, "shows");
  judgement.choose(usable("no", 2500));
  assert.equal(judgement.submit(2600), "open");
  assert.equal(judgement.open, "shows");
  judgement.choose(shows("yes", 3000));
  assert.equal(judgement.open, null);
  assert.equal(judgement.submit(3500), "done");
  assert.deepEqual(judgement.result, {
    response: "yes-no",
    rt_ms: 2500,
    clicks: [
      { choice: "usable:no", t_ms: 1500, input: "key" },
      { choice: "shows:yes", t_ms: 2000, input: "pointer" },
    ],
  });
});

for (const [first, second] of [["yes", "yes"], ["yes", "no"], ["no", "yes"], ["no", "no"]]) {
  test(`the answers ${first} and ${second} are one response, in the order of the questions`, () => {
    const judgement = begin();
    judgement.choose(usable(second, 1600));
    judgement.choose(shows(first, 1700));
    judgement.submit(1800);
    assert.equal(judgement.result.response, `${first}-${second}`);
  });
}

test("an answer can be changed until the person goes on, and every change is kept", () => {
  const judgement = begin();
  for (const answer of ["yes", "no", "yes"]) judgement.choose(shows(answer, 1500));
  judgement.choose(usable("no", 1600));
  assert.equal(judgement.submit(1700), "done");
  judgement.choose(shows("no", 1800));
  assert.equal(judgement.result.response, "yes-no");
  assert.equal(judgement.result.clicks.length, 4);
});

test("the second press of a double click is no wish to leave the next picture", () => {
  const judgement = begin();
  assert.equal(judgement.submit(1000 + DOUBLE_CLICK_MS - 1), "ignored");
  assert.equal(judgement.submit(1000 + DOUBLE_CLICK_MS), "open");
});

test("who has gone on goes on once", () => {
  const judgement = begin();
  judgement.choose(shows("yes", 1500));
  judgement.choose(usable("yes", 1500));
  assert.equal(judgement.submit(2000), "done");
  assert.equal(judgement.submit(9000), "ignored");
  assert.equal(judgement.result.rt_ms, 1000);
});

test("a stuck key does not fill the record", () => {
  const judgement = begin();
  for (let turn = 0; turn < 1000; turn += 1) judgement.choose(shows(turn % 2 ? "yes" : "no", 1500 + turn));
  judgement.choose(usable("no", 5000));
  judgement.submit(6000);
  assert.equal(judgement.result.clicks.length, 200);
  assert.equal(judgement.result.clicks.at(-1).choice, "usable:no");
});
