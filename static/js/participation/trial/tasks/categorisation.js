/** Which of the labels? One picture, for the protocol's time. */
import { timedTask } from "./timed.js";

export const categorisation = timedTask({ name: "categorisation", showings: 1, examples: { categorisation: ["unchanged"] } });
