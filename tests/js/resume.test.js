/** What a browser keeps to go on, and the request of another page. */
import assert from "node:assert/strict";
import test from "node:test";
import { hashFor, keepSecret, requestIn, secretOf } from "../../static/js/participation/trial/resume.js";
import { Storage } from "./support.js";

test("a secret is kept under the server's name, and found again under it alone", () => {
  const storage = new Storage();
  keepSecret(storage, { name: "abc.R-1", secret: "s" });
  assert.equal(secretOf(storage, "abc.R-1"), "s");
  assert.deepEqual([secretOf(storage, "abc"), secretOf(storage, ""), secretOf(storage, undefined)], ["", "", ""]);
});

test("on a shared computer, and in a preview, nothing is kept", () => {
  const storage = new Storage();
  for (const nothing of [null, undefined, { name: "", secret: "s" }, { name: "abc", secret: "" }]) keepSecret(storage, nothing);
  assert.equal(storage.length, 0);
});

test("a full storage does not stop a run", () => {
  keepSecret({ setItem: () => { throw new Error("full"); } }, { name: "abc", secret: "s" });
});

test("a request survives the way through an address; other fragments are none", () => {
  const request = { ask: "a:b-c_d&e=f", name: "abc.R-1" };
  assert.deepEqual(requestIn(`#${hashFor(request)}`), request);
  for (const other of ["", "#", "#WzEsIm4iXQ:1abc:signature", "#resume=", "#%E0%A4%A"]) assert.equal(requestIn(other), null);
});
