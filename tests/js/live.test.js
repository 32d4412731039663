import assert from "node:assert/strict";
import { test } from "node:test";

import { Live } from "../../static/js/console/live.js";

function stage() {
  const document = Object.assign(new EventTarget(), { visibilityState: "visible", activeElement: "elsewhere" });
  const element = Object.assign(new EventTarget(), { dataset: { live: "10" }, contains: (other) => other === "inside" });
  let waiting = null;
  const later = (action, ms) => {
    waiting = { action, ms };
    return () => {
      waiting = null;
    };
  };
  let asked = 0;
  element.addEventListener("live", () => {
    asked += 1;
  });
  new Live({ element, document, later }).start();
  return {
    document,
    get asked() {
      return asked;
    },
    get waiting() {
      return waiting;
    },
    turn(state) {
      document.visibilityState = state;
      document.dispatchEvent(new Event("visibilitychange"));
    },
  };
}

test("asks every so many seconds", () => {
  const page = stage();
  assert.equal(page.waiting.ms, 10_000);
  page.waiting.action();
  page.waiting.action();
  assert.equal(page.asked, 2);
});

test("asks nothing while the page is hidden, and at once when it is seen again", () => {
  const page = stage();
  page.turn("hidden");
  assert.equal(page.waiting, null);
  page.turn("visible");
  assert.equal(page.asked, 1);
  assert.equal(page.waiting.ms, 10_000);
});

test("waits while the keyboard is inside", () => {
  const page = stage();
  page.document.activeElement = "inside";
  page.waiting.action();
  assert.equal(page.asked, 0);
  page.document.activeElement = "elsewhere";
  page.waiting.action();
  assert.equal(page.asked, 1);
});
