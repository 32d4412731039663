/** The run API: bearer and lease on every call, no cookies, and errors as two kinds: worth another try, or not. */

const TIMEOUT_MS = 20_000;

/** Answers of a server that is busy or starting: the same request may succeed later. */
const PASSING = new Set([408, 425, 429, 500, 502, 503, 504]);

/** A refusal by the server, from its problem JSON {type, title, detail}. */
export class Refusal extends Error {
  constructor({ status, type, title, detail }) {
    super(detail || title || `HTTP ${status}`);
    this.name = "Refusal";
    this.status = status;
    /** The last part of the problem type: "lease-lost", "out-of-order", "session-closed", or "". */
    this.type = String(type ?? "").split(/[/#:]/).pop();
    // A damaged picture is one until somebody restores it.
    this.mayPass = PASSING.has(status) && this.type !== "picture-damaged";
  }
}

/** No reply: the network, or the server, is away. Whether the request was carried out is unknown. */
export class NoReply extends Error {
  constructor(cause) {
    super("no reply", { cause });
    this.name = "NoReply";
    this.status = 0;
    this.type = "no-reply";
    this.mayPass = true;
  }
}

export class RunApi {
  /** @type {string|null} */
  token = null;
  /** @type {string|null} */
  lease = null;
  #base;
  #fetch;
  #language;

  /**
   * @param {object} options
   * @param {string} options.base for example "/api/v1/run/"
   * @param {typeof fetch} options.fetch
   * @param {string} [options.language] of the page: labels and questions come in it
   */
  constructor({ base, fetch, language = "en" }) {
    this.#base = base;
    this.#fetch = fetch;
    this.#language = language;
  }

  /** @returns {Promise<{token: string, resume?: {name: string, secret: string}|null}>} */
  redeem(code) {
    return this.#json("POST", "handoff/", { code });
  }

  /** What a hand-off code opens, without using it up. @returns {Promise<{tasks: string[]}>} */
  look(code) {
    return this.#json("POST", "handoff/look/", { code });
  }

  /** Agrees that the page that asks goes on with the session of the secret. @returns {Promise<{token: string}>} */
  confirm({ ask, secret }) {
    return this.#json("POST", "resume/", { ask, secret });
  }

  session() {
    return this.#json("GET", "session/");
  }

  /** Makes this window the owner of the session; every other window's calls are refused from now on. */
  async takeLease(lease) {
    this.lease = lease;
    return this.#json("POST", "lease/", { lease });
  }

  respond(response) {
    // keepalive: an answer on its way survives the closing of the page.
    return this.#json("POST", "responses/", response, { keepalive: true });
  }

  complete(environment) {
    return this.#json("POST", "complete/", { environment });
  }

  /** What was said at the end; sent again, the first time counts. */
  deletionCode() {
    return this.#json("POST", "deletion/", {});
  }

  storeSetUp(found) {
    return this.#json("POST", "setup/", found);
  }

  closing(said) {
    return this.#json("POST", "closing/", said);
  }

  /** Somebody has finished whom no recruiter takes back. @param {string} address */
  finished(address) {
    return this.#call({ method: "POST", url: address, read: () => null });
  }

  /** How the person goes back to where they came from, once the session has ended. @param {string} address */
  wayOut(address) {
    return this.#call({ method: "POST", url: address, read: (reply) => reply.json() });
  }

  /**
   * Ends the session: its answers stay, or count no more and are erased later. For want of time only where the server
   * finds the same, as the state says that it replies.
   *
   * @param {{keep: boolean, reason?: "own"|"time"}} how
   */
  withdraw({ keep, reason = "own" }) {
    return this.#json("POST", "withdraw/", { keep, reason });
  }

  status() {
    return this.#json("GET", "status/");
  }

  /**
   * The pictures of some consecutive trials: of each its showings, then its mask where it has one; and what each trial
   * offers, as places in the session's choices, where that is less than all of them.
   *
   * @returns {Promise<{blobs: Blob[], options: number[][]}>}
   */
  pictures(first, last) {
    const read = async (reply) => ({
      blobs: parted(await reply.blob(), reply.headers.get("Picture-Lengths")),
      options: optionsIn(reply.headers.get("Trial-Options")),
    });
    return this.#call({ method: "GET", path: `trials/${first}-${last}/pictures/`, read });
  }

  /** What is asked of this trial's picture, where that differs from trial to trial. */
  question(position) {
    return this.#json("GET", `trials/${position}/question/`);
  }

  #json(method, path, body, extra = {}) {
    return this.#call({ method, path, body, extra, read: (reply) => reply.json() });
  }

  async #call({ method, path, url = this.#base + path, body, extra, read }) {
    const headers = { Accept: "application/json, application/octet-stream", "Accept-Language": this.#language };
    if (this.token) headers.Authorization = `Bearer ${this.token}`;
    if (this.lease) headers["X-Lease"] = this.lease;
    if (body !== undefined) headers["Content-Type"] = "application/json";
    const abort = new AbortController();
    const timer = setTimeout(() => abort.abort(), TIMEOUT_MS);
    try {
      const reply = await this.#fetch(url, {
        method,
        headers,
        body: body === undefined ? undefined : JSON.stringify(body),
        cache: "no-store",
        credentials: "omit",
        referrerPolicy: "no-referrer",
        signal: abort.signal,
        ...extra,
      });
      if (reply.ok) return await read(reply);
      throw new Refusal({ ...(await problemOf(reply)), status: reply.status });
    } catch (error) {
      // A reply that was cut off in the middle is no reply.
      throw error instanceof Refusal ? error : new NoReply(error);
    } finally {
      clearTimeout(timer);
    }
  }
}

/** @throws when the lengths do not add up: the reply was cut off, or a proxy has changed it */
function parted(blob, header) {
  const lengths = String(header).split(",").map(Number);
  const total = lengths.reduce((sum, length) => sum + length, 0);
  if (total !== blob.size) throw new Error(`${blob.size} bytes of pictures instead of ${header}`);
  let end = 0;
  return lengths.map((length) => blob.slice(end, (end += length), "image/png"));
}

/** Of each trial the places of what it offers; none where trials offer all. */
function optionsIn(header) {
  return header ? header.split(",").map((trial) => (trial ? trial.split(" ").map(Number) : null)) : [];
}

/** The problem JSON of a refusal; a proxy's own page has none, and its status says enough. */
async function problemOf(reply) {
  try {
    return (await reply.json()) ?? {};
  } catch {
    return {};
  }
}
