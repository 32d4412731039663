import assert from "node:assert/strict";
import test from "node:test";

import { attachUpload, areTooLarge } from "../../static/js/stimuli/upload.js";

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

function form(mostMb, more = {}) {
  const field = { ...element(), files: [], complaint: "", reportValidity: () => {} };
  field.setCustomValidity = (text) => {
    field.complaint = text;
  };
  const room = element();
  field.closest = () => room;
  const note = { hidden: true };
  const button = { disabled: false };
  const found = { "[data-drop]": field, "[data-sending]": note, "button[type=submit]": button, ...more };
  const made = { ...element(), dataset: { mostMb, tooLarge: "too large" }, querySelector: (name) => found[name] };
  attachUpload(made);
  return { made, field, room, note, button };
}

test("a file is too large beyond the limit, in millions of bytes", () => {
  assert.equal(areTooLarge(1, { size: 1_000_000 }), false);
  assert.equal(areTooLarge(1, { size: 1_000_001 }), true);
  assert.equal(areTooLarge(1, { size: 600_000 }, { size: 600_000 }), true);
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

/** A form that takes folders, in a browser that lets scripts fill a field. */
function formOfFolders(mostMb) {
  globalThis.DataTransfer = class {
    files = [];
    items = { add: (file) => this.files.push(file) };
  };
  const folder = { ...element(), files: [] };
  const packing = { hidden: true, textContent: "", dataset: { packing: "{done} of {all}", unreadable: "unreadable" } };
  return { ...form(mostMb, { "[data-folder]": folder, "[data-packing]": packing }), folder, packing };
}

const until = async (holds) => {
  for (let looks = 0; !holds(); looks += 1) {
    assert.ok(looks < 1000, "it never happened");
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
};
const inFolder = (name, size = 4) =>
  Object.assign(new File(["x".repeat(size)], name), { webkitRelativePath: `mine/cat/${name}` });

test("a chosen folder becomes the archive of the field, and nothing is sent meanwhile", async () => {
  const { field, folder, packing, button } = formOfFolders("2");
  folder.files = [inFolder("0.png"), inFolder("1.png")];
  folder.listeners.change();
  await until(() => field.files.length);
  assert.deepEqual([field.files[0].name, packing.textContent, packing.hidden], ["mine.zip", "2 of 2", false]);
  await until(() => !button.disabled);
});

test("a dropped folder is read and packed; a dropped file stays what it is", async () => {
  const { field, room } = formOfFolders("2");
  const leaf = { isFile: true, fullPath: "/mine/cat/0.png", file: (resolve) => resolve(inFolder("0.png")) };
  const left = [leaf];
  const directory = {
    isDirectory: true,
    createReader: () => ({ readEntries: (resolve) => resolve(left.splice(0)) }),
  };
  const drop = (entry, files) =>
    room.listeners.drop({
      preventDefault: () => {},
      dataTransfer: { files, items: [{ webkitGetAsEntry: () => entry }] },
    });
  drop(directory, [{ size: 0 }]);
  await until(() => field.files.length);
  assert.equal(field.files[0].name, "mine.zip");
  const archive = { size: 5 };
  drop({ isDirectory: false }, [archive]);
  assert.deepEqual(field.files, [archive]);
});

test("a folder that is too large is refused before it is read", async () => {
  const { field, folder, packing } = formOfFolders("1");
  folder.files = [Object.assign(inFolder("0.png"), { arrayBuffer: () => assert.fail("was read") })];
  Object.defineProperty(folder.files[0], "size", { value: 2e6 });
  folder.listeners.change();
  await until(() => field.complaint);
  assert.deepEqual([field.complaint, field.files, packing.hidden], ["too large", [], true]);
});

test("a folder with a file that cannot be read says so, and the form can be sent", async () => {
  const { field, folder, packing, button } = formOfFolders("1");
  folder.files = [Object.assign(inFolder("0.png"), { arrayBuffer: () => Promise.reject(new Error("gone")) })];
  folder.listeners.change();
  await until(() => packing.textContent === "unreadable");
  assert.deepEqual([field.files, button.disabled], [[], false]);
});
