import assert from "node:assert/strict";
import test from "node:test";
import { ProgressLine } from "../../static/js/participation/trial/progress.js";

function make() {
  const parts = { count: { textContent: "" }, saved: { textContent: "" } };
  const properties = {};
  const root = {
    dataset: {},
    style: { setProperty: (name, value) => { properties[name] = value; } },
    querySelector: (selector) => parts[selector.includes("count") ? "count" : "saved"],
  };
  const texts = { progress: "{done} of {total}", saved: "all saved", safe: "{safe} saved", saving: "saving", unsaved: "{waiting} kept" };
  const message = (name, values = {}) => texts[name].replace(/\{(\w+)\}/g, (_, key) => values[key]);
  return { line: new ProgressLine({ message }, root), parts, properties, root };
}

test("the trial under way counts, the bar shows what is answered", () => {
  const { line, parts, properties } = make();
  line.reach(22, 60);
  assert.equal(parts.count.textContent, "23 of 60");
  assert.equal(properties["--done"], String(22 / 60));
});

test("saved, saving and kept here are told apart", () => {
  const { line, parts, root } = make();
  const say = (waiting, failures) => {
    line.saved({ waiting, failures });
    return [parts.saved.textContent, root.dataset.saved];
  };
  assert.deepEqual(say(0, 0), ["all saved", "saved"]);
  assert.deepEqual(say(1, 0), ["saving", "saving"]);
  assert.deepEqual(say(3, 2), ["3 kept", "unsaved"]);
});

test("how many answers are safe is said where it is known", () => {
  const { line, parts } = make();
  line.begin(5);
  assert.equal(parts.saved.textContent, "5 saved");
  line.saved({ waiting: 1, failures: 0, acknowledged: 2 });
  assert.equal(parts.saved.textContent, "saving");
  line.saved({ waiting: 0, failures: 0, acknowledged: 3 });
  assert.equal(parts.saved.textContent, "8 saved");
  line.begin(null);
  assert.equal(parts.saved.textContent, "all saved");
});

test("while a trial runs the page does not change; afterwards it catches up", () => {
  const { line, parts } = make();
  line.saved({ waiting: 1, failures: 0 });
  line.hold();
  line.saved({ waiting: 0, failures: 0 });
  assert.equal(parts.saved.textContent, "saving");
  line.release();
  assert.equal(parts.saved.textContent, "all saved");
});
