// Fetches the steps of a walk: one request at a time a function, the newest wish first, then the neighbours.

/** How far ahead of the slider steps are fetched, on either side. */
const AHEAD = 2;

export class Walker {
  #kept = new Map();
  #wanted = null;
  #isBusy = false;

  /**
   * @param {number} steps                            the last step
   * @param {(step: number) => Promise<object>} load  fetches one step
   * @param {(step: number, found: object) => void} paint
   * @param {(error: Error) => void} fail
   */
  constructor(steps, load, paint, fail) {
    this.steps = steps;
    this.load = load;
    this.paint = paint;
    this.fail = fail;
  }

  /** Show a step: at once if it is there, else when it has come and is still wanted. */
  show(step) {
    this.#wanted = step;
    if (this.#kept.has(step)) this.paint(step, this.#kept.get(step));
    return this.#work();
  }

  /** The step to fetch next; null when nothing is missing. */
  next() {
    if (this.#wanted === null) return null;
    for (let distance = 0; distance <= AHEAD; distance += 1) {
      for (const step of [this.#wanted + distance, this.#wanted - distance]) {
        if (step >= 0 && step <= this.steps && !this.#kept.has(step)) return step;
      }
    }
    return null;
  }

  async #work() {
    if (this.#isBusy) return;
    this.#isBusy = true;
    try {
      for (let step = this.next(); step !== null; step = this.next()) {
        const found = await this.load(step);
        this.#kept.set(step, found);
        if (step === this.#wanted) this.paint(step, found);
      }
    } catch (error) {
      this.fail(error);
    } finally {
      this.#isBusy = false;
    }
  }
}

/** Fill a sentence with `{name}` in it. */
export function filled(sentence, values) {
  return sentence.replace(/\{(\w+)\}/g, (_, name) => values[name]);
}

/** A number with so many digits and a true minus sign. */
export function shown(value, digits) {
  return value.toFixed(digits).replace("-", "−");
}

/** A parameter: four digits that count, and no trailing zeros. */
export function shortened(value) {
  return String(Number(value.toPrecision(4))).replace("-", "−");
}
