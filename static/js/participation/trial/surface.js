/** The one opaque canvas: whole device pixels, no smoothing, the protocol's grey. Draws only when asked. */

/** Room around picture and fixation mark, in picture pixels. */
const BORDER_PX = 8;

/** Thickness of the fixation mark, in picture pixels. */
const LINE_PX = 2;

/**
 * Sizes in device pixels. One picture pixel covers scale x scale device pixels, scale = floor(dpr) and at least 1, so that nothing
 * is ever resampled; the CSS size follows from the device pixels, not the other way round.
 */
export function geometry({ protocol, dpr }) {
  const scale = Math.max(1, Math.floor(dpr));
  const picturePx = protocol.size_px * scale;
  const room = Math.max(0, Math.ceil((protocol.fixation_px - protocol.size_px) / 2)) + BORDER_PX;
  const canvasPx = (protocol.size_px + 2 * room) * scale;
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
  #protocol;
  #centred;
  #size;
  #dpr;
  #fitted = "";

  /**
   * @param {object} options
   * @param {HTMLCanvasElement} options.canvas
   * @param {{devicePixelRatio: number, innerWidth: number, innerHeight: number}} options.view the window
   * @param {object} options.protocol background, size_px, fixation_shape, fixation_px
   * @param {boolean} [options.centred] place the canvas in the middle of the window, on whole device pixels
   */
  constructor({ canvas, view, protocol, centred = true }) {
    this.#canvas = canvas;
    this.#view = view;
    this.#grey = greyOf(protocol.background);
    this.#protocol = protocol;
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
    const size = geometry({ protocol: this.#protocol, dpr });
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

  /** The geometry columns of the timing record: the side of the shown picture in CSS and in device pixels, and its scale. */
  get shown() {
    return { dpr: this.#dpr, css_px: this.#size.pictureCssPx, canvas_px: this.#size.picturePx, pixel_scale: this.#size.scale };
  }

  clear() {
    this.#context.fillStyle = this.#grey;
    this.#context.fillRect(0, 0, this.#size.canvasPx, this.#size.canvasPx);
  }

  /** A cross, or the outline of a square, in the middle. */
  fixation() {
    this.clear();
    const { scale, canvasPx } = this.#size;
    const side = this.#protocol.fixation_px * scale;
    const line = LINE_PX * scale;
    const from = (extent) => Math.floor((canvasPx - extent) / 2);
    const box = (width, height) => this.#context.fillRect(from(width), from(height), width, height);
    this.#context.fillStyle = "#fff";
    if (this.#protocol.fixation_shape === "cross") {
      box(side, line);
      box(line, side);
      return;
    }
    box(side, side);
    this.#context.fillStyle = this.#grey;
    box(side - 2 * line, side - 2 * line);
  }

  /**
   * @param {CanvasImageSource} bitmap a stimulus or a mask, drawn over the whole picture area
   * @param {number} [contrast] 0..1, about the background
   */
  picture(bitmap, contrast = 1) {
    this.clear();
    const { picturePx, canvasPx } = this.#size;
    const start = Math.floor((canvasPx - picturePx) / 2);
    this.#context.imageSmoothingEnabled = false;
    this.#context.globalAlpha = contrast;
    this.#context.drawImage(bitmap, start, start, picturePx, picturePx);
    this.#context.globalAlpha = 1;
  }
}
