/** What comes next in a session. The server owns order and cursor; this only reads them. No DOM. */

/**
 * @param {{state: string, cursor: number, blocks: Array<{index: number, kind: string, task: string, first: number, last: number}>}} session
 * @returns {{kind: "closed"|"complete"|"block", block?: object, from?: number, isResumed?: boolean}}
 */
export function nextStep(session) {
  if (["submitted", "withdrawn", "left", "out-of-time"].includes(session.state)) return { kind: "closed" };
  const block = session.blocks.find(({ last }) => session.cursor <= last);
  if (session.state === "completed" || !block) return { kind: "complete" };
  return { kind: "block", block, from: Math.max(block.first, session.cursor), isResumed: session.cursor > block.first };
}

/** @returns {{number: number, of: number}} which of the blocks of its kind this is, counted from one */
export function blockNumber(session, block) {
  const alike = session.blocks.filter(({ kind, task }) => kind === block.kind && task === block.task);
  return { number: alike.findIndex(({ index }) => index === block.index) + 1, of: alike.length };
}

/**
 * How many answers the server has: all before the cursor, but for rounds of practice or qualification that were not needed.
 *
 * @returns {number|null} null where the cursor may have gone past such a round
 */
export function safeAnswers(session) {
  const first = session.blocks.find((block) => canBePassed(block) && session.blocks.some((other) => other.index > block.index && areAlike(block, other)));
  return !first || session.cursor <= first.last ? session.cursor : null;
}

/** @returns {boolean} whether the block follows one of its kind that was not passed */
export function isRepeated(session, block) {
  return canBePassed(block) && session.blocks.some((other) => other.index < block.index && areAlike(block, other));
}

const canBePassed = ({ kind, needed }) => kind === "qualification" || needed !== undefined;
const areAlike = (block, other) => canBePassed(other) && other.kind === block.kind && other.task === block.task;

/** @returns {number[]} positions of a block still to be answered, given the cursor and answers not yet acknowledged */
export function openPositions(block, cursor, waiting) {
  const start = Math.max(block.first, cursor);
  const kept = new Set(waiting);
  return Array.from({ length: Math.max(0, block.last - start + 1) }, (_, offset) => start + offset).filter((position) => !kept.has(position));
}
