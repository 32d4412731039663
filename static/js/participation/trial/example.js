/** The worked example: drawings and noise made on the spot, played by the same engine with the same timing as a trial. */
import { Sequence } from "./sequence.js";

/** A small seeded generator (xorshift32): the example looks the same every time. */
function generator(seed) {
  let state = seed | 0 || 1;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 2 ** 32;
  };
}

function blank(document, sizePx, grey) {
  const canvas = document.createElement("canvas");
  canvas.width = sizePx;
  canvas.height = sizePx;
  const context = canvas.getContext("2d", { willReadFrequently: true });
  context.fillStyle = `rgb(${grey}, ${grey}, ${grey})`;
  context.fillRect(0, 0, sizePx, sizePx);
  return { canvas, context };
}

function changePixels({ canvas, context }, change) {
  const pixels = context.getImageData(0, 0, canvas.width, canvas.height);
  for (let at = 0; at < pixels.data.length; at += 4) {
    const level = change(pixels.data[at], at / 4);
    pixels.data[at] = level;
    pixels.data[at + 1] = level;
    pixels.data[at + 2] = level;
  }
  context.putImageData(pixels, 0, 0);
  return canvas;
}

/** What a choice shows: its icon, or its word. @param {{label: string, icon?: string}} choice */
export function pictureOf(document, { label, icon }) {
  const image = document.createElement("img");
  if (icon) {
    image.src = icon;
    return image;
  }
  const { canvas, context } = blank(document, 240, 205);
  context.fillStyle = "rgb(30, 30, 30)";
  context.font = `600 ${Math.min(180, Math.floor(380 / label.length))}px sans-serif`;
  context.textAlign = "center";
  context.textBaseline = "middle";
  context.fillText(label, 120, 120);
  image.src = canvas.toDataURL();
  return image;
}

/** A drawing on a light ground. @param {HTMLImageElement} icon decoded */
export function drawing(document, sizePx, icon) {
  const sheet = blank(document, sizePx, 205);
  const side = Math.round(sizePx * 0.72);
  const start = Math.round((sizePx - side) / 2);
  if (icon.naturalWidth > 0) sheet.context.drawImage(icon, start, start, side, side);
  return sheet;
}

/** The drawing with speckles. */
export function speckled(document, sizePx, icon, seed) {
  const random = generator(seed);
  return changePixels(drawing(document, sizePx, icon), (level) => level + (random() - 0.5) * 150);
}

/** The drawing in coarse squares. */
export function coarse(document, sizePx, icon) {
  const small = blank(document, Math.round(sizePx / 14), 205);
  small.context.drawImage(drawing(document, sizePx, icon).canvas, 0, 0, small.canvas.width, small.canvas.height);
  const sheet = blank(document, sizePx, 205);
  sheet.context.imageSmoothingEnabled = false;
  sheet.context.drawImage(small.canvas, 0, 0, sizePx, sizePx);
  return sheet.canvas;
}

/** Noise with coarse and fine structure, as the masks of the study have it: interpolated lattices, each half as wide as the last. */
export function noise(document, sizePx, seed) {
  const random = generator(seed);
  const octaves = [64, 32, 16, 8, 4, 2, 1].map((cell) => {
    const across = Math.ceil(sizePx / cell) + 2;
    return { cell, across, levels: Float32Array.from({ length: across * across }, () => random() - 0.5) };
  });
  return changePixels(blank(document, sizePx, 128), (_, pixel) => {
    const x = pixel % sizePx;
    const y = (pixel / sizePx) | 0;
    return 128 + 120 * octaves.reduce((sum, octave) => sum + interpolated(octave, x, y), 0);
  });
}

function interpolated({ cell, across, levels }, x, y) {
  const column = (x / cell) | 0;
  const row = (y / cell) | 0;
  const right = x / cell - column;
  const down = y / cell - row;
  const at = row * across + column;
  const upper = levels[at] * (1 - right) + levels[at + 1] * right;
  const lower = levels[at + across] * (1 - right) + levels[at + across + 1] * right;
  return upper * (1 - down) + lower * down;
}

/**
 * Plays showings once.
 *
 * @param {object} options as for Sequence, and raf
 * @returns {Promise<void>}
 */
export function play({ showings, protocol, refreshMs, surface, clock, raf }) {
  const sequence = new Sequence({ showings, protocol, refreshMs, surface, clock });
  return new Promise((resolve) => {
    const onFrame = (ts) => {
      if (sequence.frame(ts)) raf(onFrame);
      else resolve();
    };
    raf(onFrame);
  });
}

/** The protocol at a slower pace, for the first look. */
export function slowed(protocol, factor) {
  return {
    ...protocol,
    fixation_ms: protocol.fixation_ms * factor,
    stimulus_ms: protocol.stimulus_ms * factor,
    blank_frames: protocol.blank_frames * factor,
    mask_ms: protocol.mask_ms * factor,
  };
}
