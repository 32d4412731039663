/**
 * What can be asked of a participant. A task is one module here and a value in humanexp/studies/tasks.py; its
 * page of instructions is templates/participation/run/_instructions_<name>.html. docs/tasks.md says what else knows of it.
 *
 * @typedef {object} Task
 * @property {string} name as the server calls it
 * @property {boolean} isTimed whether pictures are shown for the protocol's times: such a task needs a desktop, a steady screen and
 *   the person's whole attention
 * @property {Record<string, string[]>} [examples] worked examples of the instructions: for each button's name, how the drawings that it
 *   plays are changed: "unchanged", "speckled", "coarse"
 * @property {(protocol: object) => {showings: number, withMask: boolean, withQuestion: boolean}} needs what is fetched for a trial
 * @property {(run: object, block: object) => Promise<Stage>} open shows the screen on which a round is answered
 *
 * @typedef {object} Stage
 * @property {() => Promise<void>} attend resolves when the next trial may begin
 * @property {(trial: {position: number, pictures: object}) => Promise<{response: string, rt_ms: number|null, clicks: object[], timing: object}>} ask
 * @property {(trial: {position: number, response: string, hasFeedback: boolean}) => Promise<void>} leave feedback where there is
 *   any, and the way to the next trial
 */
import { abx } from "./abx.js";
import { categorisation } from "./categorisation.js";
import { discrimination } from "./discrimination.js";
import { validation } from "./validation.js";

/** @type {Map<string, Task>} */
const TASKS = new Map();
for (const task of [categorisation, discrimination, abx, validation]) register(task);

/** Makes a task known to the page; a second one of the same name is refused. @param {Task} task */
export function register(task) {
  if (TASKS.has(task.name)) throw new Error(`there is a task "${task.name}" already`);
  TASKS.set(task.name, task);
}

/** @param {string} name @returns {Task} */
export function taskOf(name) {
  const task = TASKS.get(name);
  if (!task) throw new Error(`this page knows no task "${name}"`);
  return task;
}

/** @param {string[]} tasks names @returns {boolean} whether any of them needs a desktop and a steady screen */
export function areTimed(tasks) {
  return tasks.some((name) => taskOf(name).isTimed);
}
