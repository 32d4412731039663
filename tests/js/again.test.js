/** One press lets another page go on; without the secret, or the press, nothing is sent. */
import assert from "node:assert/strict";
import test from "node:test";
import { askAgain } from "../../static/js/participation/trial/again.js";
import { Refusal } from "../../static/js/participation/trial/api.js";
import { requestIn } from "../../static/js/participation/trial/resume.js";
import { Stop } from "../../static/js/participation/trial/stop.js";
import { Storage } from "./support.js";

const REQUEST = { ask: "ask", name: "abc.R-1" };

function make({ answer = "again-yes", reply = { token: "bearer" }, secret = "s" } = {}) {
  const calls = [], shown = [];
  const secrets = new Storage();
  if (secret) secrets.setItem("humanexp.resume.abc.R-1", secret);
  const confirm = async (what) => {
    calls.push(what);
    if (reply instanceof Error) throw reply;
    return reply;
  };
  const links = [{ hash: "" }];
  const document = { querySelectorAll: (selector) => (selector === "[data-languages] a" ? links : []) };
  const screens = { show: (name) => shown.push(name), pressed: async () => answer };
  return { run: { document, secrets, screens, api: { confirm }, sleep: async () => {} }, calls, shown, links };
}

const stops = (screen) => (error) => error instanceof Stop && error.screen === screen;

test("yes sends the request and the secret, and nothing else; this window goes on", async () => {
  const { run, calls, shown } = make();
  assert.equal(await askAgain(run, REQUEST), "bearer");
  assert.deepEqual(calls, [{ ask: "ask", secret: "s" }]);
  assert.equal(shown[0], "again");
});

test("links to other languages carry the request", async () => {
  const { run, links } = make();
  await askAgain(run, REQUEST);
  assert.deepEqual(requestIn(links[0].hash), REQUEST);
});

test("no sends nothing", async () => {
  const { run, calls } = make({ answer: "again-no" });
  await assert.rejects(askAgain(run, REQUEST), stops("again-declined"));
  assert.deepEqual(calls, []);
});

test("a browser that did not begin it is told where it goes on, and is asked nothing", async () => {
  const { run, calls, shown } = make({ secret: "" });
  await assert.rejects(askAgain(run, REQUEST), stops("again-elsewhere"));
  assert.deepEqual([calls, shown], [[], []]);
});

test("a request that is too old is told so", async () => {
  const { run } = make({ reply: new Refusal({ status: 401, type: "token-refused" }) });
  await assert.rejects(askAgain(run, REQUEST), stops("again-over"));
});
