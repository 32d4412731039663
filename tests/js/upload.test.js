import assert from "node:assert/strict";
import test from "node:test";

import { attachUpload, isTooLarge } from "../../humanexp/static/js/stimuli/upload.js";

function element() {
  const listeners = {};
  return {
    listeners,
    classList: { add: () => {}, remove: () => {} },
    addEventListener: (kind, listener) => {
      listeners[kind] = listener;
    },
  };
}

function form(mostMb) {
  const field = { ...element(), files: [], complaint: "", reportValidity: () => {} };
  field.setCustomValidity = (text) => {
    field.complaint = text;
  };
  const room = element();
  field.closest = () => room;
  const note = { hidden: true };
  const button = { disabled: false };
  const found = { "[data-drop]": field, "[data-sending]": note, "button[type=submit]": button };
  const made = { ...element(), dataset: { mostMb, tooLarge: "too large" }, querySelector: (name) => found[name] };
  attachUpload(made);
  return { made, field, room, note, button };
}

test("a file is too large beyond the limit, in millions of bytes", () => {
  assert.equal(isTooLarge({ size: 1_000_000 }, 1), false);
  assert.equal(isTooLarge({ size: 1_000_001 }, 1), true);
});

test("a chosen archive that is too large is refused before it is sent", () => {
  const { field } = form("2");
  field.files = [{ size: 3_000_000 }];
  field.listeners.change();
  assert.equal(field.complaint, "too large");
  field.files = [{ size: 1_000_000 }];
  field.listeners.change();
  assert.equal(field.complaint, "");
});

test("one dropped archive becomes the field's; several do not", () => {
  const { field, room } = form("2");
  const archive = { size: 5 };
  const drop = (files) => room.listeners.drop({ preventDefault: () => {}, dataTransfer: { files } });
  drop([archive, archive]);
  assert.deepEqual(field.files, []);
  drop([archive]);
  assert.deepEqual(field.files, [archive]);
});

test("sending shows a note and cannot be asked for twice", () => {
  const { made, note, button } = form("2");
  made.listeners.submit();
  assert.equal(note.hidden, false);
  assert.equal(button.disabled, true);
});
