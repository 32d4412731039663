/** What a key means on a grid of choices. No DOM. */

const STEPS = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };

/** Keys that give the answer under the cursor. */
const CONFIRM = new Set(["Enter", " ", "Spacebar"]);

const initial = (choice) => choice.label.trim().charAt(0).toLocaleLowerCase();

/**
 * Keys that answer at once: first letters when no two choices share one, and digits when there are at most nine choices.
 *
 * Sixteen categories share first letters, so there a letter only moves the cursor: a person who presses "c" for "cat" must
 * never find "clock" stored.
 *
 * @param {Array<{name: string, label: string}>} choices
 * @returns {Map<string, number>} key -> index
 */
export function directKeys(choices) {
  const keys = new Map();
  const letters = choices.map(initial);
  if (new Set(letters).size === letters.length) letters.forEach((letter, index) => keys.set(letter, index));
  if (choices.length <= 9) choices.forEach((_, index) => keys.set(String(index + 1), index));
  return keys;
}

/**
 * @param {object} options
 * @param {string} options.key KeyboardEvent.key
 * @param {number|null} options.cursor index under the cursor, null before the first move
 * @param {number} options.columns
 * @param {Array<{name: string, label: string}>} options.choices
 * @returns {{move?: number, answer?: number}|null} null when the key means nothing here
 */
export function readKey({ key, cursor, columns, choices }) {
  if (CONFIRM.has(key)) return cursor === null ? null : { answer: cursor };
  if (STEPS[key]) return { move: step(cursor, STEPS[key], columns, choices.length) };
  const typed = key.toLocaleLowerCase();
  const direct = directKeys(choices).get(typed);
  if (direct !== undefined) return { answer: direct };
  const order = choices.map((_, offset) => ((cursor ?? -1) + 1 + offset) % choices.length);
  const next = order.find((index) => initial(choices[index]) === typed);
  return next === undefined ? null : { move: next };
}

/** The neighbour in a direction; at an edge the cursor stays. The first move lands on the first choice. */
function step(cursor, [rows, cells], columns, count) {
  if (cursor === null) return 0;
  const column = (cursor % columns) + cells;
  const target = cursor + rows * columns + cells;
  return column < 0 || column >= columns || target < 0 || target >= count ? cursor : target;
}
