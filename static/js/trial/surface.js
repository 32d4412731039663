/** The one opaque canvas: whole device pixels, no smoothing, the protocol's grey. Draws only when asked. */

/** The fixation square is this much wider than the picture (Geirhos et al. 2018: 262 px around 256 px, 230 px around 224 px). */
export const FIXATION_MARGIN_PX = 6;

/** Room around the fixation square, in picture pixels. */
const BORDER_PX = 8;

/**
 * Sizes in device pixels. One picture pixel covers scale x scale device pixels, scale = floor(dpr) and at least 1, so that nothing
 * is ever resampled; the CSS size follows from the device pixels, not the other way round.
 */
export function geometry({ sizePx, dpr }) {
  const scale = Math.max(1, Math.floor(dpr));
  const picturePx = sizePx * scale;
  const canvasPx = (sizePx + FIXATION_MARGIN_PX + 2 * BORDER_PX) * scale;
  return { scale, picturePx, canvasPx, pictureCssPx: picturePx / dpr, canvasCssPx: canvasPx / dpr };
}

/** @param {number} background 0..1 @returns {string} the 8-bit grey that canvas and page share */
export function greyOf(background) {
  const level = Math.round(Math.min(1, Math.max(0, background)) * 255);
  return `rgb(${level}, ${level}, ${level})`;
}

export class Surface {
  #canvas;
  #context;
  #view;
  #grey;
  #sizePx;
  #centred;
  #size;
  #dpr;
  #fitted = "";

  /**
   * @param {object} options
   * @param {HTMLCanvasElement} options.canvas
   * @param {{devicePixelRatio: number, innerWidth: number, innerHeight: number}} options.view the window
   * @param {number} options.sizePx side of a picture
   * @param {number} options.background 0..1
   * @param {boolean} [options.centred] place the canvas in the middle of the window, on whole device pixels
   */
  constructor({ canvas, view, sizePx, background, centred = true }) {
    this.#canvas = canvas;
    this.#view = view;
    this.#grey = greyOf(background);
    this.#sizePx = sizePx;
    // Opaque and synchronised with the display; desynchronized would give up vsync.
    this.#context = canvas.getContext("2d", { alpha: false });
    this.#centred = centred;
    this.fit();
  }

  /** Sizes and places the canvas for the window as it is now, if that has changed. Between trials only: it lays out. */
  fit() {
    const dpr = this.#view.devicePixelRatio || 1;
    const state = `${dpr} ${this.#view.innerWidth} ${this.#view.innerHeight}`;
    if (state === this.#fitted) return;
    this.#fitted = state;
    const size = geometry({ sizePx: this.#sizePx, dpr });
    this.#dpr = dpr;
    this.#size = size;
    this.#canvas.width = size.canvasPx;
    this.#canvas.height = size.canvasPx;
    this.#canvas.style.width = `${size.canvasCssPx}px`;
    this.#canvas.style.height = `${size.canvasCssPx}px`;
    if (this.#centred) {
      const place = (extent) => `${Math.floor((extent * dpr - size.canvasPx) / 2) / dpr}px`;
      this.#canvas.style.left = place(this.#view.innerWidth);
      this.#canvas.style.top = place(this.#view.innerHeight);
    }
    this.clear();
  }

  /** The geometry columns of the timing record: the side of the shown picture in CSS and in device pixels. */
  get shown() {
    return { dpr: this.#dpr, css_px: this.#size.pictureCssPx, canvas_px: this.#size.picturePx };
  }

  clear() {
    this.#context.fillStyle = this.#grey;
    this.#context.fillRect(0, 0, this.#size.canvasPx, this.#size.canvasPx);
  }

  fixation() {
    this.clear();
    const { scale, canvasPx } = this.#size;
    const side = (this.#sizePx + FIXATION_MARGIN_PX) * scale;
    const line = 2 * scale;
    const start = Math.floor((canvasPx - side) / 2);
    this.#context.fillStyle = "#fff";
    this.#context.fillRect(start, start, side, side);
    this.#context.fillStyle = this.#grey;
    this.#context.fillRect(start + line, start + line, side - 2 * line, side - 2 * line);
  }

  /** @param {CanvasImageSource} bitmap a stimulus or a mask, drawn over the whole picture area */
  picture(bitmap) {
    this.clear();
    const { picturePx, canvasPx } = this.#size;
    const start = Math.floor((canvasPx - picturePx) / 2);
    this.#context.imageSmoothingEnabled = false;
    this.#context.drawImage(bitmap, start, start, picturePx, picturePx);
  }
}
