/** Goes through the pages by itself and answers at random, by the same buttons and keys that a person has. */

/** A page that is read stays this long. */
export const READ_MS = 800;

/** A picture to be judged stays this long; the page takes an answer sooner for the second half of a double click. */
export const LOOK_MS = 400;

const TICK_MS = 20;

export class Autopilot {
  #document;
  #clock;
  #later;
  #random;
  #cancel = null;
  #seen = "";
  #since = 0;

  /**
   * @param {object} options
   * @param {Document} options.document
   * @param {() => number} options.clock milliseconds
   * @param {(action: () => void, ms: number) => (() => void)} options.later
   * @param {() => number} [options.random] uniform in [0, 1)
   */
  constructor({ document, clock, later, random = Math.random }) {
    this.#document = document;
    this.#clock = clock;
    this.#later = later;
    this.#random = random;
  }

  start() {
    if (!this.#cancel) this.#tick();
  }

  stop() {
    this.#cancel?.();
    this.#cancel = null;
  }

  #tick() {
    this.#cancel = this.#later(() => this.#tick(), TICK_MS);
    const screen = this.#document.querySelector("[data-screen]:not([hidden])");
    if (!screen || this.#document.querySelector("dialog[open]")) return;
    const page = screen.querySelector("[data-page]:not([hidden]) h1, [data-heading]")?.textContent ?? "";
    const seen = `${screen.dataset.screen} ${page}`;
    const now = this.#clock();
    if (seen !== this.#seen) {
      this.#seen = seen;
      this.#since = now;
    }
    this.#act(screen, now - this.#since);
  }

  #act(screen, lookedMs) {
    const name = screen.dataset.screen;
    if (name === "trial") this.#choose(screen);
    else if (name === "validation") lookedMs >= LOOK_MS && this.#judge(screen);
    else if (lookedMs < READ_MS) return;
    else if (name === "checks") this.#declare(screen);
    else press(screen, "no-card") || press(screen, "no-distance") || press(screen, "no-greys") || press(screen, "next") || press(screen, "start") || press(screen, "continue") || press(screen, "finish") || play(screen);
  }

  /** One press for each grid: what is chosen is marked. */
  #choose(screen) {
    const grid = screen.querySelector("[data-grid]");
    if (!("shown" in grid.dataset) || grid.querySelector("[data-mark]")) return;
    const choices = [...grid.querySelectorAll("[data-choice]")];
    const press = new PointerEvent("pointerdown", { bubbles: true, cancelable: true, isPrimary: true, button: 0 });
    this.#oneOf(choices).dispatchEvent(press);
  }

  #judge(screen) {
    const form = screen.querySelector("form");
    if (form.querySelector("button[data-action=judged]").disabled) return;
    for (const part of form.querySelectorAll("fieldset:not(:disabled)")) this.#oneOf([...part.querySelectorAll("input")]).click();
    this.#since = this.#clock();
    form.requestSubmit();
  }

  #declare(screen) {
    const form = screen.querySelector("form");
    for (const part of form.querySelectorAll("fieldset:not([hidden])")) part.querySelector("input").click();
    this.#since = this.#clock();
    form.requestSubmit();
  }

  #oneOf(elements) {
    return elements[Math.floor(this.#random() * elements.length)];
  }
}

/** The example of the page, which is left once it was played. */
function play(screen) {
  screen.querySelector("[data-page]:not([hidden]) [data-play]:not(:disabled)")?.click();
}

/** @returns {boolean} whether there was such a button to press */
function press(screen, action) {
  const button = [...screen.querySelectorAll(`[data-action="${action}"]`)].find((one) => !one.disabled && !one.closest("[hidden]"));
  button?.click();
  return Boolean(button);
}
