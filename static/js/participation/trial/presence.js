/** Whether anybody is there. A missed trial without any input waits for one; after three misses in a row the run asks. */
import { NO_ANSWER } from "./responses.js";

/**
 * After so long in a question without any input the page stops waiting for one. The server decides what follows from it; it
 * asks for 10 s, and timers may end a millisecond early.
 */
const WATCHED_MS = 10_020;

/**
 * After so many missed trials in a row the next one waits, if nothing was moved or pressed since the first of them ended. Whoever
 * leaves during a trial misses that one, too, so nobody is away for more trials than this; and three in a row are far rarer than
 * two among people who are there and often miss without moving anything (`benchmarks/absence.py`).
 */
const MISSES = 3;

export class Presence {
  #watch;
  #later;
  #misses = 0;
  #inputAt = null;

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
    const { inputAt, startedAt } = this.#watch;
    const wasThere = inputAt !== this.#inputAt;
    this.#inputAt = inputAt;
    if (answer.response !== NO_ANSWER) {
      this.#misses = 0;
      return null;
    }
    this.#misses = wasThere ? 1 : this.#misses + 1;
    if (inputAt !== null && inputAt >= startedAt) return null;
    return this.#watch
      .inputWithin(WATCHED_MS, this.#later)
      .then((found) => ({ ...answer, timing: { ...answer.timing, ...found } }));
  }
}
