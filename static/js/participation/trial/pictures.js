/**
 * Pictures of a block, and what is asked of them where that differs from trial to trial: fetched, decoded and kept alive before the
 * block begins, so that no trial waits for network or decoder.
 */
import { patiently } from "./pause.js";

/** No colour management, no premultiplication: the canvas gets the very numbers of the file. */
const BITMAP_OPTIONS = Object.freeze({ colorSpaceConversion: "none", premultiplyAlpha: "none" });

const ATTEMPTS = 6;
const PARALLEL = 2;
/** Trials whose pictures come in one reply; the server allows eight. */
const AT_ONCE = 4;

/** A picture that arrived and does not decode: cut off on its way, most likely. */
export class Undecodable extends Error {
  constructor(cause) {
    super("picture does not decode", { cause });
    this.name = "Undecodable";
    this.type = "undecodable";
    this.mayPass = true;
  }
}

export class PictureStore {
  #api;
  #createBitmap;
  #sleep;
  #random;
  #sizePx;
  #kept = new Map();
  #options = new Map();

  /**
   * @param {object} options
   * @param {object} options.api pictures(first, last) gives blobs, and options of each trial; question(position) an object
   * @param {typeof createImageBitmap} options.createBitmap
   * @param {(ms: number) => Promise<void>} options.sleep
   * @param {number} options.sizePx side that the protocol promises
   * @param {() => number} [options.random]
   */
  constructor({ api, createBitmap, sleep, sizePx, random = Math.random }) {
    this.#api = api;
    this.#createBitmap = createBitmap;
    this.#sleep = sleep;
    this.#random = random;
    this.#sizePx = sizePx;
  }

  /**
   * Gets every picture of these trials; those already here are not fetched again.
   *
   * @param {number[]} positions
   * @param {{showings: number, withMask: boolean, withQuestion?: boolean}} trial
   * @param {(done: number, total: number) => void} [onProgress]
   * @throws the API's error when a picture cannot be had after several attempts; what has arrived is kept for the next call
   */
  async prefetch(positions, { showings, withMask, withQuestion = false }, onProgress = () => {}) {
    const parts = [...Array.from({ length: showings }, (_, showing) => showing), ...(withMask ? ["mask"] : [])];
    const total = positions.length * (parts.length + withQuestion);
    const missing = (part) => positions.filter((position) => !this.#kept.get(position)?.has(part));
    const works = [
      ...stretches(missing(parts[0])).map(([first, last]) => () => this.#fetchPictures(first, last, parts)),
      ...(withQuestion ? missing("question") : []).map((position) => () => this.#fetchQuestion(position)),
    ];
    const done = () => positions.reduce((count, position) => count + (this.#kept.get(position)?.size ?? 0), 0);
    onProgress(done(), total);
    const queue = works.values();
    const work = async () => {
      for (const fetchNext of queue) {
        await patiently(fetchNext, { sleep: this.#sleep, random: this.#random, attempts: ATTEMPTS });
        onProgress(done(), total);
      }
    };
    await Promise.all(Array.from({ length: Math.min(PARALLEL, works.length) }, work));
  }

  /** @returns {{stimuli: ImageBitmap[], mask: ImageBitmap|null, question: object|null, options: number[]|null, decodeOk: boolean}} */
  of(position) {
    const kept = this.#kept.get(position) ?? new Map();
    const stimuli = [...kept.keys()].filter(Number.isInteger).sort((a, b) => a - b).map((showing) => kept.get(showing));
    const isWhole = (bitmap) => bitmap.width === this.#sizePx && bitmap.height === this.#sizePx;
    const [mask, question] = [kept.get("mask") ?? null, kept.get("question") ?? null];
    return { stimuli, mask, question, options: this.#options.get(position) ?? null, decodeOk: stimuli.length > 0 && stimuli.every(isWhole) };
  }

  /** Frees the pictures of an answered trial. */
  release(position) {
    for (const kept of this.#kept.get(position)?.values() ?? []) kept.close?.();
    this.#kept.delete(position);
    this.#options.delete(position);
  }

  async #fetchPictures(first, last, parts) {
    const { blobs, options } = await this.#api.pictures(first, last);
    if (blobs.length !== parts.length * (last - first + 1)) throw new Undecodable(`${blobs.length} pictures for trials ${first}-${last}`);
    const bitmaps = await Promise.all(blobs.map((blob) => this.#decode(blob)));
    for (let position = first; position <= last; position += 1) {
      for (const part of parts) this.#keep(position, part, bitmaps.shift());
      if (options[position - first]) this.#options.set(position, options[position - first]);
    }
  }

  async #fetchQuestion(position) {
    this.#keep(position, "question", await this.#api.question(position));
  }

  async #decode(blob) {
    try {
      return await this.#createBitmap(blob, BITMAP_OPTIONS);
    } catch (error) {
      throw new Undecodable(error);
    }
  }

  #keep(position, part, arrived) {
    if (!this.#kept.has(position)) this.#kept.set(position, new Map());
    this.#kept.get(position).set(part, arrived);
  }
}

/** Consecutive positions, as [first, last], of AT_ONCE at most. */
function stretches(positions) {
  const found = [];
  for (const position of positions) {
    const present = found.at(-1);
    if (present && position === present[1] + 1 && position - present[0] < AT_ONCE) present[1] = position;
    else found.push([position, position]);
  }
  return found;
}
