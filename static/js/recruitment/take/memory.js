/**
 * What the entry page remembers: in its tab the bearer of the session; in the browser, read only, what the study's window
 * keeps, and, of a study with several recruiters, a note that it was begun here.
 */
import { keyOfEntry, secretOf } from "../../participation/trial/resume.js";

export class Memory {
  #tab;
  #browser;
  #key;
  #entry;

  /** Whether a reload finds again what was kept. Browsers that keep other sites' frames from storing anything say no. */
  isLasting;

  /**
   * @param {object} options
   * @param {Storage} options.tab sessionStorage, or a stand-in
   * @param {Storage} options.browser localStorage, or a stand-in
   * @param {string} options.entry
   * @param {boolean} [options.isLasting] false when `tab` is a stand-in
   */
  constructor({ tab, browser, entry, isLasting = true }) {
    this.isLasting = isLasting;
    this.#tab = tab;
    this.#browser = browser;
    this.#key = keyOfEntry(entry);
    this.#entry = entry;
  }

  /**
   * What was kept for this page, or null. An address without ids is a reload of the page after they were taken out of it,
   * or the way back to it; any other address speaks for itself.
   */
  recall(page, ids) {
    const kept = read(this.#tab, this.#key);
    if (!kept) return null;
    if (page.isLink) return ids === "" || kept.resumeName === page.resumeName ? kept : null;
    return kept.assignmentId === page.assignmentId || (ids === "" && page.isPreview) ? kept : null;
  }

  /**
   * Keeps for whom the page was opened until something is begun: the ids have left the address, and a reload must not make
   * another person of them. A page without ids gets those that were kept.
   */
  named(page) {
    const { workerId, assignmentId, resumeName, showsCode } = page;
    if (workerId) this.#tab.setItem(`${this.#key}.for`, JSON.stringify({ workerId, assignmentId, resumeName, showsCode }));
    else Object.assign(page, read(this.#tab, `${this.#key}.for`));
  }

  forgetName() {
    this.#tab.removeItem(`${this.#key}.for`);
  }

  keep(session) {
    this.#tab.setItem(this.#key, JSON.stringify(session));
  }

  forget() {
    this.#tab.removeItem(this.#key);
  }

  /** Whether the study was begun in this browser by way of another recruiter. @param {string} name of the note */
  isNoted(name) {
    const kept = name && this.#browser.getItem(name);
    return Boolean(kept) && kept !== this.#entry;
  }

  note(name) {
    if (name && !this.#browser.getItem(name)) this.#browser.setItem(name, this.#entry);
  }

  /** The secret that the study's window has kept where this page can read it, too. */
  secret(name) {
    return secretOf(this.#browser, name);
  }
}

function read(storage, key) {
  try {
    return JSON.parse(storage.getItem(key) ?? "null");
  } catch {
    return null;
  }
}
