/** The way in: device, bearer, lease, and answers left over from before a reload. */
import { askAgain } from "./again.js";
import { Begun } from "./begun.js";
import { deviceFault } from "./environment.js";
import { Outbox } from "./outbox.js";
import { patiently } from "./pause.js";
import { keepSecret, keyOfEntry, requestIn } from "./resume.js";
import { safeAnswers } from "./plan.js";
import { Stop } from "./stop.js";
import { nameOf } from "./storage.js";
import { areTimed } from "./tasks/index.js";

const TOKEN_KEY = "humanexp.run.token";
/** Set where nothing is to be kept beyond this tab and the end. */
const SHARED_KEY = "humanexp.run.shared";

/** Fills run.session, run.key, run.begun and run.outbox, or stops with the page that says why not. */
export async function enter(run) {
  const fault = deviceFault(run.view);
  if (fault === "browser") throw new Stop(fault);
  // Before the one-time code is used: a phone's owner can still open the link on a computer.
  if (fault && areTimed(await tasksBehind(run))) throw new Stop(fault);
  // A second link opened in this window changes nothing but the fragment: it is a new way in all the same.
  run.view.addEventListener("hashchange", () => {
    run.isReloading = true;
    run.view.location.reload();
  });
  run.api.token = await bearer(run);
  run.session = await patiently(() => run.api.session(), run);
  if (fault && areTimed(run.session.blocks.map(({ task }) => task))) throw new Stop(fault);
  // The first part of a bearer is the same in every bearer of a session: answers left by an earlier window are found again.
  run.key = nameOf(run.api.token.split(":")[0]);
  run.begun = new Begun({ storage: run.local, session: run.key });
  if (["submitted", "withdrawn", "left", "out-of-time"].includes(run.session.state)) return;
  // A new lease for every page: a duplicated tab copies sessionStorage and must not share one.
  const lease = randomId(run.view);
  const isOpenElsewhere = run.windows.ask(run.key);
  await patiently(() => run.api.takeLease(lease), run);
  run.document.querySelector("[data-taken]").hidden = !(await isOpenElsewhere);
  run.outbox = new Outbox({
    send: (response) => run.api.respond(response),
    probe: () => run.api.status(),
    storage: run.local,
    session: run.key,
    later: run.later,
    onChange: (state) => run.onOutbox(state),
  });
  run.progress.begin(safeAnswers(run.session));
  run.view.addEventListener("offline", () => run.outbox.lose());
  run.view.addEventListener("online", () => run.outbox.retry());
  run.view.addEventListener("beforeunload", (event) => {
    if (run.outbox.positions.length > 0 && !run.isReloading) event.preventDefault();
  });
  run.outbox.forgetBefore(run.session.cursor);
  // Answers beyond a gap wait until the gap is answered: the server takes them in order.
  if (run.outbox.positions[0] === run.session.cursor) {
    run.screens.show("saving");
    await run.outbox.drained();
    run.session = await patiently(() => run.api.session(), run);
  }
}

/** Ends what this tab keeps of a session, where other people use the computer: also what the page of consent has kept. */
export function forgetOnSharedComputer(run) {
  if (run.tab.getItem(SHARED_KEY)) for (const key of [TOKEN_KEY, SHARED_KEY, keyOfEntry(run.entry)]) run.tab.removeItem(key);
}

async function bearer(run) {
  const { view, tab, api, sleep } = run;
  const code = codeIn(view.location.hash);
  if (code) {
    const request = requestIn(view.location.hash);
    view.history.replaceState(null, "", view.location.pathname + view.location.search);
    if (request) {
      const token = await askAgain(run, request);
      tab.setItem(TOKEN_KEY, token);
      return token;
    }
    const reply = await redeem({ api, sleep, code });
    if (reply) {
      tab.setItem(TOKEN_KEY, reply.token);
      keepSecret(run.secrets, reply.resume);
      if (reply.resume === null) tab.setItem(SHARED_KEY, "yes");
      return reply.token;
    }
  }
  const kept = tab.getItem(TOKEN_KEY);
  if (!kept) throw new Stop(code ? "expired" : "unopened");
  return kept;
}

/** What the link's code opens; nothing where there is no code, or a bad one, which is told when it is used. */
async function tasksBehind({ view, api, sleep }) {
  const code = codeIn(view.location.hash);
  if (!code || requestIn(view.location.hash)) return [];
  try {
    return (await patiently(() => api.look(code), { sleep })).tasks;
  } catch (error) {
    if (error.mayPass) throw error;
    return [];
  }
}

function codeIn(hash) {
  try {
    return decodeURIComponent(hash.slice(1));
  } catch {
    return hash.slice(1); // cut off in the middle of an escape: the server will refuse it
  }
}

async function redeem({ api, sleep, code }) {
  try {
    return await patiently(() => api.redeem(code), { sleep });
  } catch (error) {
    if (error.mayPass) throw error;
    return null; // used already, or older than a minute
  }
}

function randomId(view) {
  const bytes = view.crypto.getRandomValues(new Uint8Array(16));
  return [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}
