/** Wires the entry page: reads what the server wrote into it and connects its buttons. */
import { deviceFault, lacksRoom } from "../../participation/trial/environment.js";
import { openStorage } from "../../participation/trial/storage.js";
import { TakeApi } from "./api.js";
import { Entry } from "./entry.js";
import { Memory } from "./memory.js";
import { Panels } from "./panels.js";
import { Poll } from "./poll.js";

const content = document.getElementById("take-page");
const page = content && JSON.parse(content.textContent);

if (page && document.querySelector("[data-panel=start]")) {
  const later = { set: (callback, ms) => window.setTimeout(callback, ms), clear: (timer) => window.clearTimeout(timer) };
  const tab = openStorage(() => window.sessionStorage);
  const entry = new Entry({
    page,
    panels: new Panels(document),
    api: new TakeApi({ fetch: window.fetch.bind(window), page }),
    memory: new Memory({
      tab,
      isLasting: tab instanceof Storage,
      browser: openStorage(() => window.localStorage),
      entry: page.entry,
    }),
    view: window,
    pollWith: (ask) => new Poll({ ask, later }),
    deviceFault: () => deviceFault(window),
    lacksRoom: () => lacksRoom(window, page.protocol),
  });
  entry.begin();

  const form = document.querySelector("[data-form=start]");
  const isTicked = (name) => Boolean(form.querySelector(`[data-${name}]`)?.checked);
  /** Whether the person says that they are younger, and a guardian is to agree. */
  const isMinor = () => form.querySelector("[data-value=minor]")?.hidden === false;
  const consents = () => (isMinor() ? isTicked("guardian") && isTicked("assent") : isTicked("consent"));
  /** Whether the person has taken part before; null without an answer, or where nobody is asked. */
  const tookPart = () => {
    const chosen = form.querySelector("[name=took-part]:checked");
    return chosen ? chosen.value === "yes" : null;
  };
  const said = () => ({ isShared: isTicked("shared"), isMinor: isMinor(), tookPart: tookPart() });
  const busy = async (button, work) => {
    button.disabled = true;
    try {
      await work();
    } finally {
      button.disabled = false;
    }
  };
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    busy(form.querySelector("[data-action=start]"), () => entry.start({ consents: consents(), ...said() }));
  });
  const on = (action, work) => {
    for (const button of document.querySelectorAll(`[data-action=${action}]`)) {
      button.addEventListener("click", () => busy(button, work));
    }
  };
  on("continue-here", () => entry.start({ consents: true, continueHere: true, ...said() }));
  on("begin", () => entry.start({ consents: true, beginHere: true, ...said() }));
  on("inside", () => entry.inside());
  on("retry", () => entry.start({ consents: true, ...said() }));
  on("ask-again", async () => {
    await entry.start({ consents: true, ...said() });
    entry.panels.reveal("not-yet", !entry.session);
  });
  for (const button of document.querySelectorAll("[data-action=decline]")) {
    button.addEventListener("click", () => busy(button, () => entry.decline(button.dataset.outcome)));
  }
  on("younger", () => entry.tellAge(true));
  for (const action of ["older", "back"]) on(action, () => entry.tellAge(false));
  on("go-on", () => entry.reopen());
  document.querySelector("[data-action=reopen]")?.addEventListener("click", (event) => {
    // After a blocked window the link itself carries a fresh code, and may open its target without a script.
    if (entry.isBlocked) {
      entry.isBlocked = false;
      return;
    }
    event.preventDefault();
    entry.reopen();
  });
  const look = () => {
    if (document.visibilityState === "visible") for (const poll of [entry.poll, entry.waiting]) poll.now();
  };
  window.addEventListener("pageshow", (event) => {
    if (event.persisted) entry.comeBack();
  });
  document.addEventListener("visibilitychange", look);
  window.addEventListener("focus", look);
}
