/** The entry page: what it remembers, when it asks, what it opens, and what it puts into the recruiter's form. */
import assert from "node:assert/strict";
import test from "node:test";
import { NoReply, Refusal, TakeApi } from "../../static/js/recruitment/take/api.js";
import { Entry } from "../../static/js/recruitment/take/entry.js";
import { Memory } from "../../static/js/recruitment/take/memory.js";
import { Poll } from "../../static/js/recruitment/take/poll.js";
import { Storage } from "./support.js";

const HIT = {
  entry: "abc",
  language: "de",
  insideUrl: "/take/abc/inside/",
  isLink: false,
  hasWindow: true,
  isPreview: false,
  openUrl: "/take/abc/open/",
  handoffUrl: "/take/abc/handoff/",
  assignmentId: "A1",
  hitId: "H1",
  workerId: "W1",
  runUrl: "/run/",
  resumeName: "abc.R-1",
  turkSubmitTo: "https://market.example",
  submitAddress: "https://market.example/mturk/externalSubmit",
  simulated: false,
  consentDigest: "d1",
  minutes: 12,
};
const LINK = { ...HIT, isLink: true, hasWindow: false, assignmentId: "", workerId: "", resumeName: "abc", submitAddress: "" };

/** Panels without a page: remembers which one is shown and what was filled in. */
class FakePanels {
  shown = null;
  values = {};
  revealed = {};
  elements = {};
  show(name) {
    this.shown = name;
  }
  fill(values) {
    Object.assign(this.values, values);
  }
  reveal(name, isShown) {
    this.revealed[name] = isShown;
  }
  tellLeft(areKept) {
    this.areKept = areKept;
  }
  tellPayInTime({ cursor, total }) {
    this.timed = [cursor, total];
  }
  tellDeclined(outcome) {
    this.declined = outcome;
  }
  quote(id) {
    this.quoted = id;
  }
  message(name) {
    return name;
  }
  find(selector) {
    return this.elements[selector] ?? null;
  }
}

class FakeForm {
  action = "";
  fields = { assignmentId: { value: "" }, receipt: { value: "" } };
  elements = { namedItem: (name) => this.fields[name] };
}

function make({ page = HIT, replies = {}, search = "?assignmentId=A1", hash = "", popups = "allowed", tab = new Storage(), browser = new Storage(), isLasting = true } = {}) {
  const calls = [];
  const api = new Proxy({}, {
    get: (_, name) => async (...args) => {
      calls.push([name, ...args]);
      const reply = replies[name];
      if (reply instanceof Error) throw reply;
      return typeof reply === "function" ? reply(...args) : reply;
    },
  });
  const windows = [];
  const view = {
    location: { href: "https://lab.example/take/abc/", search, hash, pathname: "/take/abc/", assign: (url) => windows.push(["assign", url]) },
    history: { replaceState: (...args) => windows.push(["replaceState", args[2]]) },
    document: { title: "" },
    crypto,
    open: (url, name) => {
      windows.push(["open", url, name]);
      if (popups === "blocked") return null;
      return { close: () => windows.push(["close"]), location: { replace: (to) => windows.push(["replace", to]) } };
    },
  };
  const panels = new FakePanels();
  const form = new FakeForm();
  panels.elements['[data-form="submit"]'] = page.isLink ? null : form;
  panels.elements['[data-action="reopen"]'] = { href: "" };
  panels.elements['[data-action="ask"]'] = { href: "" };
  const polls = { started: 0, stopped: 0 };
  const memory = new Memory({ tab, browser, entry: page.entry, isLasting });
  const pollWith = () => ({ start: () => (polls.started += 1), stop: () => (polls.stopped += 1) });
  const entry = new Entry({ page, panels, api, memory, view, pollWith });
  return { entry, calls, windows, panels, form, polls, tab, memory };
}

const OPENED = { token: "bearer", handoff: "code", status_url: "/status/", run_url: "/run/" };

test("the ids leave the address, and the decision is shown", () => {
  const { entry, windows, panels } = make();
  entry.begin();
  assert.deepEqual(windows, [["replaceState", "/take/abc/"]]);
  assert.equal(panels.shown, "start");
});

test("where a frame may store nothing, the ids stay in the address for a reload", () => {
  const { entry, windows } = make({ isLasting: false });
  entry.begin();
  assert.deepEqual(windows, []);
  const link = make({ page: LINK, search: "?p=panel-7", isLasting: false });
  link.entry.begin();
  assert.deepEqual(link.windows, [["replaceState", "/take/abc/"]]);
});

test("of people whom a site has sent, a reload knows for whom the page was opened, until they begin", async () => {
  const tab = new Storage();
  const site = { ...LINK, leadsOut: true, wayOutUrl: "/take/abc/way-out/" };
  make({ page: { ...site, workerId: "P1", assignmentId: "S1" }, search: "?id=P1", tab }).entry.begin();
  const again = make({ page: { ...site }, search: "", tab, replies: { open: OPENED } });
  again.entry.begin();
  assert.equal(again.panels.shown, "start");
  await again.entry.start({ consents: true });
  assert.deepEqual([again.calls[0][1].workerId, again.calls[0][1].assignmentId], ["P1", "S1"]);
  const later = make({ page: { ...site }, search: "", tab: new Storage() });
  later.entry.begin();
  assert.equal(later.panels.shown, "unnamed");
});

test("placeholders that were not filled in open nothing", () => {
  const unfilled = { ...LINK, leadsOut: true, isUnfilled: true, workerId: "{{%PID%}}", assignmentId: "{{%SESSION%}}" };
  const { entry, panels } = make({ page: unfilled });
  entry.begin();
  assert.deepEqual([panels.shown, panels.quoted], ["unfilled", ""]);
});

test("the language that was chosen stays in the address, and is nobody's id", async () => {
  const { entry, windows, panels, tab } = make({ search: "?assignmentId=A1&language=de", replies: { open: OPENED } });
  entry.begin();
  assert.deepEqual(windows, [["replaceState", "/take/abc/?language=de"]]);
  await entry.start({ consents: true });
  assert.equal(panels.shown, "under-way");
  const reloaded = make({ page: { ...HIT, isPreview: true, assignmentId: "" }, search: "?language=de", tab });
  reloaded.entry.begin();
  assert.equal(reloaded.panels.shown, "under-way");
  assert.ok(!reloaded.windows.some(([what]) => what === "replaceState"));
});

test("the window is opened again in the page's language", async () => {
  const { entry, windows, panels } = make({ replies: { open: OPENED, handoff: { handoff: "fresh" } } });
  await entry.start({ consents: true });
  assert.equal(panels.elements['[data-action="reopen"]'].href, "/run/?language=de");
  await entry.reopen();
  assert.deepEqual(windows.at(-1), ["replace", "https://lab.example/run/?language=de#fresh"]);
});

test("a preview shows no decision", () => {
  const { entry, panels, calls } = make({ page: { ...HIT, isPreview: true, assignmentId: "" } });
  entry.begin();
  assert.equal(panels.shown, "preview");
  assert.deepEqual(calls, []);
});

test("without consent nothing is opened and nothing is sent", async () => {
  const { entry, windows, calls, panels } = make();
  await entry.start({ consents: false });
  assert.deepEqual([windows, calls], [[], []]);
  assert.equal(panels.revealed["consent-error"], true);
});

test("start opens the window inside the click, then sends it to the study with the one-time code", async () => {
  const { entry, windows, calls, panels, polls } = make({ replies: { open: OPENED } });
  const started = entry.start({ consents: true });
  assert.deepEqual(windows, [["open", "about:blank", "humanexp-run"]]); // before any reply
  await started;
  assert.deepEqual(windows.at(-1), ["replace", "https://lab.example/run/?language=de#code"]);
  const { opening, ...person } = calls[0][1];
  assert.match(opening, /^[0-9a-f]{48}$/);
  assert.deepEqual(person, {
    consent: true,
    assignmentId: "A1",
    hitId: "H1",
    workerId: "W1",
    turkSubmitTo: "https://market.example",
    simulated: false,
    continueHere: false,
    beginHere: false,
    secret: "",
    confirmed: "",
    sharedComputer: false,
    language: "de",
    consentDigest: "d1",
    minutes: 12,
    isMinor: false,
    guardianAgrees: false,
    tookPart: null,
    seenBefore: false,
  });
  assert.equal(panels.shown, "under-way");
  assert.equal(polls.started, 1);
});

test("of several recruiters' people nobody begins without saying whether they took part before", async () => {
  const { entry, windows, calls, panels } = make({ replies: { open: OPENED } });
  let focused = 0;
  panels.elements['[name="took-part"]'] = { focus: () => (focused += 1) };
  await entry.start({ consents: true });
  assert.deepEqual([windows, calls, focused, panels.revealed["repeat-error"]], [[], [], 1, true]);
  await entry.start({ consents: true, tookPart: true });
  assert.deepEqual([calls[0][1].tookPart, panels.revealed["repeat-error"]], [true, false]);
});

test("the browser keeps a note of the study, which is shown and told where another recruiter's page is opened", async () => {
  const browser = new Storage();
  const note = "humanexp.begun.N-1";
  const first = make({ page: { ...HIT, note }, browser, replies: { open: OPENED } });
  first.entry.begin();
  assert.equal(first.panels.revealed.noted, false);
  await first.entry.start({ consents: true, tookPart: false });
  const again = make({ page: { ...HIT, note }, browser, replies: { open: OPENED } });
  again.entry.begin();
  assert.equal(again.panels.revealed.noted, false);
  const other = make({ page: { ...HIT, entry: "xyz", note }, browser, replies: { open: OPENED } });
  other.entry.begin();
  await other.entry.start({ consents: true, tookPart: false });
  assert.deepEqual([other.panels.revealed.noted, other.calls[0][1].seenBefore], [true, true]);
});

test("a shared computer and a study with one recruiter keep no note", async () => {
  const browser = new Storage();
  const shared = make({ page: { ...HIT, note: "humanexp.begun.N-1" }, browser, replies: { open: OPENED } });
  await shared.entry.start({ consents: true, tookPart: false, isShared: true });
  await make({ page: { ...HIT, note: "" }, browser, replies: { open: OPENED } }).entry.start({ consents: true });
  assert.equal(browser.length, 0);
});

test("a person who says that they are too young is refused without a call", () => {
  const { entry, calls, panels } = make();
  entry.begin();
  entry.tellAge(true);
  assert.deepEqual([panels.shown, calls], ["too-young", []]);
  entry.tellAge(false);
  assert.equal(panels.shown, "start");
});

test("with a guardian who agrees, a younger person takes part, and the call says so", async () => {
  const { entry, calls, panels } = make({ replies: { open: OPENED } });
  panels.elements["[data-guardian]"] = { focus: () => null };
  entry.tellAge(true);
  assert.deepEqual([panels.shown, panels.revealed.minor, panels.revealed["of-age"]], ["start", true, false]);
  await entry.start({ consents: false, isMinor: true });
  assert.deepEqual([calls, panels.revealed["minor-error"]], [[], true]);
  await entry.start({ consents: true, isMinor: true });
  assert.deepEqual([calls[0][1].isMinor, calls[0][1].guardianAgrees], [true, true]);
});

test("a paused study says so in a preview, too", () => {
  const { entry, panels } = make({ page: { ...HIT, isPreview: true, isPaused: true }, search: "" });
  entry.begin();
  assert.equal(panels.shown, "start");
});

test("a blocked window in a frame becomes a link that the person clicks", async () => {
  const { entry, windows, panels } = make({ replies: { open: OPENED }, popups: "blocked" });
  await entry.start({ consents: true });
  assert.equal(panels.elements['[data-action="reopen"]'].href, "https://lab.example/run/?language=de#code");
  assert.equal(entry.isBlocked, true);
  assert.deepEqual([panels.revealed.opened, panels.revealed["not-opened"]], [false, true]);
  assert.ok(!windows.some(([what]) => what === "assign"));
});

test("on a link the study takes the page's place, and nothing is watched meanwhile", async () => {
  const { entry, windows, polls } = make({ page: LINK, search: "", replies: { open: OPENED } });
  await entry.start({ consents: true });
  assert.deepEqual(windows, [["assign", "https://lab.example/run/?language=de#code"]]);
  assert.equal(polls.started, 0);
});

test("whoever goes back from the study to the page of a link finds the way on, by a fresh code", async () => {
  const first = make({ page: LINK, search: "", replies: { open: OPENED } });
  await first.entry.start({ consents: true });
  first.entry.comeBack(); // the browser has kept the page as it was
  const loaded = make({ page: LINK, search: "", tab: first.tab, replies: { handoff: { handoff: "fresh" } } });
  loaded.entry.begin();
  for (const { panels, polls } of [first, loaded]) assert.deepEqual([panels.shown, polls.started], ["under-way", 1]);
  await loaded.entry.reopen();
  assert.deepEqual(loaded.windows, [["assign", "https://lab.example/run/?language=de#fresh"]]);
  const fresh = make({ page: LINK, search: "" });
  fresh.entry.comeBack();
  assert.equal(fresh.panels.shown, null);
});

test("a link that is opened in the same tab for somebody else is theirs", async () => {
  const first = make({ page: { ...LINK, workerId: "P1", resumeName: "abc.R-1" }, search: "?p=P1", replies: { open: OPENED } });
  first.entry.begin();
  await first.entry.start({ consents: true });
  const shown = (page, search) => {
    const { entry, panels } = make({ page: { ...LINK, ...page }, search, tab: first.tab });
    entry.begin();
    return panels.shown;
  };
  assert.equal(shown({}, ""), "under-way");
  assert.equal(shown({ workerId: "P1", resumeName: "abc.R-1" }, "?p=P1"), "under-way");
  assert.equal(shown({ workerId: "P2", resumeName: "abc.R-2" }, "?p=P2"), "start");
});

test("a refusal closes the window and says why", async () => {
  const refusal = new Refusal({ status: 409, type: "already-took-part", detail: "You have taken part." });
  const { entry, windows, panels } = make({ replies: { open: refusal } });
  await entry.start({ consents: true });
  assert.deepEqual(windows.at(-1), ["close"]);
  assert.equal(panels.shown, "refused");
  assert.equal(panels.values.refusal, "You have taken part.");
  assert.deepEqual([panels.revealed["continue-here"], panels.revealed.retry], [false, false]);
});

const RESUME = { ask: "ask:1", claim: "claim:1", name: "abc.R-1" };
const begun = (resume = RESUME) => new Refusal({ status: 409, type: "already-begun", detail: "Begun.", resume });

test("a frame that cannot read what the window keeps asks that window, and goes on once it has agreed", async () => {
  let isConfirmed = false;
  const opens = [];
  const open = (person) => {
    opens.push(person);
    if (!person.confirmed) throw begun();
    return OPENED;
  };
  const { entry, windows, panels, calls, polls } = make({ replies: { open, isConfirmed: () => ({ confirmed: isConfirmed }) } });
  await entry.start({ consents: true });
  assert.deepEqual(windows.at(-1), ["replace", "https://lab.example/run/?language=de#resume=ask%3A1&as=abc.R-1"]);
  assert.ok(!windows.flat().join().includes("claim"), "the other half stays in the page");
  assert.equal(panels.shown, "asked");
  assert.equal(await entry.askWhetherConfirmed(), true);
  assert.equal(entry.session, null);
  isConfirmed = true;
  assert.equal(await entry.askWhetherConfirmed(), false);
  assert.deepEqual(calls.filter(([name]) => name === "isConfirmed")[0], ["isConfirmed", "claim:1"]);
  assert.deepEqual([opens[1].confirmed, opens[1].continueHere, opens[1].opening], ["claim:1", true, opens[0].opening]);
  assert.equal(panels.shown, "under-way");
  assert.equal(entry.session.token, "bearer");
  assert.equal(polls.started, 2);
});

test("a request that nobody agreed to in time can be made again; other refusals say why", async () => {
  const late = new Refusal({ status: 401 });
  const { entry, panels } = make({ replies: { open: begun(), isConfirmed: late } });
  await entry.start({ consents: true });
  assert.equal(await entry.askWhetherConfirmed(), false);
  assert.equal(panels.shown, "ask-over");
  const full = make({ replies: { open: begun(), isConfirmed: new NoReply("down") } });
  await full.entry.start({ consents: true });
  await assert.rejects(full.entry.askWhetherConfirmed(), NoReply);
  assert.equal(full.panels.revealed["ask-offline"], true);
});

test("where no browser keeps a secret, or on a plain link without it, the page says where the study goes on", async () => {
  const shared = make({ replies: { open: begun(null) } });
  await shared.entry.start({ consents: true });
  const link = make({ page: LINK, search: "", replies: { open: begun({ ...RESUME, name: "abc" }) } });
  await link.entry.start({ consents: true });
  assert.deepEqual(shared.windows.at(-1), ["close"]);
  assert.deepEqual(link.windows, []);
  for (const { panels } of [shared, link]) assert.equal(panels.shown, "begun");
});

test("a page that can read what the window keeps sends it, and asks about another HIT", async () => {
  const browser = new Storage();
  browser.setItem("humanexp.resume.abc.R-1", "the secret");
  const { entry, panels, calls } = make({ browser, replies: { open: begun() } });
  await entry.start({ consents: true });
  assert.equal(calls[0][1].secret, "the secret");
  assert.equal(panels.shown, "refused");
  assert.equal(panels.revealed["continue-here"], true);
  await entry.start({ consents: true, continueHere: true }); // the secret was revoked
  assert.equal(panels.shown, "asked");
});

test("on a shared computer the tab forgets the session at its end", async () => {
  const status = { state: "completed", cursor: 3, total: 3, receipt: "proof", completion_code: "C-1" };
  const { entry, calls, tab, form } = make({ replies: { open: OPENED, status } });
  await entry.start({ consents: true, isShared: true });
  assert.equal(calls[0][1].sharedComputer, true);
  assert.ok(tab.length > 0);
  await entry.ask();
  assert.equal(tab.length, 0);
  assert.equal(form.fields.receipt.value, "proof");
});

test("a server that is away is worth another try", async () => {
  const { entry, panels } = make({ replies: { open: new NoReply("down") } });
  await entry.start({ consents: true });
  assert.deepEqual([panels.revealed["continue-here"], panels.revealed.retry], [false, true]);
});

test("where too many begin at once, the server's own sentence is shown, with another try", async () => {
  const { entry, panels } = make({ replies: { open: new NoReply(429, "Wait a minute.") } });
  await entry.start({ consents: true });
  assert.deepEqual([panels.shown, panels.values.refusal, panels.revealed.retry], ["refused", "Wait a minute.", true]);
});

test("somebody in whose name another began is offered to begin here", async () => {
  const opens = [];
  const open = (person) => {
    opens.push(person);
    if (!person.beginHere) throw new Refusal({ status: 409, type: "already-begun", detail: "Begun.", begin_here: true });
    return OPENED;
  };
  const { entry, panels } = make({ replies: { open } });
  await entry.start({ consents: true });
  assert.deepEqual([panels.shown, panels.revealed["begin-here"]], ["begun", true]);
  await entry.start({ consents: true, beginHere: true });
  assert.deepEqual([opens.at(-1).beginHere, panels.shown], [true, "under-way"]);
  const other = make({ replies: { open: begun() } });
  await other.entry.start({ consents: true });
  assert.equal(other.panels.revealed["begin-here"], false);
});

test("a finished session fills the recruiter's form", async () => {
  const status = { state: "completed", cursor: 3, total: 3, receipt: "proof", completion_code: "C-1" };
  const { entry, form, panels } = make({ replies: { open: OPENED, status } });
  await entry.start({ consents: true });
  assert.equal(await entry.ask(), false);
  assert.equal(form.action, HIT.submitAddress);
  assert.deepEqual(form.fields, { assignmentId: { value: "A1" }, receipt: { value: "proof" } });
  assert.equal(panels.shown, "done");
});

test("Finish on the study's page submits the form, and only once", async () => {
  const status = { state: "completed", closing: "open", cursor: 3, total: 3, receipt: "proof", completion_code: "C-1" };
  const { entry, form, panels, tab } = make({ replies: { open: OPENED, status: () => status } });
  let submitted = 0;
  form.requestSubmit = () => (submitted += 1);
  await entry.start({ consents: true });
  assert.equal(await entry.ask(), true);
  // Whoever has closed the study's page can submit here all the same.
  assert.deepEqual([panels.shown, form.fields.receipt.value, submitted], ["done", "proof", 0]);
  status.closing = "given";
  assert.equal(await entry.ask(), false);
  assert.equal(submitted, 1);
  await entry.ask();
  assert.equal(submitted, 1);
  const reloaded = make({ tab, search: "", replies: { status: () => status } });
  reloaded.form.requestSubmit = () => (submitted += 1);
  reloaded.entry.session = reloaded.memory.recall(HIT, "?assignmentId=A1");
  await reloaded.entry.ask();
  assert.equal(submitted, 1);
});

test("questions at the end stay on this page where the study runs within it", async () => {
  const status = { state: "completed", closing: "open", cursor: 3, total: 3, receipt: "proof" };
  const { entry, panels } = make({ replies: { open: OPENED, handoff: { handoff: "code" }, status: () => status } });
  panels.elements["[data-inside]"] = { src: "", addEventListener: () => {}, remove: () => {} };
  await entry.start({ consents: true });
  await entry.inside();
  await entry.ask();
  assert.equal(panels.shown, "inside");
});

test("the page does not go on saying that answers are missing while the questions at the end are open", async () => {
  const status = { state: "open", closing: "none", cursor: 2, total: 3 };
  const { entry, panels } = make({ page: { ...LINK, leadsOut: true }, search: "", replies: { open: OPENED, status: () => status } });
  const bar = (panels.elements["[data-progress]"] = {});
  await entry.start({ consents: true });
  await entry.ask();
  Object.assign(status, { state: "completed", closing: "open", cursor: 3 });
  assert.equal(await entry.ask(), true);
  assert.deepEqual(bar, { max: 3, value: 3 });
});

test("whoever goes back after the end finds the code; before the last questions are answered, the way to them", async () => {
  const status = { state: "completed", closing: "open", cursor: 3, total: 3, completion_code: "C-1" };
  const first = make({ page: { ...LINK, showsCode: true }, search: "?p=P1", replies: { open: OPENED } });
  await first.entry.start({ consents: true });
  assert.deepEqual(first.windows.at(-1), ["assign", "https://lab.example/run/?language=de&code=#code"]);
  const { entry, panels } = make({ page: { ...LINK, showsCode: false }, search: "", tab: first.tab, replies: { status: () => status } });
  entry.begin(); // the address has lost the id, for which the server shows a code
  assert.equal(await entry.ask(), true);
  assert.equal(panels.shown, "under-way");
  status.closing = "given";
  assert.equal(await entry.ask(), false);
  assert.deepEqual([panels.shown, panels.values["completion-code"], panels.revealed["code-line"]], ["done", "C-1", true]);
});

test("a reload of the page without its query finds its session again", async () => {
  const first = make({ replies: { open: OPENED } });
  await first.entry.start({ consents: true });
  const reloaded = make({ page: { ...HIT, isPreview: true, assignmentId: "" }, search: "", tab: first.tab });
  reloaded.entry.begin();
  assert.equal(reloaded.panels.shown, "under-way");
  assert.equal(reloaded.entry.session.assignmentId, "A1");
  const another = make({ page: { ...HIT, assignmentId: "A2" }, search: "?assignmentId=A2", tab: first.tab });
  another.entry.begin();
  assert.equal(another.panels.shown, "start");
  const preview = make({ page: { ...HIT, isPreview: true, assignmentId: "" }, search: "?assignmentId=NO", tab: first.tab });
  preview.entry.begin();
  assert.equal(preview.panels.shown, "preview");
});

test("a session that is gone leads back to the decision", async () => {
  const { entry, panels, polls, tab } = make({ replies: { open: OPENED, status: new Refusal({ status: 401 }) } });
  await entry.start({ consents: true });
  assert.equal(await entry.ask(), false);
  assert.equal(panels.shown, "start");
  assert.equal(polls.stopped, 1);
  assert.equal(tab.length, 0);
});

test("a session that is gone leads whoever has come back without ids to where they found the study", async () => {
  const site = { ...LINK, leadsOut: true };
  const first = make({ page: { ...site, workerId: "P1" }, search: "?id=P1", replies: { open: OPENED } });
  first.entry.begin();
  await first.entry.start({ consents: true });
  const back = make({ page: site, search: "", tab: first.tab, replies: { status: new Refusal({ status: 401 }) } });
  back.entry.begin();
  assert.equal(await back.entry.ask(), false);
  assert.equal(back.panels.shown, "unnamed");
});

test("opening the window again asks for a fresh code", async () => {
  const { entry, windows, calls } = make({ replies: { open: OPENED, handoff: { handoff: "second" } } });
  await entry.start({ consents: true });
  await entry.reopen();
  assert.deepEqual(calls.at(-1), ["handoff", "bearer"]);
  assert.deepEqual(windows.at(-1), ["replace", "https://lab.example/run/?language=de#second"]);
});

test("a visitor of a plain link has no id: a repeated call is known by its page, a return by the secret", async () => {
  const browser = new Storage();
  const { entry, calls } = make({ page: LINK, search: "", browser, replies: { open: OPENED } });
  await entry.start({ consents: true });
  browser.setItem("humanexp.resume.abc", "the secret");
  await entry.start({ consents: true });
  const [first, second] = calls.map(([, person]) => person);
  assert.deepEqual([first.workerId, first.secret, second.secret], ["", "", "the secret"]);
  assert.equal(first.opening, second.opening);
});

test("the poll slows down while the server is away and is quick again after", async () => {
  const waits = [];
  const outcomes = [true, new Error(), new Error(), new Error(), new Error(), true, false];
  const callbacks = [];
  const later = { set: (callback, ms) => (waits.push(ms), callbacks.push(callback)), clear: () => {} };
  const ask = async () => {
    const outcome = outcomes.shift();
    if (outcome instanceof Error) throw outcome;
    return outcome;
  };
  const poll = new Poll({ ask, later });
  poll.start();
  for (let turn = 0; turn < 6; turn += 1) {
    await new Promise((resolve) => setImmediate(resolve));
    await callbacks.shift()();
  }
  assert.deepEqual(waits, [3_000, 6_000, 12_000, 20_000, 20_000, 3_000]);
  assert.equal(outcomes.length, 0);
});

test("the api sends the bearer, keeps cookies out, and tells refusals from lost replies", async () => {
  const seen = [];
  const answer = (status, body) => ({ ok: status < 400, status, json: async () => body });
  const replies = [answer(201, { token: "t" }), answer(409, { type: "already-begun", detail: "Go on there." }), answer(502, {}), null];
  const fetch = async (url, options) => {
    seen.push([url, options]);
    const reply = replies.shift();
    if (!reply) throw new TypeError("network");
    return reply;
  };
  const api = new TakeApi({ fetch, page: HIT });
  assert.deepEqual(await api.open({ consent: true }), { token: "t" });
  assert.equal(seen[0][1].credentials, "omit");
  assert.equal(seen[0][1].headers.Authorization, undefined);
  await assert.rejects(api.handoff("bearer"), (error) => error instanceof Refusal && error.type === "already-begun");
  assert.equal(seen[1][1].headers.Authorization, "Bearer bearer");
  await assert.rejects(api.status("/status/", "bearer"), NoReply);
  await assert.rejects(api.status("/status/", "bearer"), NoReply);
  replies.push(answer(429, { type: "too-many-openings", detail: "Wait a minute." }));
  await assert.rejects(api.open({ consent: true }), (error) => error instanceof NoReply && error.detail === "Wait a minute.");
});

test("whom time has ended finds the form of those who finished, and why", async () => {
  const { entry, panels, form } = make({ replies: { open: OPENED, status: { state: "out-of-time", cursor: 1, total: 3, completion_code: "C-1" } } });
  await entry.start({ consents: true });
  assert.equal(await entry.ask(), false);
  assert.deepEqual([panels.shown, panels.revealed["out-of-time"], panels.timed], ["done", true, [1, 3]]);
  assert.equal(form.action, HIT.submitAddress);
  assert.deepEqual([form.fields.assignmentId.value, form.fields.receipt.value], ["A1", ""]);
  assert.equal(panels.values["completion-code"], "C-1");
});
