/**
 * One letter presses a button or follows a link, as long as nothing is being typed.
 *
 *     <a data-key="j" href="...">Next</a>
 *     <label><input type="checkbox" data-keys-switch checked> Letters are keys on this page</label>
 *
 * Single letters get in the way of voice control: the switch turns them off, and this browser remembers it.
 */
const KEPT = "humanexp.shortcuts";
const TYPED_IN = "input:not([type=checkbox], [type=radio], [type=submit], [type=button]), textarea, select";

export class Shortcuts {
  #document;
  #storage;

  /**
   * @param {object} options
   * @param {Document} options.document
   * @param {Storage} options.storage
   */
  constructor({ document, storage }) {
    this.#document = document;
    this.#storage = storage;
  }

  get isOn() {
    return this.#storage.getItem(KEPT) !== "off";
  }

  start() {
    this.#document.addEventListener("keydown", (event) => this.#press(event));
    const control = this.#document.querySelector("[data-keys-switch]");
    if (!control) return;
    control.checked = this.isOn;
    control.addEventListener("change", () => this.#storage.setItem(KEPT, control.checked ? "on" : "off"));
  }

  #press(event) {
    if (!this.isOn || event.altKey || event.ctrlKey || event.metaKey || event.repeat || event.defaultPrevented) return;
    if (event.target.closest?.(TYPED_IN)) return;
    const element = [...this.#document.querySelectorAll("[data-key]")].find(({ dataset }) => dataset.key === event.key);
    if (!element || element.disabled) return;
    event.preventDefault();
    element.click();
  }
}

if (globalThis.document) new Shortcuts({ document, storage: localStorage }).start();
