/** Whether anybody is there. A missed trial without any input waits for one; after two in a row the run asks. */
import { NO_ANSWER } from "./responses.js";

/**
 * After so long in a question without any input the page stops waiting for one. The server decides what follows from it; it
 * asks for 10 s, and timers may end a millisecond early.
 */
const WATCHED_MS = 10_020;

/** So many missed trials in a row without any input, and the next one waits. */
const MISSES = 2;

export class Presence {
  #watch;
  #later;
  #misses = 0;
  #quietSince = 0;

  /** @param {{watch: import("./watch.js").Watch, later: (action: () => void, ms: number) => (() => void)}} options */
  constructor({ watch, later }) {
    this.#watch = watch;
    this.#later = later;
  }

  /** Whether the run asks before the next trial. */
  get isInDoubt() {
    return this.#misses >= MISSES;
  }

  /** Somebody has said that they are there. */
  confirm() {
    this.#misses = 0;
  }

  /**
   * Takes in how the trial that has just ended was answered.
   *
   * @param {{response: string, timing: object}} answer
   * @returns {Promise<object>|null} the answer once it is known whether anything was moved or pressed in time; null where it is known
   */
  note(answer) {
    if (answer.response !== NO_ANSWER || this.#hasInputSince(this.#watch.startedAt)) {
      this.#misses = 0;
      return null;
    }
    if (this.#misses === 0 || this.#hasInputSince(this.#quietSince)) {
      this.#quietSince = this.#watch.startedAt;
      this.#misses = 0;
    }
    this.#misses += 1;
    return this.#watch
      .inputWithin(WATCHED_MS, this.#later)
      .then((found) => ({ ...answer, timing: { ...answer.timing, ...found } }));
  }

  #hasInputSince(at) {
    return this.#watch.inputAt !== null && this.#watch.inputAt >= at;
  }
}
