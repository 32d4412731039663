/** A's corruption or B's? Three pictures one after the other, A, B and X, each for the protocol's time. */
import { timedTask } from "./timed.js";

export const abx = timedTask({
  name: "abx",
  showings: 3,
  examples: { a: ["speckled", "coarse", "speckled"], b: ["speckled", "coarse", "coarse"] },
});
