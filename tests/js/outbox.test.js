import assert from "node:assert/strict";
import test from "node:test";
import { Outbox } from "../../static/js/participation/trial/outbox.js";
import { Storage, Timers, settled } from "./support.js";

const passing = Object.assign(new Error("no reply"), { mayPass: true });
const final = (type) => Object.assign(new Error(type), { mayPass: false, type });

/** A server that keeps the first answer to a position and may lose requests or replies. */
class Server {
  stored = new Map();
  received = [];
  faults = [];

  receive = async (response) => {
    this.received.push(response.position);
    const fault = this.faults.shift();
    if (fault === "request lost") throw passing;
    if (fault instanceof Error) throw fault;
    const isNew = !this.stored.has(response.position);
    if (isNew) this.stored.set(response.position, response.response);
    if (fault === "reply lost") throw passing;
    return { position: response.position, cursor: this.stored.size, isNew };
  };
}

function make({ server = new Server(), storage = new Storage(), timers = new Timers(), session = "s1" } = {}) {
  const states = [];
  const outbox = new Outbox({ send: server.receive, storage, session, later: timers.later, random: () => 1, onChange: (state) => states.push(state) });
  return { outbox, server, storage, timers, states };
}

const answer = (position, response = "cat") => ({ position, response });

test("answers are sent in order, one at a time, and forgotten once acknowledged", async () => {
  const { outbox, server, storage, states } = make();
  for (const position of [0, 1, 2]) outbox.add(answer(position));
  assert.equal(storage.length, 3);
  await outbox.drained();
  assert.deepEqual(server.received, [0, 1, 2]);
  assert.equal(storage.length, 0);
  assert.equal(states.at(-1).waiting, 0);
});

test("a lost reply: the answer is sent again and stored once", async () => {
  const { outbox, server, timers } = make();
  server.faults = ["reply lost"];
  outbox.add(answer(0));
  await settled();
  assert.deepEqual(outbox.positions, [0], "not acknowledged is not saved");
  await timers.pass(60_000);
  assert.deepEqual(server.received, [0, 0]);
  assert.deepEqual([...server.stored], [[0, "cat"]]);
  assert.deepEqual(outbox.positions, []);
});

test("back-off doubles, has a ceiling, and a success resets it", async () => {
  const { outbox, server, timers } = make();
  server.faults = Array(8).fill("request lost");
  outbox.add(answer(0));
  await settled();
  const waits = [];
  while (outbox.positions.length > 0) {
    let waited = 0;
    const sent = server.received.length;
    while (server.received.length === sent) {
      await timers.pass(100);
      waited += 100;
    }
    waits.push(waited);
  }
  assert.deepEqual(waits, [400, 800, 1600, 3200, 6400, 12_800, 15_000, 15_000]);
  assert.deepEqual([...server.stored.keys()], [0]);
});

test("nothing overtakes an answer that waits for another attempt", async () => {
  const { outbox, server, timers } = make();
  server.faults = ["request lost"];
  outbox.add(answer(0));
  await settled();
  outbox.add(answer(1));
  await settled();
  assert.deepEqual(server.received, [0]);
  await timers.pass(400);
  await outbox.drained();
  assert.deepEqual(server.received, [0, 0, 1]);
});

test("a reload in the middle: unsent answers are found and sent, a foreign session's are not", async () => {
  const before = make();
  before.server.faults = ["request lost"];
  before.outbox.add(answer(4, "dog"));
  before.outbox.add(answer(5, "bird"));
  await settled();
  const other = make({ storage: before.storage, session: "s2" });
  assert.deepEqual(other.outbox.positions, []);
  const after = make({ storage: before.storage });
  assert.deepEqual(after.outbox.positions, [4, 5]);
  await after.outbox.drained();
  assert.deepEqual([...after.server.stored], [[4, "dog"], [5, "bird"]]);
  assert.equal(before.storage.length, 0);
});

test("a reload after a lost reply: the server's cursor tells that the answer is there", async () => {
  const before = make();
  before.server.faults = ["reply lost"];
  before.outbox.add(answer(0));
  await settled();
  const after = make({ storage: before.storage, server: before.server });
  after.outbox.forgetBefore(1);
  assert.deepEqual(after.outbox.positions, []);
  assert.deepEqual(before.server.received, [0]);
});

test("the first answer to a position stays, whatever is added later", async () => {
  const { outbox, server } = make();
  outbox.hold();
  outbox.add(answer(0, "cat"));
  outbox.add(answer(0, "dog"));
  outbox.release();
  await outbox.drained();
  assert.deepEqual([...server.stored], [[0, "cat"]]);
});

test("while a trial is on the screen nothing is sent", async () => {
  const { outbox, server } = make();
  outbox.hold();
  outbox.add(answer(0));
  await settled();
  assert.deepEqual(server.received, []);
  outbox.release();
  await outbox.drained();
  assert.deepEqual(server.received, [0]);
});

test("a refusal for good stops the sending, keeps the answer and is told to everybody who waits", async () => {
  const { outbox, server, storage, timers } = make();
  server.faults = [final("lease-lost")];
  outbox.add(answer(0));
  const waiting = outbox.acknowledged(0);
  await assert.rejects(waiting, { type: "lease-lost" });
  await assert.rejects(outbox.drained(), { type: "lease-lost" });
  await assert.rejects(outbox.acknowledged(0), { type: "lease-lost" });
  assert.equal(outbox.fault.type, "lease-lost");
  assert.equal(storage.length, 1);
  assert.equal(timers.count, 0, "no further attempt is planned");
});

test("a new window sends what the old one could not: two windows, one answer stored", async () => {
  const old = make();
  old.server.faults = [final("lease-lost")];
  old.outbox.add(answer(0, "cat"));
  await settled();
  const young = make({ storage: old.storage, server: old.server });
  await young.outbox.drained();
  assert.deepEqual([...young.server.stored], [[0, "cat"]]);
});

test("feedback comes with the acknowledgement", async () => {
  const { outbox } = make();
  outbox.add(answer(0));
  assert.equal((await outbox.acknowledged(0)).cursor, 1);
  assert.equal(await outbox.acknowledged(0), null, "already acknowledged");
});

test("the network is back: no need to wait for the next attempt", async () => {
  const { outbox, server } = make();
  server.faults = ["request lost"];
  outbox.add(answer(0));
  await settled();
  outbox.retry();
  await outbox.drained();
  assert.deepEqual([...server.stored.keys()], [0]);
});

test("full storage: answers live in memory and are sent all the same", async () => {
  const { outbox, server, storage } = make();
  storage.isFull = true;
  outbox.add(answer(0));
  assert.equal(outbox.isPersistent, false);
  await outbox.drained();
  assert.deepEqual([...server.stored.keys()], [0]);
});

test("rubbish under our keys is swept away and stops nothing", async () => {
  const storage = new Storage();
  storage.setItem("humanexp.outbox.s1.0", "{not json");
  storage.setItem("humanexp.outbox.s1.1", "{}");
  storage.setItem("humanexp.outbox.s1.2", JSON.stringify(answer(2)));
  const { outbox } = make({ storage });
  assert.deepEqual(outbox.positions, [2]);
  assert.equal(storage.length, 1);
});

test("quiet() waits for what is on its way, not for what will be tried later", async () => {
  const { outbox, server } = make();
  server.faults = ["request lost"];
  outbox.add(answer(0));
  await outbox.quiet();
  assert.deepEqual(server.received, [0]);
  assert.deepEqual(outbox.positions, [0]);
});

test("while a person waits for an answer to be stored, a server that is back is found within three seconds", async () => {
  const timers = new Timers();
  const waits = [];
  const later = (action, ms) => {
    waits.push(ms);
    return timers.later(action, ms);
  };
  const server = new Server();
  server.faults = Array.from({ length: 8 }, () => "request lost");
  const outbox = new Outbox({ send: server.receive, storage: new Storage(), session: "s1", later, random: () => 1 });
  outbox.add(answer(0));
  const stored = outbox.acknowledged(0);
  for (let k = 0; k < 8; k += 1) {
    await settled();
    outbox.retry();
  }
  await stored;
  assert.ok(Math.max(...waits) <= 3_000, String(waits));
  assert.deepEqual(waits, Array(8).fill(400), "the line is back: the count of failures begins anew");
});

/** Time goes by in steps shorter than any wait. */
async function wait(timers, ms) {
  for (let waited = 0; waited < ms; waited += 500) await timers.pass(500);
}

const noReply = Object.assign(new Error("no reply"), { mayPass: true, type: "no-reply" });

test("a lost connection is looked for every two seconds by the first answer, never while a trial is on the screen", async () => {
  const { outbox, server, timers, states } = make();
  server.faults = Array(6).fill(noReply);
  outbox.add(answer(0));
  await settled();
  assert.equal(states.at(-1).isLost, true);
  await wait(timers, 6_000);
  assert.equal(server.received.length, 4, "at 0, 2, 4 and 6 s");
  outbox.hold();
  await wait(timers, 20_000);
  assert.equal(server.received.length, 4);
  outbox.release();
  await wait(timers, 6_000);
  assert.deepEqual(outbox.positions, []);
  assert.equal(states.at(-1).isLost, false);
  await wait(timers, 60_000);
  assert.equal(server.received.length, 7, "and no longer once it is back");
});

test("with nothing to send the page asks for anything, from the browser's word on", async () => {
  const asked = [];
  const faults = [noReply, noReply];
  const states = [];
  const timers = new Timers();
  const outbox = new Outbox({
    send: new Server().receive,
    probe: async () => {
      asked.push(timers.now);
      if (faults.length) throw faults.shift();
    },
    storage: new Storage(),
    session: "s1",
    later: timers.later,
    onChange: (state) => states.push(state),
  });
  await wait(timers, 10_000);
  assert.deepEqual(asked, [], "nothing while nothing is lost");
  outbox.lose();
  assert.equal(states.at(-1).isLost, true);
  await wait(timers, 20_000);
  assert.equal(asked.length, 3);
  assert.equal(states.at(-1).isLost, false);
});

test("an answer whose record is not whole yet keeps its place, and outlives a reload as it is", async () => {
  const { outbox, server, storage } = make();
  let settle;
  outbox.add(answer(0, "na"), new Promise((resolve) => { settle = resolve; }));
  outbox.add(answer(1));
  await settled();
  assert.deepEqual(server.received, [], "in order: neither it nor what follows");
  assert.equal(storage.length, 2);
  outbox.hold();
  settle({ ...answer(0, "na"), timing: { last_input_ms: 5 } });
  await settled();
  assert.equal(JSON.parse(storage.getItem("humanexp.outbox.s1.0")).timing, undefined, "nothing is written during a trial");
  outbox.release();
  await outbox.drained();
  assert.deepEqual(server.received, [0, 1]);
});
