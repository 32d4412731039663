/** A display, a surface, a storage and a few elements that tests drive by hand: the engine takes all of them as arguments. */

/** Refreshes at a fixed rate; callbacks run when the test says so, with the frame's timestamp. */
export class Display {
  #waiting = [];
  #handovers = [];
  #since = 0;
  constructor({ hz, start = 1000, lagMs = 0.4, handoverMs = 0.6 }) {
    this.intervalMs = 1000 / hz;
    this.ts = start;
    this.usualLagMs = lagMs;
    this.handoverMs = handoverMs;
    this.callbacks = 0;
    this.raf = (callback) => this.#waiting.push(callback);
    this.afterFrame = (callback) => this.#handovers.push(callback);
    this.#since = lagMs;
    this.clock = () => this.ts + this.#since;
  }

  get isIdle() {
    return this.#waiting.length === 0;
  }

  /** One callback, `lagMs` after its frame began; `missed` refreshes passed without one. Then the browser takes the frame. */
  frame(missed = 0, lagMs = this.usualLagMs) {
    this.ts += this.intervalMs * (1 + missed);
    this.#since = lagMs;
    const callbacks = this.#waiting;
    this.#waiting = [];
    this.callbacks += 1;
    for (const callback of callbacks) callback(this.ts);
    this.#since = lagMs + this.handoverMs;
    for (const taken of this.#handovers.splice(0)) taken();
    this.#since = lagMs;
  }

  /** Frames until nothing waits for one. `missedBefore(n)` tells how many refreshes are lost before callback n, `lagOf(n)` its lag. */
  run({ missedBefore = () => 0, lagOf = () => undefined, atMost = 100_000 } = {}) {
    for (let count = 0; !this.isIdle; count += 1) {
      if (count > atMost) throw new Error("the loop never ends");
      this.frame(missedBefore(count), lagOf(count));
    }
  }
}

/** Notes what was drawn in which callback. */
export class Canvas {
  constructor(display) {
    this.display = display;
    this.drawn = [];
    this.shown = { dpr: 1, css_px: 224, canvas_px: 224, pixel_scale: 1 };
  }

  clear() {
    this.#note("clear");
  }

  fixation() {
    this.#note("fixation");
  }

  picture(bitmap, contrast) {
    this.#note(bitmap.name, contrast);
  }

  #note(what, contrast = 1) {
    this.drawn.push({ what, contrast, ts: this.display.ts, callback: this.display.callbacks });
  }

  /** What was on the screen, in order, with the time it stayed. */
  get shownFor() {
    return this.drawn.slice(0, -1).map(({ what, ts }, index) => ({ what, ms: this.drawn[index + 1].ts - ts }));
  }

  of(what) {
    return this.drawn.find((drawing) => drawing.what === what);
  }
}

/** localStorage in memory; can be told to be full. */
export class Storage {
  #kept = new Map();
  isFull = false;

  get length() {
    return this.#kept.size;
  }

  key(index) {
    return [...this.#kept.keys()][index] ?? null;
  }

  getItem(key) {
    return this.#kept.get(key) ?? null;
  }

  setItem(key, value) {
    if (this.isFull) throw new Error("QuotaExceededError");
    this.#kept.set(key, String(value));
  }

  removeItem(key) {
    this.#kept.delete(key);
  }
}

/** Time that passes when the test says so, for anything that waits. */
export class Timers {
  #planned = [];
  now = 0;

  later = (action, ms) => {
    const plan = { action, at: this.now + ms };
    this.#planned.push(plan);
    return () => {
      this.#planned = this.#planned.filter((other) => other !== plan);
    };
  };

  get count() {
    return this.#planned.length;
  }

  async pass(ms) {
    this.now += ms;
    const due = this.#planned.filter(({ at }) => at <= this.now);
    this.#planned = this.#planned.filter(({ at }) => at > this.now);
    for (const { action } of due) action();
    await settled();
  }
}

/** Lets promises that can settle settle. */
export async function settled() {
  for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
}

export const PROTOCOL = Object.freeze({
  name: "vcr",
  background: 0.454,
  size_px: 224,
  fixation_shape: "square",
  fixation_px: 230,
  contrast_ramp: "none",
  fixation_ms: 300,
  stimulus_ms: 200,
  blank_frames: 0,
  mask_ms: 200,
  mask_contrast: 1,
  response_ms: 4000,
  click_policy: "first",
  fixed_response_window: false,
  feedback_ms: 300,
});

export const CATEGORIES = "knife bicycle bear truck airplane clock boat car keyboard oven cat bird elephant chair bottle dog".split(" ");
export const GRID = CATEGORIES.map((name) => ({ name, label: name }));
export const PAIR = [
  { name: "same", label: "Same" },
  { name: "different", label: "Different" },
];

/** As much of the DOM as the grid of choices uses. */
export class Page extends EventTarget {
  activeElement = null;

  createElement(tag) {
    return new Element(this, tag);
  }

  press(key, timeStamp, extra = {}) {
    const event = Object.assign(new Event("keydown", { cancelable: true }), { key, repeat: false, ...extra });
    Object.defineProperty(event, "timeStamp", { value: timeStamp });
    this.dispatchEvent(event);
    return event;
  }
}

class Element extends EventTarget {
  dataset = {};
  properties = new Map();
  style = { setProperty: (name, value) => this.properties.set(name, value) };
  attributes = new Map();
  children = [];
  textContent = "";

  constructor(page, tag) {
    super();
    this.ownerDocument = page;
    this.tagName = tag.toUpperCase();
  }

  append(...children) {
    this.children.push(...children);
  }

  replaceChildren(...children) {
    this.children = children;
  }

  setAttribute(name, value) {
    this.attributes.set(name, value);
  }

  contains(other) {
    return other !== null && (other === this || this.children.some((child) => child.contains?.(other)));
  }

  closest() {
    return this.dataset.choice ? this : null;
  }

  focus() {
    this.ownerDocument.activeElement = this;
  }

  blur() {
    if (this.ownerDocument.activeElement === this) this.ownerDocument.activeElement = null;
  }

  decode() {
    return Promise.resolve();
  }

  /** A press on a child, as it arrives at this element. */
  pointOn(child, timeStamp, extra = {}) {
    const event = Object.assign(new Event("pointerdown", { cancelable: true }), { isPrimary: true, button: 0, ...extra });
    Object.defineProperty(event, "timeStamp", { value: timeStamp });
    Object.defineProperty(event, "target", { value: child });
    this.dispatchEvent(event);
    return event;
  }
}
