/** The entry page's calls. No cookies: what a call may do follows from its bearer. */

const TIMEOUT_MS = 20_000;

/** A refusal by the server, from its problem JSON {type, title, detail}. */
export class Refusal extends Error {
  constructor({ status, type = "", detail = "", title = "", resume = null, begin_here = false, way_out = null }) {
    super(detail || title || `HTTP ${status}`);
    this.name = "Refusal";
    this.status = status;
    this.type = String(type).split(/[/#:]/).pop();
    /** How the browser in which it was begun can let this page go on: {ask, claim, name}, or null. */
    this.resume = resume;
    /** Whether a session of its own can be begun here instead. */
    this.mayBeginHere = begin_here;
    /** How the person goes back to the site that has sent them: {outcome, kind, address, code}, or null. */
    this.wayOut = way_out;
  }
}

/** No reply, or a server that is away: worth another try. */
export class NoReply extends Error {
  /** @param {string} [detail] the server's own sentence, where it said why it cannot answer now */
  constructor(cause, detail = "") {
    super("no reply", { cause });
    this.name = "NoReply";
    this.detail = detail;
  }
}

export class TakeApi {
  #fetch;
  #page;

  /** @param {{fetch: typeof fetch, page: object}} options `page`: what the server wrote into the page */
  constructor({ fetch, page }) {
    this.#fetch = fetch;
    this.#page = page;
  }

  /** @returns {Promise<{token: string, handoff: string, status_url: string, run_url: string}>} */
  open(person) {
    return this.#call("POST", this.#page.openUrl, { body: person });
  }

  /** @returns {Promise<{confirmed: boolean}>} whether the study's window has agreed that this page goes on */
  isConfirmed(claim) {
    return this.#call("POST", this.#page.resumeUrl, { body: { claim } });
  }

  /** @returns {Promise<{handoff: string, run_url: string}>} the way into the study by a personal link */
  follow(link) {
    return this.#call("POST", this.#page.followUrl, { body: { link } });
  }

  /** @returns {Promise<{handoff: string}>} a fresh one-time code for the window of the study */
  handoff(token) {
    return this.#call("POST", this.#page.handoffUrl, { token });
  }

  /** @returns {Promise<{state: string, cursor: number, total: number, receipt?: string, completion_code?: string}>} */
  status(url, token) {
    return this.#call("GET", url, { token });
  }

  /** How somebody goes back whose session has ended. */
  wayOut(token) {
    return this.#call("POST", this.#page.wayOutUrl, { token });
  }

  /** How somebody goes back who does not take part. */
  decline(outcome) {
    const { workerId, assignmentId } = this.#page;
    return this.#call("POST", this.#page.declineUrl, { body: { outcome, workerId, assignmentId } });
  }

  async #call(method, url, { token, body } = {}) {
    // Refusals come as sentences: in the language of the page.
    const headers = { Accept: "application/json", "Accept-Language": this.#page.texts ?? this.#page.language };
    if (token) headers.Authorization = `Bearer ${token}`;
    if (body) headers["Content-Type"] = "application/json";
    const abort = new AbortController();
    const timer = setTimeout(() => abort.abort(), TIMEOUT_MS);
    try {
      const reply = await this.#fetch(url, {
        method,
        headers,
        body: body && JSON.stringify(body),
        cache: "no-store",
        credentials: "omit",
        referrerPolicy: "no-referrer",
        signal: abort.signal,
      });
      if (reply.ok) return reply.status === 204 ? null : await reply.json();
      if (reply.status === 429) throw new NoReply(reply.status, (await problemOf(reply)).detail);
      if (reply.status >= 500) throw new NoReply(reply.status);
      throw new Refusal({ ...(await problemOf(reply)), status: reply.status });
    } catch (error) {
      throw error instanceof Refusal || error instanceof NoReply ? error : new NoReply(error);
    } finally {
      clearTimeout(timer);
    }
  }
}

async function problemOf(reply) {
  try {
    return (await reply.json()) ?? {};
  } catch {
    return {};
  }
}
