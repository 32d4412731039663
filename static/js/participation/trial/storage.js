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

const DATABASE = "humanexp";
const STORE = "kept";
/** A database that does not open by then is done without. */
const OPENING_MS = 3000;

/**
 * Storage that outlives the kill of the whole browser, or a loss of power, a moment after a write: in memory at once, in IndexedDB with
 * strict durability behind it. (Chromium brings localStorage onto the disk some seconds later.)
 */
class DurableStorage extends MemoryStorage {
  #database;
  #fault = null;

  constructor(database, entries) {
    super();
    for (const [key, value] of entries) super.setItem(key, value);
    this.#database = database;
  }

  /** @throws when this or an earlier value could not be written; it is kept in memory all the same */
  setItem(key, value) {
    super.setItem(key, value);
    this.#write((store) => store.put(String(value), key));
    if (this.#fault) throw this.#fault;
  }

  removeItem(key) {
    super.removeItem(key);
    this.#write((store) => store.delete(key));
  }

  #write(change) {
    try {
      const transaction = this.#database.transaction(STORE, "readwrite", { durability: "strict" });
      transaction.onabort = () => {
        this.#fault = transaction.error ?? new Error("not written");
      };
      change(transaction.objectStore(STORE));
      // At once, not when this page finds time: it may be gone by then.
      transaction.commit();
    } catch (error) {
      // The browser has closed the database, for instance because the site's data were cleared.
      this.#fault = error;
    }
  }
}

/**
 * @param {() => IDBFactory} factory for example () => indexedDB
 * @param {() => Storage} second where the first is forbidden
 */
export async function openDurableStorage(factory, second) {
  try {
    const database = await opened(factory());
    const store = database.transaction(STORE).objectStore(STORE);
    const [keys, values] = await Promise.all([store.getAllKeys(), store.getAll()].map(settled));
    return new DurableStorage(database, keys.map((key, index) => [key, values[index]]));
  } catch {
    return openStorage(second);
  }
}

function opened(factory) {
  const request = factory.open(DATABASE, 1);
  request.onupgradeneeded = () => request.result.createObjectStore(STORE);
  return Promise.race([
    settled(request),
    new Promise((_, reject) => {
      setTimeout(() => reject(new Error("the database does not open")), OPENING_MS);
    }),
  ]);
}

function settled(request) {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
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
