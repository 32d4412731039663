import assert from "node:assert/strict";
import { test } from "node:test";

import { FigureView, visibleEntries } from "../../static/js/console/figures.js";

const entry = (kind, observer, band = "") => ({ meta: { kind, observer, band } });
const ENTRIES = [entry("band", "people", "95 %"), entry("band", "people", "83 %"), entry("line", "people"), entry("line", "vgg")];
const figure = (key) => ({ key, data: ENTRIES, layout: {}, description: `words about ${key}`, bands: ["95 %", "83 %"] });

function view(load = async (key) => figure(key)) {
  const drawn = [];
  const plotly = { react: async (_, data) => drawn.push(data.map((one) => one.visible)) };
  const element = { label: "", setAttribute: (_, value) => (element.label = value) };
  return { drawn, element, view: new FigureView(element, figure("noise"), plotly, load) };
}

test("only the chosen band and the observers that are switched on are visible", () => {
  const shown = visibleEntries(ENTRIES, { hidden: new Set(["vgg"]), band: "83 %" });
  assert.deepEqual(shown.map((one) => one.visible), [false, true, true, false]);
  assert.equal("visible" in ENTRIES[0], false);
});

test("the first figure is drawn without asking the server", async () => {
  const { drawn, element, view: first } = view(() => assert.fail("asked"));
  await first.show("noise");
  assert.deepEqual(drawn, [[true, false, true, true]]);
  assert.equal(element.label, "words about noise");
});

test("another figure is fetched once and keeps what was switched off", async () => {
  let asked = 0;
  const { drawn, view: one } = view(async (key) => (asked++, figure(key)));
  await one.toggle("vgg", false);
  await one.show("blur");
  await one.show("noise");
  await one.show("blur");
  assert.equal(asked, 1);
  assert.deepEqual(drawn.at(-1), [true, false, true, false]);
});

test("the last choice wins over a slower earlier one", async () => {
  const waiting = {};
  const { element, view: one } = view((key) => new Promise((done) => (waiting[key] = () => done(figure(key)))));
  const slow = one.show("slow");
  const fast = one.show("fast");
  waiting.fast();
  await fast;
  waiting.slow();
  await slow;
  assert.equal(element.label, "words about fast");
});

test("a failed fetch is said and tried again the next time", async () => {
  let asked = 0;
  const { view: one, element } = view(async (key) => {
    if (asked++ === 0) throw new Error("no network");
    return figure(key);
  });
  await assert.rejects(one.show("blur"), /no network/);
  await one.show("blur");
  assert.equal(element.label, "words about blur");
});
