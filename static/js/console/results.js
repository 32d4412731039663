// The results rooms: connects switches, legend and panels with the charts.

import { addressOfShown } from "./downloads.js";
import { FigureView } from "./figures.js";
import { readingsAt } from "./readings.js";
import { makeSortable } from "./sorting.js";

async function fetched(template, key, kind) {
  const response = await fetch(template.replace("KEY", encodeURIComponent(key)), { headers: { Accept: kind } });
  if (!response.ok) throw new Error(`the figure could not be loaded (${response.status})`);
  return response;
}

const read = (id) => JSON.parse(document.getElementById(id).textContent);

/** The card with the curves. */
class Curves {
  constructor(root) {
    this.root = root;
    this.element = root.querySelector("[data-chart]");
    this.said = root.querySelector("[data-chart-said]");
    const first = read(this.element.dataset.chart);
    this.figures = new Map([[first.key, first]]);
    this.parts = new Map();
    this.view = new FigureView(this.element, first, window.Plotly, (key) => this.load(key));
  }

  async load(key) {
    const figure = await (await fetched(this.element.dataset.source, key, "application/json")).json();
    this.figures.set(key, figure);
    return figure;
  }

  async start() {
    this.root.addEventListener("change", (event) => this.changed(event.target));
    this.root.addEventListener("input", (event) => event.target.name === "v" && this.tell());
    await this.attempt(this.view.show(this.view.key));
    this.tell();
    this.element.setAttribute("data-drawn", "");
  }

  async changed({ name, value, checked }) {
    if (name === "figure") await this.attempt(this.exchange(value));
    else if (name === "band") await this.attempt(this.view.useBand(value));
    else if (name === "observer") await this.attempt(this.view.toggle(value, checked));
    else return;
    this.tell();
  }

  /** Show another figure with all that is said about it; the series that were switched off stay off. */
  async exchange(key) {
    const address = new URL(window.location.href);
    address.searchParams.set("figure", key);
    window.history.replaceState(null, "", address);
    if (!this.parts.has(key)) this.parts.set(key, fetched(this.element.dataset.parts, key, "text/html").then((answer) => answer.text()));
    try {
      const [text] = await Promise.all([this.parts.get(key), this.view.show(key)]);
      if (this.view.key !== key) return;
      const page = new DOMParser().parseFromString(text, "text/html");
      const place = this.root.querySelector("input[name=v]")?.value;
      for (const part of this.root.querySelectorAll("[data-part]")) {
        part.replaceChildren(...page.querySelector(`[data-part="${part.dataset.part}"]`).childNodes);
      }
      const input = this.root.querySelector("input[name=v]");
      if (place && input) input.value = place;
      for (const box of this.root.querySelectorAll("input[name=observer]")) box.checked = !this.view.hidden.has(box.value);
    } catch (error) {
      this.parts.delete(key);
      throw error;
    }
  }

  /** Numbers beside the legend, and addresses of files, follow what is shown. */
  tell() {
    const { key, band, hidden } = this.view;
    const input = this.root.querySelector("input[name=v]");
    const v = Number(input?.value);
    if (input && input.value !== "" && v >= 0 && v <= 1) {
      const readings = readingsAt(this.figures.get(key)?.data ?? [], v, band);
      for (const output of this.root.querySelectorAll("[data-reading]")) {
        const reading = readings.get(output.dataset.reading);
        if (!reading) continue;
        const ends = document.createElement("span");
        ends.className = "interval";
        ends.textContent = reading.band ? `${reading.band[0].toFixed(3)}–${reading.band[1].toFixed(3)}` : "";
        output.replaceChildren(`${reading.estimate.toFixed(3)} `, ends);
      }
      const words = this.root.querySelector("[data-read-band]");
      if (words) words.textContent = band ? words.dataset.with.replace("BAND", band) : words.dataset.without;
    }
    const observers = [...this.root.querySelectorAll("input[name=observer]")].map((box) => box.value);
    for (const link of this.root.querySelectorAll("a[data-download]")) {
      link.href = addressOfShown(link.href, { observers, hidden, band });
    }
  }

  async attempt(drawing) {
    try {
      await drawing;
      this.said.textContent = "";
    } catch (error) {
      this.said.textContent = `${this.said.dataset.failed} ${error.message}`;
    }
  }
}

/** Cards with one chart each, on the page or swapped into it. */
async function dress(part) {
  for (const table of part.querySelectorAll("table[data-sortable]")) makeSortable(table);
  for (const element of part.querySelectorAll("[data-plot]:not([data-drawn])")) {
    const said = element.closest("section").querySelector("[data-chart-said]");
    try {
      const { data, layout } = read(element.dataset.plot);
      // A figure with names down the side is as high as its rows, on paper too.
      if (layout.height) element.style.height = `${layout.height}px`;
      await window.Plotly.react(element, data, layout, { responsive: true, displayModeBar: false });
      element.setAttribute("data-drawn", "");
    } catch (error) {
      said.textContent = `${said.dataset.failed} ${error.message}`;
    }
  }
}

/** Paper is narrower than most windows: a drawing is scaled to the width that it gets there. */
function scaleForPaper() {
  for (const box of document.querySelectorAll("[data-drawn] .svg-container")) {
    const { clientWidth: width, clientHeight: height } = box;
    box.style.aspectRatio = `${width} / ${height}`;
    for (const drawing of box.querySelectorAll(".main-svg")) drawing.setAttribute("viewBox", `0 0 ${width} ${height}`);
  }
}

function scaleForScreen() {
  for (const box of document.querySelectorAll("[data-drawn] .svg-container")) {
    box.style.aspectRatio = "";
    for (const drawing of box.querySelectorAll(".main-svg")) drawing.removeAttribute("viewBox");
  }
}

window.addEventListener("beforeprint", scaleForPaper);
window.addEventListener("afterprint", scaleForScreen);
for (const root of document.querySelectorAll("[data-figure-root]")) new Curves(root).start();
dress(document);
document.body.addEventListener("htmx:afterSwap", (event) => dress(event.detail.elt.parentElement ?? document));

// A job that was started here has ended: show what it made.
document.body.addEventListener("jobFinished", ({ detail }) => {
  if (detail.state !== "done") return;
  const page = document.querySelector("[data-results]");
  window.location.assign(`${page.dataset.results}?job=${detail.job}`);
});
