/** Watches what may spoil a trial: the tab hidden, the focus lost, the window changed, nobody there; and where the pointer starts from. */

/** Input of any kind. Touches arrive as pointer events. */
const PRESSES = ["pointerdown", "keydown", "wheel"];

export class Watch {
  #view;
  #clock;
  #isVisible = true;
  #isFocused = true;
  #isResized = false;
  #pointer = null;
  #pointerStart = null;
  #startedAt = 0;
  #choicesAt = null;
  #lostAt = null;
  #inputAt = null;
  #waiting = [];

  /**
   * @param {Window} view
   * @param {() => number} clock same time base as the frame timestamps
   */
  constructor(view, clock) {
    this.#view = view;
    this.#clock = clock;
    view.document.addEventListener("visibilitychange", () => {
      if (this.isInFront) return;
      this.#isVisible = false;
      this.#lostAt ??= this.#clock();
    });
    view.addEventListener("blur", () => {
      this.#isFocused = false;
      this.#lostAt ??= this.#clock();
    });
    // A change of zoom or screen changes the pixel ratio and arrives as a resize too.
    view.addEventListener("resize", () => {
      this.#isResized = true;
    });
    view.addEventListener("pointermove", (event) => {
      // Browsers also report a pointer that lies still while the page changes under it.
      if (this.#pointTo(event)) this.#noteInput();
    }, { passive: true });
    for (const kind of PRESSES) {
      view.addEventListener(kind, (event) => {
        if (kind === "pointerdown") this.#pointTo(event);
        this.#noteInput();
      }, { passive: true, capture: true });
    }
  }

  /** @returns {boolean} whether the pointer is at another place than before */
  #pointTo({ clientX, clientY }) {
    const hasMoved = this.#pointer?.x !== clientX || this.#pointer?.y !== clientY;
    this.#pointer = { x: clientX, y: clientY };
    return hasMoved;
  }

  #noteInput() {
    this.#inputAt = this.#clock();
    for (const tell of this.#waiting.splice(0)) tell();
  }

  /** Whether the page is in front. */
  get isInFront() {
    return this.#view.document.visibilityState === "visible";
  }

  /** Whether a trial may begin: the page is in front and has the keyboard. */
  get isAttended() {
    return this.isInFront && this.#view.document.hasFocus();
  }

  /** When the present trial began. */
  get startedAt() {
    return this.#startedAt;
  }

  /** When the person last moved or pressed anything; null before the first time. */
  get inputAt() {
    return this.#inputAt;
  }

  /** Begins a trial, at its first fixation. @param {number} [at] */
  start(at = this.#clock()) {
    this.#isVisible = this.isInFront;
    this.#isFocused = this.#view.document.hasFocus();
    this.#isResized = false;
    this.#pointerStart = null;
    this.#startedAt = at;
    this.#choicesAt = null;
    this.#lostAt = this.#isVisible && this.#isFocused ? null : at;
  }

  /** The choices appear: a page cannot put the pointer back to the centre, so its way to an answer starts from here. */
  choicesAppear(at = this.#clock()) {
    this.#pointerStart = this.#pointer;
    this.#choicesAt = at;
  }

  /**
   * Waits for the next input of any kind, until this long after the choices of the present trial appeared.
   *
   * @param {number} ms
   * @param {(action: () => void, ms: number) => (() => void)} later
   * @returns {Promise<object>} the columns of the record that say how long the page waited, and for what
   */
  inputWithin(ms, later) {
    const [startedAt, choicesAt] = [this.#startedAt, this.#choicesAt ?? this.#startedAt];
    return new Promise((resolve) => {
      const settle = () => {
        callOff();
        this.#waiting = this.#waiting.filter((one) => one !== settle);
        resolve(this.#inputSince(startedAt, choicesAt));
      };
      const callOff = later(settle, Math.max(0, choicesAt + ms - this.#clock()));
      this.#waiting.push(settle);
    });
  }

  #inputSince(startedAt, choicesAt) {
    return {
      last_input_ms: this.#inputAt && this.#inputAt - startedAt,
      input_watched_ms: choicesAt && this.#clock() - choicesAt,
    };
  }

  /** The columns of the timing record for the time since start(). */
  get seen() {
    return {
      visible_whole_trial: this.#isVisible,
      focused_whole_trial: this.#isFocused,
      focus_lost_ms: this.#lostAt && this.#lostAt - this.#startedAt,
      ...this.#inputSince(this.#startedAt, this.#choicesAt),
      fullscreen: Boolean(this.#view.document.fullscreenElement),
      resized: this.#isResized,
      viewport_width_px: this.#view.innerWidth,
      viewport_height_px: this.#view.innerHeight,
      pointer_start_x_px: this.#pointerStart && this.#pointerStart.x - this.#view.innerWidth / 2,
      pointer_start_y_px: this.#pointerStart && this.#pointerStart.y - this.#view.innerHeight / 2,
    };
  }
}
