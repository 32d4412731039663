import assert from "node:assert/strict";
import test from "node:test";
import { showOwnInstructions } from "../../static/js/participation/trial/own_instructions.js";

/** A page with a place for instructions, and a sentence about the usual questions. */
function page(session) {
  const list = { items: [], replaceChildren: (...items) => { list.items = items.map(({ textContent }) => textContent); } };
  const part = { hidden: true, querySelector: () => list };
  const usual = { hidden: false };
  showOwnInstructions({
    session,
    document: { createElement: () => ({}) },
    screens: { find: () => part, findAll: () => [usual] },
  });
  return { items: list.items, isShown: !part.hidden, saysUsual: !usual.hidden };
}

test("a study's own instructions are shown in their order, as they were written", () => {
  const shown = page({ instructions: ["Look.", "<b>Answer</b> both."], own_words: false });
  assert.deepEqual(shown, { items: ["Look.", "<b>Answer</b> both."], isShown: true, saysUsual: true });
});

test("a study without instructions shows no empty list", () => {
  assert.deepEqual(page({ instructions: [], own_words: false }), { items: [], isShown: false, saysUsual: true });
  assert.deepEqual(page({}), { items: [], isShown: false, saysUsual: true });
});

test("nothing is said of the usual second question where the study asks another", () => {
  assert.equal(page({ instructions: [], own_words: true }).saysUsual, false);
});
