/** Watches what may spoil a trial: the tab hidden, the focus lost, the window changed; and where the pointer starts from. */

export class Watch {
  #view;
  #isVisible = true;
  #isFocused = true;
  #isResized = false;
  #pointer = null;
  #pointerStart = null;

  /** @param {Window} view */
  constructor(view) {
    this.#view = view;
    view.document.addEventListener("visibilitychange", () => {
      if (!this.isInFront) this.#isVisible = false;
    });
    view.addEventListener("blur", () => {
      this.#isFocused = false;
    });
    // A change of zoom or screen changes the pixel ratio and arrives as a resize too.
    view.addEventListener("resize", () => {
      this.#isResized = true;
    });
    for (const kind of ["pointermove", "pointerdown"]) {
      view.addEventListener(kind, (event) => {
        this.#pointer = { x: event.clientX, y: event.clientY };
      }, { passive: true });
    }
  }

  /** Whether the page is in front. */
  get isInFront() {
    return this.#view.document.visibilityState === "visible";
  }

  /** Whether a trial may begin: the page is in front and has the keyboard. */
  get isAttended() {
    return this.isInFront && this.#view.document.hasFocus();
  }

  /** Begins a trial. */
  start() {
    this.#isVisible = this.isInFront;
    this.#isFocused = this.#view.document.hasFocus();
    this.#isResized = false;
    this.#pointerStart = null;
  }

  /** The choices appear: a page cannot put the pointer back to the centre, so its way to an answer starts from here. */
  choicesAppear() {
    this.#pointerStart = this.#pointer;
  }

  /** The columns of the timing record for the time since start(). */
  get seen() {
    return {
      visible_whole_trial: this.#isVisible,
      focused_whole_trial: this.#isFocused,
      fullscreen: Boolean(this.#view.document.fullscreenElement),
      resized: this.#isResized,
      viewport_width_px: this.#view.innerWidth,
      viewport_height_px: this.#view.innerHeight,
      pointer_start_x_px: this.#pointerStart && this.#pointerStart.x - this.#view.innerWidth / 2,
      pointer_start_y_px: this.#pointerStart && this.#pointerStart.y - this.#view.innerHeight / 2,
    };
  }
}
