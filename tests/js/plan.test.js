import assert from "node:assert/strict";
import test from "node:test";
import { blockNumber, isRepeated, nextStep, openPositions, safeAnswers } from "../../static/js/participation/trial/plan.js";

const BLOCKS = [
  { index: 0, kind: "practice", task: "categorisation", first: 0, last: 9 },
  { index: 1, kind: "main", task: "categorisation", first: 10, last: 39 },
  { index: 2, kind: "main", task: "categorisation", first: 40, last: 69 },
  { index: 3, kind: "main", task: "discrimination", first: 70, last: 79 },
];
const session = (cursor, state = "open") => ({ state, cursor, total: 80, blocks: BLOCKS });

test("a fresh session begins with its first block", () => {
  assert.deepEqual(nextStep(session(0)), { kind: "block", block: BLOCKS[0], from: 0, isResumed: false });
});

test("a cursor inside a block resumes there", () => {
  assert.deepEqual(nextStep(session(25)), { kind: "block", block: BLOCKS[1], from: 25, isResumed: true });
  assert.deepEqual(nextStep(session(40)), { kind: "block", block: BLOCKS[2], from: 40, isResumed: false });
});

test("all answered, or completed already: the end can be asked for again", () => {
  assert.equal(nextStep(session(80)).kind, "complete");
  assert.equal(nextStep(session(80, "completed")).kind, "complete");
});

test("submitted and withdrawn sessions are closed", () => {
  assert.equal(nextStep(session(80, "submitted")).kind, "closed");
  for (const state of ["withdrawn", "left", "out-of-time"]) assert.equal(nextStep(session(3, state)).kind, "closed");
});

test("blocks are counted among their like", () => {
  assert.deepEqual(blockNumber(session(0), BLOCKS[2]), { number: 2, of: 2 });
  assert.deepEqual(blockNumber(session(0), BLOCKS[3]), { number: 1, of: 1 });
});

test("answers that wait to be sent are not asked for again", () => {
  assert.deepEqual(openPositions(BLOCKS[0], 6, [7, 8]), [6, 9]);
  assert.deepEqual(openPositions(BLOCKS[1], 3, []).length, 30);
  assert.deepEqual(openPositions(BLOCKS[0], 10, []), []);
});

test("answers are counted as safe where no try of a qualification may have been skipped", () => {
  assert.equal(safeAnswers(session(25)), 25);
  const tries = [0, 1].map((index) => ({ index, kind: "qualification", task: "categorisation", first: 16 * index, last: 16 * index + 15 }));
  const blocks = [...tries, { index: 2, kind: "main", task: "categorisation", first: 32, last: 60 }];
  assert.equal(safeAnswers({ cursor: 15, blocks }), 15);
  assert.equal(safeAnswers({ cursor: 40, blocks }), null);
});

test("rounds of practice that can be passed are told apart by task, and may be skipped like tries", () => {
  const practice = (index, task, more) => ({ index, kind: "practice", task, first: 4 * index, last: 4 * index + 3, ...more });
  const blocks = [
    practice(0, "categorisation", { is_slow: true }),
    practice(1, "categorisation", { needed: 3 }),
    practice(2, "categorisation", { needed: 3 }),
    practice(3, "abx", { needed: 3 }),
  ];
  assert.deepEqual(
    blocks.map((block) => isRepeated({ blocks }, block)),
    [false, false, true, false],
  );
  assert.equal(safeAnswers({ cursor: 7, blocks }), 7);
  assert.equal(safeAnswers({ cursor: 12, blocks }), null);
});
