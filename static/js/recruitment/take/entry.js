/**
 * From consent to submission. In a recruiter's frame it opens the study in a window of its own, watches it, and offers the
 * recruiter's form when every answer is stored. Everywhere else the study takes this page's place, and whoever comes back
 * to this one finds the way on.
 */
import { idOfVisit } from "../../participation/trial/contact.js";
import { hashFor } from "../../participation/trial/resume.js";
import { showWayOut } from "../../participation/trial/way-out.js";
import { Refusal } from "./api.js";

const WINDOW = "humanexp-run";
/** Names of the status answer's states. */
const FINISHED = new Set(["completed", "submitted"]);

export class Entry {
  /**
   * @param {object} parts
   * @param {object} parts.page what the server wrote into the page
   * @param {import("./panels.js").Panels} parts.panels
   * @param {import("./api.js").TakeApi} parts.api
   * @param {import("./memory.js").Memory} parts.memory
   * @param {Window} parts.view
   * @param {(ask: () => Promise<boolean>) => import("./poll.js").Poll} parts.pollWith
   * @param {() => string|null} [parts.deviceFault] why this device cannot show pictures for an exact time
   * @param {() => boolean} [parts.lacksRoom] whether the window is too small for the pictures
   */
  constructor({ page, panels, api, memory, view, pollWith, deviceFault = () => null, lacksRoom = () => false }) {
    Object.assign(this, { page, panels, api, memory, view, deviceFault, lacksRoom });
    this.poll = pollWith(() => this.ask());
    /** Asks whether the study's window has agreed that this page goes on. */
    this.waiting = pollWith(() => this.askWhetherConfirmed());
    /** Lets this page repeat a call whose reply was lost. */
    this.opening = randomId(this.view);
    /** @type {{ask: string, claim: string, name: string}|null} */
    this.request = null;
    /** @type {object|null} token and addresses once the session is open */
    this.session = null;
    /** Whether the study runs within this page, and whether its end is shown. */
    Object.assign(this, { isInside: false, isDone: false });
  }

  /**
   * Shows the step the person is at. The ids leave the address: it must not end in histories and screenshots. They stay
   * where a frame may store nothing, because a reload could then find them nowhere else.
   */
  begin() {
    const { location, history } = this.view;
    const { ids, language } = partsOf(location.search);
    this.session = this.memory.recall(this.page, ids);
    if (ids && (this.page.isLink || this.memory.isLasting)) history.replaceState(null, "", location.pathname + language);
    if (this.page.isLink) this.memory.named(this.page);
    if (this.session) this.page.showsCode = this.session.showsCode;
    this.panels.quote(this.page.isUnfilled ? "" : idOfVisit(this.page));
    this.panels.reveal("noted", this.memory.isNoted(this.page.note));
    if (this.session) this.watch({ focus: false });
    else if (this.isAstray) this.panels.show(this.decision, { focus: false });
    // Said before anything is accepted, agreed to or begun.
    else if (this.page.isTimed && this.deviceFault()) this.panels.show("device", { focus: false });
    else if (this.page.isTimed && this.lacksRoom()) this.askForRoom();
    else this.panels.show(this.decision, { focus: false });
  }

  /** Said before anybody agrees; once the window is large enough, the page goes on by itself. */
  askForRoom() {
    this.panels.show("small", { focus: false });
    const look = () => {
      if (this.lacksRoom()) return;
      this.view.removeEventListener("resize", look);
      this.panels.show(this.decision);
    };
    this.view.addEventListener("resize", look);
  }

  /** Whether a site should have sent the person by an address that says who they are. */
  get isAstray() {
    return this.page.isUnfilled || (this.page.leadsOut && !this.page.workerId);
  }

  /** Where a person decides; a preview decides nothing, and nobody does who is astray. */
  get decision() {
    if (this.isAstray) return this.page.isUnfilled ? "unfilled" : "unnamed";
    return this.page.isPreview && !this.page.isPaused ? "preview" : "start";
  }

  /** Someone says that they are younger, or that they are not. Without a guardian's consent, that is the end of it. */
  tellAge(isMinor) {
    const mayTakePart = this.panels.find("[data-guardian]") !== null;
    if (isMinor && !mayTakePart) {
      this.panels.show("too-young");
      return;
    }
    for (const part of ["minor", "older"]) this.panels.reveal(part, isMinor);
    for (const part of ["of-age", "younger"]) this.panels.reveal(part, !isMinor);
    for (const error of ["consent-error", "minor-error"]) this.panels.reveal(error, false);
    this.panels.show("start", { focus: false });
    this.panels.find(isMinor ? "[data-guardian]" : "[data-consent]")?.focus();
  }

  /** The start button. A window is opened inside the click: later it would be taken for an advertisement. */
  async start({ consents, isMinor = false, continueHere = false, beginHere = false, isShared = false, tookPart = null }) {
    Object.assign(this, { isShared, isMinor, tookPart });
    this.panels.reveal("consent-error", !consents && !isMinor);
    this.panels.reveal("minor-error", !consents && isMinor);
    if (!consents) {
      this.panels.find(isMinor ? "[data-guardian]" : "[data-consent]")?.focus();
      return;
    }
    const question = this.panels.find('[name="took-part"]');
    const isOpen = Boolean(question) && tookPart === null;
    this.panels.reveal("repeat-error", isOpen);
    if (isOpen) {
      question.focus();
      return;
    }
    const opened = this.openWindow();
    try {
      this.goTo(opened, await this.open({ continueHere, beginHere }));
    } catch (error) {
      this.panels.reveal("begin-here", Boolean(error.mayBeginHere));
      if (this.mayAsk(error, continueHere)) {
        this.askElsewhere(opened, error.resume);
        return;
      }
      opened?.close();
      this.refuse(error, continueHere);
    }
  }

  /** Opens the session, and keeps its bearer; the one-time code for the study's window. */
  async open(proof) {
    const reply = await this.api.open(this.person(proof));
    if (!this.isShared) this.memory.note(this.page.note);
    this.session = {
      token: reply.token,
      runUrl: reply.run_url,
      statusUrl: reply.status_url,
      assignmentId: this.page.assignmentId,
      resumeName: this.page.resumeName,
      submitAddress: this.page.submitAddress,
      isShared: this.isShared,
      showsCode: this.page.showsCode,
    };
    this.memory.keep(this.session);
    this.memory.forgetName();
    return reply.handoff;
  }

  /** A frame cannot read what the study's window keeps: that window can be asked. On its own, this page reads the same. */
  mayAsk(error, continueHere) {
    return isBegun(error) && Boolean(error.resume) && this.page.hasWindow && (continueHere || !this.holds(error));
  }

  /** Whether what the study's window keeps can be read here: then only the word is missing that the other HIT was returned. */
  holds(error) {
    return isBegun(error) && !this.page.isLink && Boolean(this.memory.secret(error.resume?.name));
  }

  /** Something was begun before: the study's window, which may hold the secret, asks the person. */
  askElsewhere(opened, request) {
    this.request = request;
    const url = this.address(this.page.runUrl, hashFor(request));
    if (opened) opened.location.replace(url.href);
    const link = this.panels.find('[data-action="ask"]');
    if (link) link.href = url.href;
    this.panels.reveal("ask-blocked", !opened);
    this.panels.show("asked");
    this.waiting.start();
  }

  /** False once this page goes on, or there is nothing left to wait for. */
  async askWhetherConfirmed() {
    try {
      const { confirmed } = await this.api.isConfirmed(this.request.claim);
      this.panels.reveal("ask-offline", false);
      if (!confirmed) return true;
      await this.open({ continueHere: true, confirmed: this.request.claim });
    } catch (error) {
      if (!(error instanceof Refusal)) {
        this.panels.reveal("ask-offline", true);
        throw error;
      }
      if (error.status === 401) this.panels.show("ask-over");
      else this.refuse(error, true);
      return false;
    }
    this.tellOpened(true);
    this.watch();
    return false;
  }

  /** On with the study, from this page: by a fresh code, because the first one works once. */
  async reopen() {
    const opened = this.openWindow();
    try {
      const { handoff } = await this.api.handoff(this.session.token);
      this.goTo(opened, handoff);
    } catch (error) {
      opened?.close();
      if (error instanceof Refusal) this.startAgain();
      else this.panels.reveal("offline", true);
    }
  }

  /** One look at the session; false when there is nothing left to wait for. */
  async ask() {
    let status;
    try {
      status = await this.api.status(this.session.statusUrl, this.session.token);
    } catch (error) {
      if (error instanceof Refusal) {
        this.startAgain();
        return false;
      }
      this.panels.reveal("offline", true);
      throw error;
    }
    this.panels.reveal("offline", false);
    this.panels.quote(status.session_code || idOfVisit(this.page));
    if (FINISHED.has(status.state)) {
      // Also while the questions at the end are open: the last answer came after the last look.
      this.showProgress(status);
      // The questions at the end are on the study's page: where a window shows that, this page offers its form meanwhile.
      const isOpen = status.closing === "open";
      const endsThere = this.isInside || !this.page.hasWindow;
      if (!this.isDone && !(isOpen && endsThere)) await this.finish(status);
      if (isOpen) return true;
      if (status.closing === "given") this.leadOut();
      if (this.session.isShared) this.memory.forget();
      return false;
    }
    if (status.state === "out-of-time") {
      this.panels.reveal("out-of-time", true);
      this.panels.tellPayInTime(status);
      await this.finish(status);
      if (this.session.isShared) this.memory.forget();
      return false;
    }
    if (status.state === "withdrawn" || status.state === "left") {
      this.panels.tellLeft(status.state === "left");
      await this.tellWayOut();
      this.memory.forget();
      this.panels.find("[data-inside]")?.remove();
      this.panels.show("left");
      return false;
    }
    this.showProgress(status);
    return true;
  }

  /** Finish was pressed: nothing is left to do here. Once: whoever comes back to this page finds its button. */
  leadOut() {
    const form = this.panels.find('[data-form="submit"]');
    if (!form || this.session.isLedOut) return;
    this.session.isLedOut = true;
    this.memory.keep(this.session);
    form.requestSubmit();
  }

  /** How the person goes back to the site that has sent them. The study's page says the same. */
  async tellWayOut() {
    if (!this.page.leadsOut) return;
    const out = await this.api.wayOut(this.session.token).catch(() => null);
    if (out) showWayOut(this.panels.root, out);
  }

  /** Somebody does not take part, or cannot. @param {string} outcome */
  async decline(outcome) {
    try {
      showWayOut(this.panels.root, await this.api.decline(outcome));
      this.memory.forgetName();
      this.panels.tellDeclined(outcome);
      this.panels.show("declined");
    } catch (error) {
      this.refuse(error);
    }
  }

  async finish(status) {
    this.isDone = true;
    const form = this.panels.find('[data-form="submit"]');
    if (form) {
      form.action = this.session.submitAddress;
      form.elements.namedItem("assignmentId").value = this.session.assignmentId;
      form.elements.namedItem("receipt").value = status.receipt ?? "";
    }
    await this.tellWayOut();
    this.panels.find("[data-inside]")?.remove();
    this.panels.fill({ "completion-code": status.completion_code ?? "" });
    this.panels.reveal("code-line", Boolean(this.page.showsCode));
    this.panels.show("done");
    this.view.document.title = this.panels.find("#done-title")?.textContent ?? this.view.document.title;
  }

  watch({ focus = true } = {}) {
    this.panels.show("under-way", { focus });
    this.poll.start();
  }

  showProgress({ cursor, total }) {
    const bar = this.panels.find("[data-progress]");
    if (bar) Object.assign(bar, { max: Math.max(1, total), value: cursor });
    this.panels.fill({ progress: this.panels.message("progress", { answered: cursor, total }) });
  }

  /** The study's page in the language of this one, with the code that opens it. */
  address(path, handoff) {
    const url = new URL(path, this.view.location.href);
    url.searchParams.set("language", this.page.language);
    if (this.page.showsCode) url.searchParams.set("code", "");
    url.hash = handoff;
    return url;
  }

  /** @returns {Window|null} none where the study takes this page's place, or the browser opens none */
  openWindow() {
    return this.page.hasWindow ? this.view.open("about:blank", WINDOW) : null;
  }

  /** To the study: in its window, or in the place of this page, to which the browser's back button leads. */
  goTo(opened, handoff) {
    const url = this.address(this.session.runUrl, handoff);
    if (!this.page.hasWindow) {
      this.view.location.assign(url.href);
      return;
    }
    if (opened) opened.location.replace(url.href);
    const link = this.panels.find('[data-action="reopen"]');
    // Blocked inside the frame: a link that the person clicks is never taken for a pop-up.
    if (link) link.href = opened ? url.pathname + url.search : url.href;
    this.isBlocked = !opened;
    this.tellOpened(Boolean(opened));
    this.watch();
  }

  /** The browser has shown this page again as it was when it was left: by now something may have begun, or ended. */
  comeBack() {
    if (this.session) this.watch({ focus: false });
  }

  /** What the page says of the study's window. */
  tellOpened(isOpen) {
    for (const part of ["opened", "reopening"]) this.panels.reveal(part, isOpen);
    for (const part of ["not-opened", "blocked"]) this.panels.reveal(part, !isOpen);
  }

  /** No window may be opened here: the study goes on within this page, under a fresh code. */
  async inside() {
    try {
      const { handoff } = await this.api.handoff(this.session.token);
      const frame = this.panels.find("[data-inside]");
      const url = this.address(this.page.insideUrl, handoff);
      this.panels.show("inside", { focus: false });
      this.isInside = true;
      frame.src = url.href;
      // Keys go to the study without a click into it first.
      frame.addEventListener("load", () => frame.focus(), { once: true });
    } catch (error) {
      if (error instanceof Refusal) this.startAgain();
      else this.panels.reveal("offline", true);
    }
  }

  /** The session is gone (withdrawn, or its bearer too old): back to the decision. */
  startAgain() {
    this.poll.stop();
    this.memory.forget();
    this.session = null;
    this.panels.show(this.decision);
  }

  refuse(error, continueHere = false) {
    const isRefusal = error instanceof Refusal;
    this.panels.fill({ refusal: isRefusal ? error.message : error.detail || this.panels.message("unreachable") });
    if (error.wayOut) showWayOut(this.panels.root, error.wayOut);
    const mayContinue = !continueHere && this.holds(error);
    this.panels.reveal("continue-here", mayContinue);
    this.panels.reveal("retry", !isRefusal);
    this.panels.show(isBegun(error) && !mayContinue ? "begun" : "refused");
  }

  person({ continueHere = false, beginHere = false, confirmed = "" }) {
    const { assignmentId, hitId, workerId, turkSubmitTo, simulated, language, consentDigest, minutes } = this.page;
    const isMinor = Boolean(this.isMinor);
    const read = { language, consentDigest, minutes, isMinor, guardianAgrees: isMinor };
    const before = { tookPart: this.tookPart ?? null, seenBefore: this.memory.isNoted(this.page.note) };
    const secret = this.memory.secret(this.page.resumeName);
    const proof = { opening: this.opening, secret, confirmed, sharedComputer: Boolean(this.isShared) };
    return { consent: true, assignmentId, hitId, workerId, turkSubmitTo, simulated, continueHere, beginHere, ...read, ...before, ...proof };
  }
}

function isBegun(error) {
  return error.type === "already-begun";
}

/** An address's query, parted into who the page was opened for and the language that was chosen; each "" or with its "?". */
function partsOf(search) {
  const query = new URLSearchParams(search);
  const language = query.get("language");
  query.delete("language");
  const ids = query.toString();
  return { ids: ids && `?${ids}`, language: language ? `?language=${encodeURIComponent(language)}` : "" };
}

function randomId(view) {
  const bytes = view.crypto.getRandomValues(new Uint8Array(24));
  return [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}
