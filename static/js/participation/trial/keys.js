/** What a key means on a grid of choices. No DOM. */

const STEPS = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };

/** Keys that give the answer under the cursor. */
const CONFIRM = new Set(["Enter", " ", "Spacebar"]);

const initial = (choice) => choice.label.trim().charAt(0).toLocaleLowerCase();

/** The number of a digit key, also where digits need Shift: by the place of the key, else by its character. */
function numberOf({ key, code = "" }) {
  const digit = /^(?:Digit|Numpad)([1-9])$/.exec(code)?.[1] ?? (/^[1-9]$/.test(key) ? key : null);
  return digit && Number(digit);
}

/**
 * Two numbers answer, that of the row and that of the column: every choice takes two presses in every language, none has a better
 * place than another. Where there is one row, the column's number answers. Arrows and letters only move: a person who presses "c" for
 * "cat" must never find "clock" stored.
 *
 * @param {object} options
 * @param {string} options.key KeyboardEvent.key
 * @param {string} [options.code] KeyboardEvent.code
 * @param {number|null} options.cursor index under the cursor, null before the first move
 * @param {number|null} options.row the row that was pressed, null before that
 * @param {number} options.columns
 * @param {Array<{name: string, label: string}>} options.choices
 * @returns {{move?: number, row?: number|null, answer?: number}|null} null when the key means nothing here
 */
export function readKey({ key, code, cursor, row, columns, choices }) {
  if (CONFIRM.has(key)) return cursor === null ? null : { answer: cursor };
  if (key === "Backspace") return row === null ? null : { row: null };
  if (STEPS[key]) return { move: step(cursor, STEPS[key], columns, choices.length) };
  const number = numberOf({ key, code });
  if (number !== null) return numbered({ number, row, columns, count: choices.length });
  const typed = key.toLocaleLowerCase();
  const order = choices.map((_, offset) => ((cursor ?? -1) + 1 + offset) % choices.length);
  const next = order.find((index) => initial(choices[index]) === typed);
  return next === undefined ? null : { move: next };
}

function numbered({ number, row, columns, count }) {
  const rows = Math.ceil(count / columns);
  if (rows > 1 && row === null) return number <= rows ? { row: number - 1 } : null;
  const index = (row ?? 0) * columns + number - 1;
  return number <= columns && index < count ? { answer: index } : null;
}

/** The neighbour in a direction; at an edge the cursor stays. The first move lands on the first choice. */
function step(cursor, [rows, cells], columns, count) {
  if (cursor === null) return 0;
  const column = (cursor % columns) + cells;
  const target = cursor + rows * columns + cells;
  return column < 0 || column >= columns || target < 0 || target >= count ? cursor : target;
}
