// The curves of a figure at one place, for the numbers beside its legend.

const nearest = (places, v) => places.reduce((best, place, number) => (Math.abs(place - v) < Math.abs(places[best] - v) ? number : best), 0);

/**
 * @param {object[]} entries  traces of the figure, as the server made them
 * @param {number} v          place on the abscissa
 * @param {string} band       the kind of band to read ("" = none)
 * @returns {Map<string, {estimate: number, band: [number, number] | null}>} by observer
 */
export function readingsAt(entries, v, band) {
  const readings = new Map();
  for (const { meta, x, y } of entries) {
    if (meta.kind === "line") readings.set(meta.observer, { estimate: y[nearest(x, v)], band: null });
  }
  for (const { meta, x, y } of entries) {
    if (meta.kind !== "band" || meta.band !== band || !readings.has(meta.observer)) continue;
    // A band is one outline: up along its lower edge, back along the upper one.
    const half = x.length / 2;
    const place = nearest(x.slice(0, half), v);
    readings.get(meta.observer).band = [y[place], y[y.length - 1 - place]];
  }
  return readings;
}
