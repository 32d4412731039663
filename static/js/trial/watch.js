/** Watches what may spoil a trial: the tab hidden, the focus lost, the window or its pixel ratio changed. */

export class Watch {
  #view;
  #isVisible = true;
  #isFocused = true;
  #isResized = false;

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
  }

  /** The columns of the timing record for the time since start(). */
  get seen() {
    return {
      visible_whole_trial: this.#isVisible,
      focused_whole_trial: this.#isFocused,
      fullscreen: Boolean(this.#view.document.fullscreenElement),
      resized: this.#isResized,
    };
  }
}
