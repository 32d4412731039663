import assert from "node:assert/strict";
import test from "node:test";
import { PictureStore } from "../../static/js/participation/trial/pictures.js";

const passing = () => Object.assign(new Error("no reply"), { mayPass: true });

function make({ faults = {}, sizePx = 224, size = 224, parts = ["0", "mask"], offered = [] } = {}) {
  const requests = [];
  const closed = [];
  const options = [];
  const slept = [];
  const serve = async (name, reply) => {
    requests.push(name);
    const fault = faults[name]?.shift();
    if (fault) throw fault;
    return reply;
  };
  const blobs = (first, last) =>
    Array.from({ length: last - first + 1 }, (_, k) => parts.map((part) => ({ name: `${first + k}/${part}` }))).flat();
  const store = new PictureStore({
    api: {
      pictures: (first, last) => serve(`${first}-${last}`, { blobs: blobs(first, last), options: offered }),
      question: (position) => serve(`${position}/question`, { name: `${position}/question` }),
    },
    createBitmap: async (blob, given) => {
      options.push(given);
      if (faults.decode?.shift()) throw new Error("InvalidStateError");
      return { name: blob.name, width: size, height: size, close: () => closed.push(blob.name) };
    },
    sleep: async (ms) => slept.push(ms),
    sizePx,
    random: () => 1,
  });
  return { store, requests, closed, options, slept };
}

const ONE = { showings: 1, withMask: true };

test("a block is fetched whole, with progress, before anything is shown", async () => {
  const { store, requests } = make();
  const progress = [];
  await store.prefetch([3, 4, 5, 6, 7, 8], ONE, (done, total) => progress.push([done, total]));
  assert.deepEqual(requests, ["3-6", "7-8"]);
  assert.deepEqual(progress.at(0), [0, 12]);
  assert.deepEqual(progress.at(-1), [12, 12]);
  const { stimuli, mask, decodeOk } = store.of(4);
  assert.deepEqual([stimuli.map(({ name }) => name), mask.name, decodeOk], [["4/0"], "4/mask", true]);
});

test("colours are not managed: the canvas gets the numbers of the file", async () => {
  const { store, options } = make();
  await store.prefetch([0], ONE);
  assert.deepEqual(options[0], { colorSpaceConversion: "none", premultiplyAlpha: "none" });
});

test("two showings come in their order, then the mask", async () => {
  const { store } = make({ parts: ["0", "1", "mask"] });
  await store.prefetch([4, 5], { showings: 2, withMask: true });
  assert.deepEqual(store.of(5).stimuli.map(({ name }) => name), ["5/0", "5/1"]);
  assert.equal(store.of(4).mask.name, "4/mask");
});

test("positions that are not neighbours are asked for apart", async () => {
  const { store, requests } = make();
  await store.prefetch([2, 3, 5, 9], ONE);
  assert.deepEqual(requests, ["2-3", "5-5", "9-9"]);
  assert.equal(store.of(4).decodeOk, false);
});

test("a reply with too few pictures is tried again, and never shown in a wrong place", async () => {
  const { store, requests } = make({ parts: ["0"] });
  await assert.rejects(store.prefetch([0, 1], ONE), { type: "undecodable" });
  assert.equal(requests.length, 6);
  assert.equal(store.of(0).decodeOk, false);
});

test("a lost reply and a picture cut off are tried again, with growing pauses", async () => {
  const { store, requests, slept } = make({ faults: { "0-0": [passing(), passing()], decode: [true] }, parts: ["0"] });
  await store.prefetch([0], { showings: 1, withMask: false });
  assert.equal(store.of(0).decodeOk, true);
  assert.equal(requests.length, 4);
  assert.deepEqual(slept, [400, 800, 1600]);
});

test("a refusal is not repeated", async () => {
  const refusal = Object.assign(new Error("lease lost"), { mayPass: false, type: "lease-lost" });
  const { store, requests } = make({ faults: { "0-0": [refusal] } });
  await assert.rejects(store.prefetch([0], { showings: 1, withMask: false }), { type: "lease-lost" });
  assert.deepEqual(requests, ["0-0"]);
});

test("after a failure the next call fetches only what is missing", async () => {
  const faults = { "5-5": Array.from({ length: 6 }, passing) };
  const { store, requests } = make({ faults });
  await assert.rejects(store.prefetch([0, 1, 5], ONE), { message: "no reply" });
  requests.length = 0;
  await store.prefetch([0, 1, 5], ONE);
  assert.deepEqual(requests, ["5-5"]);
});

test("a picture of the wrong size is told, not scaled in silence", async () => {
  const { store } = make({ size: 256 });
  await store.prefetch([0], ONE);
  assert.equal(store.of(0).decodeOk, false);
});

test("answered trials give their memory back", async () => {
  const { store, closed } = make();
  await store.prefetch([0, 1], ONE);
  store.release(0);
  assert.deepEqual(closed.sort(), ["0/0", "0/mask"]);
  assert.equal(store.of(0).decodeOk, false);
  assert.equal(store.of(1).decodeOk, true);
});

test("what is asked of a picture is fetched with it, and is no picture", async () => {
  const { store, requests, options, closed } = make({ parts: ["0"] });
  await store.prefetch([7], { showings: 1, withMask: false, withQuestion: true });
  assert.deepEqual([...requests].sort(), ["7-7", "7/question"]);
  const { stimuli, mask, question, decodeOk } = store.of(7);
  assert.deepEqual([stimuli.length, mask, question.name, decodeOk], [1, null, "7/question", true]);
  assert.equal(options.length, 1, "only the picture is decoded");
  store.release(7);
  assert.deepEqual(closed, ["7/0"]);
});

test("what a trial offers is kept with its pictures, and forgotten with them", async () => {
  const { store } = make({ offered: [[2, 0], null] });
  await store.prefetch([6, 7], ONE);
  assert.deepEqual([store.of(6).options, store.of(7).options], [[2, 0], null]);
  store.release(6);
  assert.equal(store.of(6).options, null);
});
