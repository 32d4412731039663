import assert from "node:assert/strict";
import test from "node:test";

import { filesBelow, filesOf, packed } from "../../static/js/stimuli/folder.js";

const file = (name) => new File([`content of ${name}`], name);
const leaf = (path) => ({
  isFile: true,
  fullPath: path,
  file: (resolve) => resolve(file(path.split("/").at(-1))),
});

/** As browsers do: at most so many entries a call. */
function folder(entries, atOnce) {
  const left = [...entries];
  return { isFile: false, createReader: () => ({ readEntries: (resolve) => resolve(left.splice(0, atOnce)) }) };
}

test("a dropped folder is read to its end, with the folders in it", async () => {
  const cats = Array.from({ length: 5 }, (_, n) => leaf(`/mine/cat/${n}.png`));
  const found = await filesBelow(folder([folder(cats, 2), leaf("/mine/notes.txt")], 1));
  assert.deepEqual(
    found.map((one) => one.path),
    ["mine/cat/0.png", "mine/cat/1.png", "mine/cat/2.png", "mine/cat/3.png", "mine/cat/4.png", "mine/notes.txt"],
  );
});

test("files of a folder field keep their path", () => {
  const one = Object.assign(file("0.png"), { webkitRelativePath: "mine/dog/0.png" });
  assert.deepEqual(filesOf([one]), [{ path: "mine/dog/0.png", file: one }]);
});

test("an archive has a local header for each file, their contents, and says how far it is", async () => {
  const steps = [];
  const files = ["mine/cat/ä.png", "mine/dog/b.png"].map((path) => ({ path, file: file(path) }));
  const archive = await packed(files, "mine", (done) => steps.push(done));
  const bytes = Buffer.from(await archive.arrayBuffer());
  assert.deepEqual([archive.name, steps], ["mine.zip", [1, 2]]);
  assert.equal(bytes.toString("latin1").split("PK\x03\x04").length, 3);
  assert.ok(files.every(({ path }) => bytes.includes(path) && bytes.includes(`content of ${path}`)));
});
