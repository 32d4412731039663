// Addresses of a figure's files, so that what is downloaded is what is shown.

/**
 * @param {string} address
 * @param {{observers: string[], hidden: Set<string>, band: string}} shown
 */
export function addressOfShown(address, { observers, hidden, band }) {
  const url = new URL(address, "http://page");
  url.searchParams.delete("observer");
  url.searchParams.set("band", band);
  if (observers.some((name) => hidden.has(name))) {
    for (const name of observers) if (!hidden.has(name)) url.searchParams.append("observer", name);
  }
  return `${url.pathname}${url.search}`;
}
