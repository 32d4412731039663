/** Two windows of one browser: the younger one learns of the older one, and only as long as that goes on. */
import assert from "node:assert/strict";
import test from "node:test";
import { OpenWindows } from "../../static/js/participation/trial/windows.js";

/** BroadcastChannel, but at once. */
function browser() {
  const open = [];
  return class {
    constructor(name) {
      this.name = name;
      open.push(this);
    }
    postMessage(data) {
      for (const other of open) if (other !== this && other.name === this.name) other.onmessage({ data });
    }
    close() {
      open.splice(open.indexOf(this), 1);
    }
  };
}

const later = (action) => queueMicrotask(action);

test("the younger of two windows learns of the older one, which hears nothing of itself", async () => {
  const Channel = browser();
  const [older, younger] = [new OpenWindows({ Channel, later }), new OpenWindows({ Channel, later })];
  assert.equal(await older.ask("S-1"), false);
  assert.equal(await younger.ask("S-1"), true);
});

test("a window that has stopped, and one of another session, are no others", async () => {
  const Channel = browser();
  const [stopped, another, younger] = [1, 2, 3].map(() => new OpenWindows({ Channel, later }));
  await stopped.ask("S-1");
  await another.ask("S-2");
  stopped.close();
  stopped.close();
  assert.equal(await younger.ask("S-1"), false);
});

test("a browser without channels tells of no other", async () => {
  const alone = new OpenWindows({ Channel: undefined, later });
  assert.equal(await alone.ask("S-1"), false);
  alone.close();
});
