/** Whoever recruited the person takes the work until a time: what still fits before it, and when the person is told. */
import { end } from "./leaving.js";

/** So long before it a round is over: its answers have to arrive, and the person has to go back. The server's is the same. */
const SPARE_MS = 3 * 60_000;

/** So long before it the person is told, once. */
const TOLD_MS = 10 * 60_000;

export class Deadline {
  #now;
  #at = null;
  #isTold = false;

  /** @param {() => number} now milliseconds of a clock that goes on while the computer sleeps */
  constructor(now) {
    this.#now = now;
  }

  /** Takes in what is left by the server's clock: the person's own may be wrong. @param {{due_in_s: number|null}} session */
  note({ due_in_s: left }) {
    this.#at = left === null ? null : this.#now() + left * 1000;
  }

  /** @returns {Date|null} when it is, on the person's clock; null where there is none */
  get at() {
    return this.#at === null ? null : new Date(this.#at);
  }

  get isOver() {
    return this.#at !== null && this.#at <= this.#now();
  }

  /** @param {number} seconds of a round @returns {boolean} whether it would be over in time */
  holds(seconds) {
    return this.#at === null || this.#now() + seconds * 1000 + SPARE_MS <= this.#at;
  }

  /** @returns {boolean} true once, when little time is left */
  isDueToTell() {
    if (this.#isTold || this.#at === null || this.isOver || this.#at - this.#now() > TOLD_MS) return false;
    this.#isTold = true;
    return true;
  }
}

/** Tells once that little time is left; resolves when it was read. @returns {Promise<boolean>} whether anything was shown */
export async function tellOfDeadline({ deadline, screens, document }) {
  if (!deadline.isDueToTell()) return false;
  screens.show("deadline", { time: timeOf(deadline.at, document) });
  await screens.pressed("continue");
  return true;
}

/**
 * No further round fits: what was done stays, and the person goes back in time. Resolves once they have read it. The
 * session ends before that: whoever closes the page unread is paid, too.
 */
export async function endInTime(run) {
  const { deadline, screens, document } = run;
  if ((await end(run, { keep: true, reason: "time" })) !== "out-of-time") return;
  tellPayInTime(document, run.session);
  screens.show(deadline.isOver ? "time-over" : "time-short", { time: timeOf(deadline.at, document) });
  await screens.pressed("finish");
}

/**
 * Says what they are paid whose time has ended: of whoever has done less than half, a person decides it. The server's rule
 * is the same.
 *
 * @param {ParentNode} root @param {{cursor: number, total: number}} session
 */
export function tellPayInTime(root, { cursor, total }) {
  const done = 2 * cursor < total ? "little" : "most";
  for (const part of root.querySelectorAll("[data-in-time]")) part.hidden = part.dataset.inTime !== done;
}

/** @param {Date} at @returns {string} on a clock of the page's language */
export function timeOf(at, document) {
  return at.toLocaleTimeString(document.documentElement.lang, { hour: "2-digit", minute: "2-digit" });
}
