/** A report of trouble names its session by what is behind the # of its link. */
import assert from "node:assert/strict";
import test from "node:test";
import { tieReports } from "../../humanexp/static/js/participation/trial/report.js";

test("every link to the form gets the proof, and a preview's has none", () => {
  const links = [{ hash: "" }, { hash: "" }];
  const root = { querySelectorAll: (selector) => (selector === "[data-report]" ? links : []) };
  tieReports(root, "proof");
  assert.deepEqual(links, [{ hash: "proof" }, { hash: "proof" }]);
  tieReports(root, undefined);
  assert.deepEqual(links, [{ hash: "" }, { hash: "" }]);
});
