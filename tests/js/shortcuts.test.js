import assert from "node:assert/strict";
import { test } from "node:test";

import { Shortcuts } from "../../static/js/console/shortcuts.js";

function stage({ kept = {}, elements = [], control = null } = {}) {
  const storage = {
    getItem: (name) => kept[name] ?? null,
    setItem: (name, value) => {
      kept[name] = value;
    },
  };
  const document = Object.assign(new EventTarget(), {
    querySelectorAll: () => elements,
    querySelector: () => control,
  });
  new Shortcuts({ document, storage }).start();
  return {
    kept,
    press(key, { typing = false, ...more } = {}) {
      const event = Object.assign(new Event("keydown", { cancelable: true }), { key, ...more });
      Object.defineProperty(event, "target", { value: { closest: () => (typing ? {} : null) } });
      document.dispatchEvent(event);
      return event;
    },
  };
}

function button(key, more = {}) {
  const made = { dataset: { key }, clicks: 0, ...more };
  made.click = () => {
    made.clicks += 1;
  };
  return made;
}

test("a letter presses the element that names it, and no other", () => {
  const [next, pay] = [button("j"), button("a")];
  const page = stage({ elements: [next, pay] });
  assert.ok(page.press("j").defaultPrevented);
  assert.deepEqual([next.clicks, pay.clicks], [1, 0]);
  assert.ok(!page.press("z").defaultPrevented);
});

test("nothing happens while somebody types, with Ctrl, or while a key is held down", () => {
  const pay = button("a");
  const page = stage({ elements: [pay] });
  page.press("a", { typing: true });
  page.press("a", { ctrlKey: true });
  page.press("a", { repeat: true });
  assert.equal(pay.clicks, 0);
});

test("a disabled button stays unpressed", () => {
  const pay = button("a", { disabled: true });
  stage({ elements: [pay] }).press("a");
  assert.equal(pay.clicks, 0);
});

test("letters can be switched off, and stay off", () => {
  const control = Object.assign(new EventTarget(), { checked: true });
  const pay = button("a");
  const page = stage({ elements: [pay], control });
  control.checked = false;
  control.dispatchEvent(new Event("change"));
  page.press("a");
  assert.equal(pay.clicks, 0);
  const again = Object.assign(new EventTarget(), { checked: true });
  stage({ kept: page.kept, control: again });
  assert.equal(again.checked, false);
});
