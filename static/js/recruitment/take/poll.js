/** Asks again and again, slower while the server is away, at once when the page comes to the front. */

const EVERY_MS = 3_000;
const SLOWEST_MS = 20_000;

export class Poll {
  #ask;
  #later;
  #timer = null;
  #waitMs = EVERY_MS;
  #isRunning = false;
  #isAsking = false;

  /**
   * @param {object} options
   * @param {() => Promise<boolean>} options.ask resolves to false when there is nothing more to ask; may reject
   * @param {{set: (callback: () => void, ms: number) => unknown, clear: (timer: unknown) => void}} options.later
   */
  constructor({ ask, later }) {
    this.#ask = ask;
    this.#later = later;
  }

  start() {
    if (this.#isRunning) return;
    this.#isRunning = true;
    this.now();
  }

  stop() {
    this.#isRunning = false;
    this.#later.clear(this.#timer);
  }

  /** Ask at once, and go on from here. */
  async now() {
    if (!this.#isRunning || this.#isAsking) return;
    this.#later.clear(this.#timer);
    this.#isAsking = true;
    try {
      if ((await this.#ask()) === false) this.stop();
      this.#waitMs = EVERY_MS;
    } catch {
      this.#waitMs = Math.min(SLOWEST_MS, this.#waitMs * 2);
    } finally {
      this.#isAsking = false;
    }
    if (this.#isRunning) this.#timer = this.#later.set(() => this.now(), this.#waitMs);
  }
}
