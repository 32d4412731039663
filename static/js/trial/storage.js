/** The browser's storage, or memory where the browser forbids it: a run must not fail because of a privacy setting. */

class MemoryStorage {
  #kept = new Map();

  get length() {
    return this.#kept.size;
  }

  key(index) {
    return [...this.#kept.keys()][index] ?? null;
  }

  getItem(key) {
    return this.#kept.get(key) ?? null;
  }

  setItem(key, value) {
    this.#kept.set(key, String(value));
  }

  removeItem(key) {
    this.#kept.delete(key);
  }
}

/** @param {() => Storage} open for example () => window.localStorage; throws where storage is forbidden */
export function openStorage(open) {
  try {
    const storage = open();
    storage.setItem("humanexp.probe", "1");
    storage.removeItem("humanexp.probe");
    return storage;
  } catch {
    return new MemoryStorage();
  }
}

/** A short name for a session, made from its bearer: names keys in storage without keeping the bearer there (FNV-1a, 2 x 32 bits). */
export function nameOf(token) {
  const hash = (seed) => {
    let state = seed;
    for (let at = 0; at < token.length; at += 1) state = Math.imul(state ^ token.charCodeAt(at), 0x01000193);
    return (state >>> 0).toString(16).padStart(8, "0");
  };
  return hash(0x811c9dc5) + hash(0x050c5d1f);
}
