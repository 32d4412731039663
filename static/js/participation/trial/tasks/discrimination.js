/** Were both pictures changed in the same way? Two pictures one after the other, each for the protocol's time. */
import { timedTask } from "./timed.js";

export const discrimination = timedTask({
  name: "discrimination",
  showings: 2,
  examples: { same: ["speckled", "speckled"], different: ["speckled", "coarse"] },
});
