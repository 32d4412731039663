/**
 * Parts of a page that are asked for anew every few seconds, while somebody can see them.
 *
 *     <div data-live="10" hx-get="..." hx-trigger="live">
 *
 * Nothing is asked while the page is hidden, or while the keyboard is somewhere inside the part: it would lose its place.
 */
export class Live {
  #element;
  #document;
  #everyMs;
  #later;
  #cancel = null;

  /**
   * @param {object} options
   * @param {HTMLElement} options.element data-live holds the seconds
   * @param {Document} options.document
   * @param {(action: () => void, ms: number) => (() => void)} options.later
   */
  constructor({ element, document, later }) {
    this.#element = element;
    this.#document = document;
    this.#everyMs = 1000 * Number(element.dataset.live);
    this.#later = later;
  }

  start() {
    this.#document.addEventListener("visibilitychange", () => {
      if (this.#document.visibilityState === "visible") this.#ask();
      else this.#pause();
    });
    this.#wait();
  }

  #ask() {
    this.#pause();
    if (!this.#element.contains(this.#document.activeElement)) this.#element.dispatchEvent(new Event("live"));
    this.#wait();
  }

  #wait() {
    if (this.#document.visibilityState === "visible") this.#cancel = this.#later(() => this.#ask(), this.#everyMs);
  }

  #pause() {
    this.#cancel?.();
    this.#cancel = null;
  }
}

if (globalThis.document) {
  const later = (action, ms) => {
    const timer = setTimeout(action, ms);
    return () => clearTimeout(timer);
  };
  for (const element of document.querySelectorAll("[data-live]")) new Live({ element, document, later }).start();
}
