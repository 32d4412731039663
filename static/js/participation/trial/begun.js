/**
 * Which trial has begun and has no answer yet. Its picture may have been seen, so that neither a reload nor a crash, the back button
 * or a second window may show it again: it is stored as not answered, with a record that says that it was cut off.
 */
import { NO_ANSWER } from "./responses.js";
import { ENGINE_VERSION } from "./trial.js";

export class Begun {
  #storage;
  #key;

  /** @param {{storage: Storage, session: string}} options what outlives a killed browser, and what names the session in its keys */
  constructor({ storage, session }) {
    this.#storage = storage;
    this.#key = `humanexp.begun.${session}`;
  }

  /** @returns {number|null} */
  get position() {
    const kept = this.#storage.getItem(this.#key);
    return /^\d+$/.test(kept ?? "") ? Number(kept) : null;
  }

  /** Before the first frame of a trial: a write in the middle of one could cost a frame. */
  mark(position) {
    try {
      this.#storage.setItem(this.#key, String(position));
    } catch {
      // A full storage: the trial runs all the same, and a reload would show it again.
    }
  }

  clear() {
    this.#storage.removeItem(this.#key);
  }
}

/** What is stored of a trial that was cut off: no answer, and neither seen to its end nor in front throughout. */
export function cutOff(position) {
  return {
    position,
    response: NO_ANSWER,
    rt_ms: null,
    clicks: [],
    timing: { visible_whole_trial: false, focused_whole_trial: false, n_clicks: 0, engine_version: ENGINE_VERSION },
    simulated: false,
  };
}
