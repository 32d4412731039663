import assert from "node:assert/strict";
import test from "node:test";
import { showOwnInstructions } from "../../static/js/participation/trial/own_instructions.js";

/** A page with the places for instructions that are asked for, a sentence about the usual questions, and another one. */
function page(session, places = [""]) {
  const parts = places.map((place) => {
    const list = { items: [], replaceChildren: (...items) => { list.items = items.map(({ textContent }) => textContent); } };
    return { hidden: true, dataset: { instructions: place }, list, querySelector: () => list };
  });
  const questions = { hidden: false };
  const usual = { isGone: false, remove: () => { usual.isGone = true; } };
  const found = { "[data-instructions]": parts, "[data-usual-questions]": [questions], "[data-usual]": [usual] };
  showOwnInstructions({
    session,
    document: { createElement: () => ({}) },
    screens: { findAll: (selector) => found[selector] },
  });
  return {
    items: parts[0].list.items,
    shown: parts.filter(({ hidden }) => !hidden).map(({ dataset }) => dataset.instructions),
    saysQuestions: !questions.hidden,
    explains: !usual.isGone,
  };
}

test("a study's own instructions are shown in their order, as they were written", () => {
  const shown = page({ instructions: ["Look.", "<b>Answer</b> both."], own_words: false });
  assert.deepEqual(shown, { items: ["Look.", "<b>Answer</b> both."], shown: [""], saysQuestions: true, explains: true });
});

test("a study without instructions shows no empty list", () => {
  const nothing = { items: [], shown: [], saysQuestions: true, explains: true };
  assert.deepEqual(page({ instructions: [], own_words: false }), nothing);
  assert.deepEqual(page({}), nothing);
});

test("nothing is said of the usual second question where the study asks another", () => {
  assert.equal(page({ instructions: [], own_words: true }).saysQuestions, false);
});

test("at a picture they are folded away, or shown where the study says so, without the usual explanations", () => {
  const places = ["folded", "shown"];
  const folded = page({ instructions: ["Look."] }, places);
  assert.deepEqual([folded.shown, folded.explains], [["folded"], true]);
  const shown = page({ instructions: ["Look."], instructions_shown: true }, places);
  assert.deepEqual([shown.shown, shown.explains], [["shown"], false]);
});
