/** Another page wants to go on with a session that this browser has begun: a person says yes or no, once. */
import { patiently } from "./pause.js";
import { hashFor, secretOf } from "./resume.js";
import { Stop } from "./stop.js";

/**
 * @param {object} run as the flow has it
 * @param {{ask: string, name: string}} request
 * @returns {Promise<string>} a bearer with which this window goes on, too
 */
export async function askAgain(run, { ask, name }) {
  const secret = secretOf(run.secrets, name);
  if (!secret) throw new Stop("again-elsewhere");
  // The request has left the address: who reads the question in another language is asked it again there.
  for (const link of run.document.querySelectorAll("[data-languages] a")) link.hash = hashFor({ ask, name });
  run.screens.show("again");
  if ((await run.screens.pressed("again-yes", "again-no")) === "again-no") throw new Stop("again-declined");
  run.screens.show("loading");
  try {
    return (await patiently(() => run.api.confirm({ ask, secret }), run)).token;
  } catch (error) {
    if (error.mayPass) throw error;
    throw new Stop("again-over"); // too late, or the way back was given to somebody else
  }
}
