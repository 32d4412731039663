/** The pages of the run: one section at a time, texts from the template, focus and announcements for every kind of reader. */

export class Screens {
  #document;
  #current = null;

  /** @param {Document} document */
  constructor(document) {
    this.#document = document;
    document.addEventListener("keydown", (event) => this.#onKey(event));
  }

  /** @returns {string|null} name of the screen that is shown */
  get name() {
    return this.#current?.dataset.screen ?? null;
  }

  /** @param {string} name @param {Record<string, string|number>} [values] for elements marked data-value */
  show(name, values = {}) {
    for (const section of this.#document.querySelectorAll("[data-screen]")) {
      const isShown = section.dataset.screen === name;
      section.hidden = !isShown;
      if (isShown) this.#current = section;
    }
    this.#document.body.dataset.state = name;
    this.fill(values);
    // A screen reader begins at the heading; without one (the trial) the focus stays out of the way.
    this.find("[data-heading]")?.focus({ preventScroll: true });
  }

  /** @param {Record<string, string|number>} values @param {ParentNode} [within] */
  fill(values, within = this.#current) {
    for (const [name, value] of Object.entries(values)) {
      for (const element of within.querySelectorAll(`[data-value="${name}"]`)) element.textContent = String(value);
    }
  }

  /** @returns {HTMLElement|null} an element of the shown screen */
  find(selector) {
    return this.#current?.querySelector(selector) ?? null;
  }

  /** @returns {HTMLElement[]} */
  findAll(selector) {
    return [...(this.#current?.querySelectorAll(selector) ?? [])];
  }

  /** @returns {Promise<string>} resolves with the name of the first of these buttons that is pressed */
  pressed(...actions) {
    const section = this.#current;
    return new Promise((resolve) => {
      const listen = (event) => {
        const button = event.target.closest("[data-action]");
        if (!button || button.disabled || !actions.includes(button.dataset.action)) return;
        section.removeEventListener("click", listen);
        resolve(button.dataset.action);
      };
      section.addEventListener("click", listen);
    });
  }

  /** A sentence of the template with its {names} filled in. */
  message(name, values = {}) {
    const element = this.#document.querySelector(`[data-message="${name}"]`);
    const isOne = element?.dataset.one !== undefined && values[element.dataset.number] === 1;
    const text = (isOne ? element.dataset.one : element?.textContent.trim()) ?? "";
    return text.replace(/\{(\w+)\}/g, (whole, key) => (key in values ? String(values[key]) : whole));
  }

  /** Says a sentence to screen readers. Never during a trial. */
  announce(text) {
    const live = this.#document.querySelector("[data-live]");
    if (live) live.textContent = text;
  }

  /** Enter goes on from anywhere on a page that is only read. */
  #onKey(event) {
    if (event.key !== "Enter" || event.defaultPrevented || event.repeat) return;
    if (event.target.closest?.("button, a, input, select, textarea, summary, dialog")) return;
    const primary = this.findAll("[data-primary]").find((button) => !button.disabled && !button.closest("[hidden]"));
    if (!primary) return;
    event.preventDefault();
    primary.click();
  }
}
