/** The page's panels: one shown at a time, values filled in by name. */
import { quoteIn } from "../../participation/trial/contact.js";
import { tellPayInTime } from "../../participation/trial/deadline.js";
import { tellLeft } from "../../participation/trial/leaving.js";

export class Panels {
  #root;

  constructor(root) {
    this.#root = root;
  }

  /** @returns {ParentNode} */
  get root() {
    return this.#root;
  }

  find(selector) {
    return this.#root.querySelector(selector);
  }

  /** Shows one of the step panels and hides the others; the consent text stays readable beside the start. */
  show(name, { focus = true } = {}) {
    for (const panel of this.#root.querySelectorAll("[data-panel]")) {
      panel.hidden = panel.dataset.panel !== name && !(panel.dataset.panel === "consent" && keepsConsent(name));
    }
    if (focus) this.find(`[data-panel="${name}"]`)?.focus();
  }

  fill(values) {
    for (const [name, text] of Object.entries(values)) {
      for (const element of this.#root.querySelectorAll(`[data-value="${name}"]`)) {
        // the same words again would be read out again
        if (element.textContent !== text) element.textContent = text;
      }
    }
  }

  reveal(name, isShown) {
    const values = this.#root.querySelectorAll(`[data-value="${name}"]`);
    for (const element of values.length ? values : this.#root.querySelectorAll(`[data-action="${name}"]`)) {
      element.hidden = !isShown;
    }
  }

  /** Whether the answers of the person who has left stay. */
  tellLeft(areKept) {
    tellLeft(this.#root, areKept);
  }

  /** What whoever ran out of time is paid. @param {{cursor: number, total: number}} status */
  tellPayInTime(status) {
    tellPayInTime(this.#root, status);
  }

  /** Why somebody does not take part. @param {string} outcome */
  tellDeclined(outcome) {
    for (const part of this.#root.querySelectorAll("[data-declined]")) {
      part.hidden = !part.dataset.declined.split(" ").includes(outcome);
    }
  }

  /** What letters from here quote. */
  quote(id) {
    quoteIn(this.#root, id);
  }

  /** A translated sentence from the page, its {names} replaced. */
  message(name, values = {}) {
    const text = this.find(`template[data-message="${name}"]`)?.innerHTML.trim() ?? "";
    return text.replace(/\{(\w+)\}/g, (whole, key) => String(values[key] ?? whole));
  }
}

function keepsConsent(name) {
  return name === "start" || name === "preview" || name === "refused";
}
