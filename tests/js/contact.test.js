/** A letter names its visit by the session's code, or by the id that the page came with. */
import assert from "node:assert/strict";
import test from "node:test";
import { idOfVisit, quoteIn } from "../../static/js/participation/trial/contact.js";

function pageWith(href) {
  const code = { textContent: "" };
  const quote = { hidden: true, querySelector: () => code };
  const letter = { href, dataset: { letter: "" } };
  const root = { querySelectorAll: (selector) => (selector === "[data-quote]" ? [quote] : [letter]) };
  return { root, quote, code, letter };
}

test("the code is shown and stands in the subject, also when it takes the place of an id", () => {
  const { root, quote, code, letter } = pageWith("mailto:lab@example.org?subject=Noise");
  quoteIn(root, "panel 7&body=x");
  assert.equal(letter.href, "mailto:lab@example.org?subject=Noise%20(panel%207%26body%3Dx)");
  quoteIn(root, "S-AB12");
  assert.equal(letter.href, "mailto:lab@example.org?subject=Noise%20(S-AB12)");
  assert.deepEqual([quote.hidden, code.textContent], [false, "S-AB12"]);
});

test("a preview quotes nothing", () => {
  const { root, quote, letter } = pageWith("mailto:lab@example.org?subject=Noise");
  quoteIn(root, "");
  assert.deepEqual([quote.hidden, letter.href], [true, "mailto:lab@example.org?subject=Noise"]);
});

test("a visit without a session has its submission's id, and a plain link's the person's", () => {
  const page = { isPreview: false, isLink: false, assignmentId: "A-1", workerId: "AWORKER" };
  assert.equal(idOfVisit(page), "A-1");
  assert.equal(idOfVisit({ ...page, assignmentId: "" }), "", "no worker id stands on a recruiter's page");
  assert.equal(idOfVisit({ ...page, assignmentId: "", isLink: true }), "AWORKER");
  assert.equal(idOfVisit({ ...page, isPreview: true }), "");
});
