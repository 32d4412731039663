/** The launch form: a study that was found by its title is added to the ids of a field. */
import assert from "node:assert/strict";
import test from "node:test";
import { addFound } from "../../static/js/recruitment/launch.js";

const FOUND = "Pictures · Prolific · 3 May 2026 · 66aa00bb11cc22dd33ee44ff";

function form(ids) {
  const field = { value: ids };
  const search = {
    value: "",
    dataset: { addsTo: "ids" },
    list: { options: [{ value: FOUND }] },
    ownerDocument: { getElementById: (id) => (id === "ids" ? field : null) },
  };
  const types = (text) => {
    search.value = text;
    addFound(search);
    return [field.value, search.value];
  };
  return { types };
}

test("what was found is added once, and the search is empty again", () => {
  const { types } = form("55aa");
  assert.deepEqual(types(FOUND), ["55aa\n66aa00bb11cc22dd33ee44ff", ""]);
  assert.deepEqual(types(FOUND), ["55aa\n66aa00bb11cc22dd33ee44ff", ""]);
});

test("what is still being typed changes nothing", () => {
  const { types } = form("");
  assert.deepEqual(types("Pict"), ["", "Pict"]);
});
