/** Where the run cannot go on, and the page that says why and what to do. */

/** An end that has a page of its own. */
export class Stop extends Error {
  /** @param {string} screen */
  constructor(screen) {
    super(screen);
    this.name = "Stop";
    this.screen = screen;
  }
}

const SCREEN_OF_TYPE = { "lease-lost": "elsewhere", "session-closed": "closed", "no-reply": "offline", "picture-damaged": "damaged" };

/** @param {Error} error @returns {string} the page to show */
export function screenFor(error) {
  if (error instanceof Stop) return error.screen;
  if (SCREEN_OF_TYPE[error.type]) return SCREEN_OF_TYPE[error.type];
  if (error.status === 401) return "moved";
  if (error.mayPass) return "offline";
  return "failed";
}
