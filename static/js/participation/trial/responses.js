/** The response window: which click counts, when the window ends, what the reaction time is. No DOM. */

/** The answer of a person who gave none in time; a response of its own. */
export const NO_ANSWER = "na";

/** More clicks than this in one trial are a stuck key; the first ones and the latest are kept. */
export const MOST_CLICKS = 200;

export class ResponseWindow {
  #lastCounts;
  #isFixed;
  #windowMs;
  #openedAt = null;
  #clicks = [];
  #isClosed = false;

  /**
   * @param {object} options
   * @param {"first"|"last"} options.policy which click is the answer
   * @param {number|null} options.windowMs no answer after this long; null waits for ever
   * @param {boolean} options.fixed the window never ends early
   */
  constructor({ policy, windowMs, fixed }) {
    this.#windowMs = windowMs ?? Number.POSITIVE_INFINITY;
    this.#lastCounts = policy === "last";
    // A last click is only known when the window is over; without an end the first click has to do.
    this.#isFixed = Number.isFinite(this.#windowMs) && (fixed || this.#lastCounts);
  }

  /** @param {number} ts timestamp of the frame that showed the choices */
  open(ts) {
    this.#openedAt = ts;
  }

  get isOpen() {
    return this.#openedAt !== null && !this.#isClosed;
  }

  /**
   * A click or key.
   *
   * @param {{choice: string, at: number, input: "pointer"|"touch"|"key"}} answer `at` is the event's own time, not the handler's
   * @returns {boolean} whether it was taken; presses before the choices were visible or after the window are not answers
   */
  answer({ choice, at, input }) {
    if (!this.isOpen) return false;
    const tMs = at - this.#openedAt;
    if (tMs < 0 || tMs > this.#windowMs) return false;
    if (this.#clicks.length === MOST_CLICKS) this.#clicks.pop();
    this.#clicks.push({ choice, t_ms: tMs, input });
    if (!this.#isFixed) this.#isClosed = true;
    return true;
  }

  /** @param {number} ts one animation frame @returns {boolean} true while the window is open */
  frame(ts) {
    if (this.isOpen && ts - this.#openedAt >= this.#windowMs) this.#isClosed = true;
    return this.isOpen;
  }

  get result() {
    const counted = this.#lastCounts ? this.#clicks.at(-1) : this.#clicks[0];
    return { response: counted?.choice ?? NO_ANSWER, rt_ms: counted?.t_ms ?? null, clicks: this.#clicks.map((click) => ({ ...click })) };
  }
}
