// Original and stimulus: side by side, one alone, their difference, or in turn.

/** Two changes of picture a second: well below three flashes, which may hurt. */
export const TURN_MS = 500;

/** One comparison. Time and the wish for less motion come as arguments. */
export class Comparison {
  #stop = null;

  /**
   * @param {{classList: {add: Function, remove: Function}}} element
   * @param {(action: () => void, ms: number) => () => void} repeat  calls again and again; returns how to stop it
   */
  constructor(element, repeat) {
    this.element = element;
    this.repeat = repeat;
    this.mode = "side";
  }

  show(mode) {
    this.#stop?.();
    this.#stop = null;
    this.mode = mode;
    this.#become(mode === "flicker" ? "stimulus" : mode);
    if (mode !== "flicker") return;
    let turn = 0;
    this.#stop = this.repeat(() => this.#become(++turn % 2 ? "original" : "stimulus"), TURN_MS);
  }

  #become(shown) {
    for (const one of ["side", "stimulus", "original", "difference"]) this.element.classList.remove(`is-${one}`);
    this.element.classList.add(`is-${shown}`);
  }
}

const every = (action, ms) => {
  const timer = setInterval(action, ms);
  return () => clearInterval(timer);
};

/** @param {HTMLElement} root  @param {boolean} isCalm  the reader asked for less motion */
export function connect(root, isCalm) {
  const modes = root.querySelector("[data-compare-modes]");
  if (!modes) return;
  const comparison = new Comparison(root, every);
  modes.hidden = false;
  if (isCalm) modes.querySelector("[data-flicker]").hidden = true;
  modes.addEventListener("change", (event) => comparison.show(event.target.value));
}
