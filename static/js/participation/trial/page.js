/** The participant's page in the browser: the only module that reaches for the browser's globals. */
import { RunApi } from "./api.js";
import { timerResolution } from "./environment.js";
import { ChoiceGrid } from "./grid.js";
import { frameTaken } from "./handover.js";
import { Deadline } from "./deadline.js";
import { Presence } from "./presence.js";
import { ProgressLine } from "./progress.js";
import { Screens } from "./screens.js";
import { lowTone } from "./sound.js";
import { openDurableStorage, openStorage } from "./storage.js";
import { Watch } from "./watch.js";
import { OpenWindows } from "./windows.js";

/** What the server wrote into the page for its scripts. */
export const config = JSON.parse(document.getElementById("run-config")?.textContent || "{}") || {};

/** What calls ask for: a language that the study brings has a name of its own there. */
const languageOf = ({ documentElement: { dataset, lang } }) => dataset.texts ?? lang;

/** Everything that a run needs of the browser. @returns {Promise<object>} as `runSession` takes it */
export async function openPage() {
  const clock = () => performance.now();
  const screens = new Screens(document);
  const tab = openStorage(() => sessionStorage);
  // A switch of languages loads the page anew: not where that would lose the session.
  document.querySelector("[data-languages]").hidden = !(tab instanceof Storage);
  // No form of this page is ever sent: a second press of Enter between two pictures would load the page anew.
  document.addEventListener("submit", (event) => event.preventDefault());
  const later = (action, ms) => {
    const timer = setTimeout(action, ms);
    return () => clearTimeout(timer);
  };
  const watch = new Watch(window, clock);
  const progress = new ProgressLine(screens, document.querySelector("[data-progress]"));

  return {
    view: window,
    document,
    screens,
    progress,
    clock,
    afterFrame: frameTaken(MessageChannel),
    client: {
      timer_resolution_ms: timerResolution(clock),
      cross_origin_isolated: Boolean(window.crossOriginIsolated),
      wallClock: () => Date.now(),
    },
    raf: (callback) => requestAnimationFrame(callback),
    sleep: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
    later,
    createBitmap: (blob, options) => createImageBitmap(blob, options),
    local: await openDurableStorage(() => indexedDB, () => localStorage),
    tab,
    secrets: openStorage(() => localStorage),
    api: new RunApi({ base: config.api ?? "/api/v1/run/", fetch: (...request) => fetch(...request), language: languageOf(document) }),
    grid: new ChoiceGrid({ root: document.querySelector("[data-grid]"), clock }),
    watch,
    presence: new Presence({ watch, later }),
    deadline: new Deadline(() => Date.now()),
    windows: new OpenWindows({ Channel: window.BroadcastChannel, later }),
    /** The call that tells how people go back to the site that has sent them; empty where none has. */
    wayOut: config.wayOut ?? "",
    /** The call that says that somebody has finished; empty where they submit elsewhere. */
    finished: config.finished ?? "",
    /** Names the page where people agree, which this tab came from; empty where that is another window's. */
    entry: config.entry ?? "",
    lowTone: () => lowTone(window),
    onOutbox: (state) => progress.saved(state),
  };
}
