/** The line at the edge: how far, and whether everything is saved. Changes nothing on the page while a trial runs. */

export class ProgressLine {
  #screens;
  #root;
  #isHeld = false;
  #outbox = { waiting: 0, isLost: false, failures: 0, acknowledged: 0 };
  #before = null;

  /** @param {import("./screens.js").Screens} screens @param {HTMLElement} root */
  constructor(screens, root) {
    this.#screens = screens;
    this.#root = root;
  }

  /** @param {number} done @param {number} total */
  reach(done, total) {
    this.#write("count", this.#screens.message("progress", { done: done + 1, total }));
    this.#root.style.setProperty("--done", String(total ? done / total : 0));
  }

  /** @param {number|null} count answers that were safe when the page came; null where nobody can tell */
  begin(count) {
    this.#before = count;
    this.saved(this.#outbox);
  }

  /** @param {{waiting: number, isLost: boolean, failures: number, acknowledged: number}} outbox */
  saved(outbox) {
    this.#outbox = outbox;
    if (!this.#isHeld) this.#showSaved();
  }

  hold() {
    this.#isHeld = true;
  }

  release() {
    this.#isHeld = false;
    this.#showSaved();
  }

  #showSaved() {
    const { waiting, isLost, failures, acknowledged } = this.#outbox;
    const state = waiting === 0 && !isLost ? "saved" : isLost || failures > 0 ? "unsaved" : "saving";
    this.#root.dataset.saved = state;
    const safe = this.#before === null ? 0 : this.#before + acknowledged;
    const isLoss = isLost && waiting === 0;
    const message = isLoss ? "lost" : state === "saved" && safe > 1 ? "safe" : state;
    this.#write("saved", this.#screens.message(message, { waiting, safe }));
  }

  #write(part, text) {
    const element = this.#root.querySelector(`[data-part="${part}"]`);
    if (element.textContent !== text) element.textContent = text;
  }
}
