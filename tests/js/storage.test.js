import assert from "node:assert/strict";
import test from "node:test";
import { nameOf, openDurableStorage, openStorage } from "../../static/js/participation/trial/storage.js";
import { Storage } from "./support.js";

test("the browser's storage where it works, memory where it is forbidden or full", () => {
  const real = new Storage();
  assert.equal(openStorage(() => real), real);
  const full = new Storage();
  full.isFull = true;
  for (const open of [() => full, () => { throw new Error("SecurityError"); }]) {
    const storage = openStorage(open);
    storage.setItem("a", 1);
    assert.deepEqual([storage.getItem("a"), storage.length, storage.key(0), storage.getItem("b")], ["1", 1, "a", null]);
    storage.removeItem("a");
    assert.equal(storage.length, 0);
  }
});

test("where there is no database the second storage is used", async () => {
  const real = new Storage();
  const broken = { open: () => setTimeout(() => request.onerror(), 1) && request };
  const request = { error: new Error("UnknownError") };
  for (const factory of [() => { throw new Error("SecurityError"); }, () => undefined, () => broken]) {
    assert.equal(await openDurableStorage(factory, () => real), real);
  }
});

test("names of sessions are stable, differ, and do not contain the bearer", () => {
  assert.equal(nameOf("token-1"), nameOf("token-1"));
  assert.equal(new Set(Array.from({ length: 1000 }, (_, index) => nameOf(`eyJwayI6${index}`))).size, 1000);
  assert.match(nameOf("token-1"), /^[0-9a-f]{16}$/);
});
