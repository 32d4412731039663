/** What a browser keeps to go on with a session: a secret for every entry and person, named by the server so that it tells no id. */

const PREFIX = "humanexp.resume.";

/** Under which the page of consent keeps its session in the tab. @param {string} entry */
export const keyOfEntry = (entry) => `humanexp.take.${entry}`;

/** @param {Storage} storage @param {{name: string, secret: string}|null|undefined} kept nothing where other people use the computer */
export function keepSecret(storage, kept) {
  if (!kept?.name || !kept.secret) return;
  try {
    storage.setItem(PREFIX + kept.name, kept.secret);
  } catch {
    // A full storage: the session goes on in this window all the same.
  }
}

/** @returns {string} empty where nothing is kept under the name */
export function secretOf(storage, name) {
  return (name && storage.getItem(PREFIX + name)) || "";
}

/** The request to go on that another page has put into this window's address, or null. */
export function requestIn(hash) {
  const query = new URLSearchParams(hash.replace(/^#/, ""));
  const ask = query.get("resume");
  return ask ? { ask, name: query.get("as") ?? "" } : null;
}

/** @param {{ask: string, name: string}} request @returns {string} what `requestIn` reads */
export function hashFor({ ask, name }) {
  return new URLSearchParams({ resume: ask, as: name }).toString();
}
