/** A preview: the participant's page on calls that store nothing, at the pace that the server has given it. */
import { runSession } from "../trial/flow.js";
import { config, openPage } from "../trial/page.js";
import { Autopilot } from "./autopilot.js";
import { openBar } from "./bar.js";

openPage().then((page) => {
  const run = {
    ...page,
    // What a preview keeps over a reload is gone with its window.
    local: page.tab,
    // What is written is said of participants, also where everything here is shorter.
    stated: config.stated,
    sleep: (ms) => page.sleep(ms / config.hurry),
  };
  openBar({ run, config, autopilot: new Autopilot({ document, clock: page.clock, later: page.later }) });
  return runSession(run);
});
