import assert from "node:assert/strict";
import test from "node:test";
import { ChoiceGrid } from "../../static/js/participation/trial/grid.js";
import { GRID, PAIR, Page } from "./support.js";

async function shown(choices = GRID, clock = () => 2000) {
  const page = new Page();
  const root = page.createElement("div");
  const grid = new ChoiceGrid({ root, clock });
  await grid.fill(choices);
  const answers = [];
  grid.onAnswer = (answer) => {
    answers.push(answer);
    return true;
  };
  grid.show();
  return { page, root, grid, answers, button: (name) => root.children.find((child) => child.dataset.choice === name) };
}

test("buttons stand in the order of the server, out of the tab order, four a row", async () => {
  const { root } = await shown();
  assert.deepEqual(root.children.map((child) => child.dataset.choice), GRID.map(({ name }) => name));
  assert.ok(root.children.every((child) => child.tabIndex === -1));
  assert.equal(root.dataset.columns, "4");
  assert.equal((await shown(PAIR)).root.dataset.columns, "2");
});

test("labels that state their grid keep its columns, and their rows and columns are numbered", async () => {
  const page = new Page();
  const root = page.createElement("div");
  const digits = [..."1234567890"].map((name) => ({ name, label: name }));
  await new ChoiceGrid({ root, clock: () => 2000 }).fill(digits, 3);
  assert.equal(root.dataset.columns, "3");
  assert.deepEqual([...root.properties], [["--columns", "3"], ["--rows", "4"], ["--longest", "1"]]);
  assert.deepEqual(root.children.map((child) => child.dataset.keys), ["1 1", "1 2", "1 3", "2 1", "2 2", "2 3", "3 1", "3 2", "3 3", "4 1"]);
});

test("words without icons, and words too long for the room below one, are laid out as words; two of a row as a pair", async () => {
  const laidOut = async (labels, icon, columns) => {
    const root = new Page().createElement("div");
    await new ChoiceGrid({ root, clock: () => 2000 }).fill(labels.map((label) => ({ name: label, label, icon })), columns);
    return ["words", "pair"].filter((name) => name in root.dataset);
  };
  assert.deepEqual(await laidOut(["cat", "keyboard", "Lastwagen"], "a.svg"), []);
  assert.deepEqual(await laidOut(["cat", "Schlüsselbund", "dog"], "a.svg"), ["words"]);
  assert.deepEqual(await laidOut(["cat", "dog", "cow"]), ["words"]);
  const none = [{ name: "cat", label: "cat", icon: "a.svg" }, { name: "none", label: "none" }];
  const root = new Page().createElement("div");
  await new ChoiceGrid({ root, clock: () => 2000 }).fill(none);
  assert.ok("words" in root.dataset, "a word among icons takes its room");
  assert.deepEqual(await laidOut(["same", "different"]), ["words", "pair"]);
  assert.deepEqual(await laidOut(["same", "different"], undefined, 1), ["words"]);
});

test("a pointer press answers with the event's own time and marks the choice", async () => {
  const { root, answers, button } = await shown();
  const event = root.pointOn(button("cat"), 1995.5);
  assert.deepEqual(answers, [{ choice: "cat", at: 1995.5, input: "pointer" }]);
  assert.equal(button("cat").dataset.mark, "chosen");
  assert.ok(event.defaultPrevented, "the focus stays where it is");
});

test("only the main button of the primary pointer answers", async () => {
  const { root, answers, button } = await shown();
  root.pointOn(button("cat"), 1995, { button: 2 });
  root.pointOn(button("cat"), 1995, { isPrimary: false });
  root.pointOn(root, 1995);
  assert.deepEqual(answers, []);
});

test("event times of another clock are replaced by ours", async () => {
  const { root, answers, button } = await shown();
  root.pointOn(button("cat"), 1_790_000_000_000);
  assert.equal(answers[0].at, 2000);
});

test("the keyboard walks, then answers; a held key answers once", async () => {
  const { page, answers, button } = await shown();
  page.press("ArrowDown", 1990);
  page.press("ArrowDown", 1991);
  assert.equal(page.activeElement, button("airplane"));
  page.press("Enter", 1999, { repeat: true });
  assert.deepEqual(answers, []);
  page.press("Enter", 1999);
  assert.deepEqual(answers, [{ choice: "airplane", at: 1999, input: "key" }]);
});

test("row and column answer; the row shows, is taken back, and does not outlast the trial", async () => {
  const { page, root, grid, answers, button } = await shown();
  assert.equal("keyed" in root.dataset, false, "numbers are shown to those who use the keyboard");
  assert.equal(button("airplane").dataset.keys, "2 1");
  page.press("3", 1980);
  assert.ok("keyed" in root.dataset);
  assert.equal(root.children.filter((child) => "row" in child.dataset).length, 4);
  page.press("3", 1981, { repeat: true });
  page.press("Backspace", 1982);
  assert.equal(root.children.filter((child) => "row" in child.dataset).length, 0);
  page.press("2", 1983);
  page.press("1", 1999);
  assert.deepEqual(answers, [{ choice: "airplane", at: 1999, input: "key" }], "a held key and a row taken back count for nothing");
  page.press("4", 2000);
  grid.hide();
  grid.show();
  page.press("1", 2001);
  assert.equal(answers.length, 1);
});

test("a finger is told from a mouse", async () => {
  const { root, answers, button } = await shown();
  root.pointOn(button("cat"), 1995, { pointerType: "touch" });
  root.pointOn(button("cat"), 1996, { pointerType: "mouse" });
  assert.deepEqual(answers.map(({ input }) => input), ["touch", "pointer"]);
});

test("shortcuts of the browser are left alone", async () => {
  const { page, answers } = await shown(PAIR);
  page.press("s", 1999, { ctrlKey: true });
  assert.equal(page.press("Tab", 1999).defaultPrevented, false);
  assert.deepEqual(answers, []);
});

test("a hidden grid takes no answers, keeps no focus, no marks and no cursor", async () => {
  const { page, root, grid, answers, button } = await shown();
  page.press("ArrowDown", 1990);
  grid.mark("cat", "right");
  grid.hide();
  root.pointOn(button("cat"), 1995);
  page.press("Enter", 1996);
  assert.deepEqual(answers, []);
  assert.equal(page.activeElement, null);
  assert.equal(button("cat").dataset.mark, undefined);
  assert.equal("shown" in root.dataset, false);
  grid.show();
  page.press("Enter", 1997);
  assert.deepEqual(answers, [], "the cursor of the last trial is gone");
});

test("an order of the participant's own: places, arrows and first letters follow it", async () => {
  const own = [...GRID].reverse();
  const { page, root, answers, button } = await shown(own);
  assert.deepEqual(root.children.map((child) => child.dataset.choice), own.map(({ name }) => name));
  page.press("ArrowDown", 1990);
  page.press("ArrowDown", 1991);
  assert.equal(page.activeElement, button(own[4].name));
  page.press("b", 1992);
  const next = own.findIndex(({ name }, index) => index > 4 && name.startsWith("b"));
  assert.equal(page.activeElement, button(own[next].name));
  page.press("Enter", 1999);
  assert.deepEqual(answers, [{ choice: own[next].name, at: 1999, input: "key" }]);
});

test("a changed mind moves the mark", async () => {
  const { root, button } = await shown();
  root.pointOn(button("cat"), 1990);
  root.pointOn(button("dog"), 1995);
  assert.equal(button("cat").dataset.mark, undefined);
  assert.equal(button("dog").dataset.mark, "chosen");
});

test("nothing of the page tells one choice from another but its name, label and icon", async () => {
  const { root } = await shown(GRID.map((choice) => ({ ...choice, icon: `/static/icons/${choice.name}.svg` })));
  for (const button of root.children) assert.deepEqual(Object.keys(button.dataset), ["choice", "keys"]);
});

test("buttons have room for the longest word of all trials, whatever this trial offers", async () => {
  const root = new Page().createElement("div");
  const all = ["cat", "dog", "Schlüsselbund"].map((label) => ({ name: label, label, icon: "a.svg" }));
  const grid = new ChoiceGrid({ root, clock: () => 2000 });
  await grid.fill([all[1], all[0]], undefined, all);
  assert.deepEqual([...root.properties], [["--columns", "2"], ["--rows", "1"], ["--longest", "13"]]);
  assert.deepEqual(["words" in root.dataset, "pair" in root.dataset], [true, true]);
  assert.deepEqual(root.children.map((child) => [child.dataset.choice, child.dataset.keys]), [["dog", "1"], ["cat", "2"]]);
});
