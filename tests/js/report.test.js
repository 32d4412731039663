/** A report of trouble names its session by what is behind the # of its link. */
import assert from "node:assert/strict";
import test from "node:test";
import { idsForReport, readReport, tieReports } from "../../humanexp/static/js/participation/trial/report.js";

test("every link to the form gets the proof, and a preview's has none", () => {
  const links = [{ hash: "" }, { hash: "" }];
  const root = { querySelectorAll: (selector) => (selector === "[data-report]" ? links : []) };
  tieReports(root, "proof");
  assert.deepEqual(links, [{ hash: "proof" }, { hash: "proof" }]);
  tieReports(root, undefined);
  assert.deepEqual(links, [{ hash: "" }, { hash: "" }]);
});

test("without a session the form hears for whom the page was opened", () => {
  const hash = idsForReport({ workerId: "panel 7&x", assignmentId: "A-1" });
  assert.deepEqual(readReport(hash), { person: "panel 7&x", submission: "A-1" });
  assert.equal(idsForReport({ workerId: "", assignmentId: "" }), "");
  assert.deepEqual(readReport("WzFd:1:signed"), { proof: "WzFd:1:signed" });
});
