import assert from "node:assert/strict";
import test from "node:test";
import { frameTaken } from "../../static/js/participation/trial/handover.js";

/** Delivers when the test says so. */
class Channel {
  constructor() {
    Channel.latest = this;
    this.sent = 0;
    this.port1 = { onmessage: null };
    this.port2 = { postMessage: () => { this.sent += 1; } };
  }

  deliver() {
    this.port1.onmessage({ data: null });
  }
}

test("each callback is called once, in order, when its message arrives and not before", () => {
  const afterFrame = frameTaken(Channel);
  const called = [];
  afterFrame(() => called.push("first"));
  afterFrame(() => called.push("second"));
  assert.equal(Channel.latest.sent, 2);
  assert.deepEqual(called, []);
  Channel.latest.deliver();
  assert.deepEqual(called, ["first"]);
  Channel.latest.deliver();
  assert.deepEqual(called, ["first", "second"]);
});

test("a real message comes after the microtasks of its task", async () => {
  let channel;
  const afterFrame = frameTaken(class extends MessageChannel {
    constructor() {
      super();
      channel = this;
    }
  });
  const order = [];
  try {
    await new Promise((resolve) => {
      // How soon is the event loop's choice: a browser delivers before timers, Node on a busy machine after some.
      afterFrame(() => resolve(order.push("taken")));
      Promise.resolve().then(() => order.push("promise"));
    });
    assert.deepEqual(order, ["promise", "taken"]);
  } finally {
    // An open port keeps Node alive: a failure here must not hang the run.
    channel.port1.close();
  }
});
