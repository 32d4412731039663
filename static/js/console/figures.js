// Draws the figures of a page with plotly. A figure is {data, layout} made on the server; this decides only what is shown.

/**
 * The entries of a figure with `visible` set.
 * @param {{meta: {kind: string, observer: string, band: string}}[]} entries
 * @param {{hidden: Set<string>, band: string}} shown  observers that are switched off; the kind of band to show ("" = none)
 */
export function visibleEntries(entries, { hidden, band }) {
  return entries.map((entry) => ({
    ...entry,
    visible: !hidden.has(entry.meta.observer) && (entry.meta.kind !== "band" || entry.meta.band === band),
  }));
}

/** One chart element with its switches. */
export class FigureView {
  /**
   * @param {HTMLElement} element    where plotly draws
   * @param {object} first           the figure that came with the page
   * @param {object} plotly
   * @param {(key: string) => Promise<object>} load  fetches another figure
   */
  constructor(element, first, plotly, load) {
    this.element = element;
    this.plotly = plotly;
    this.load = load;
    this.figures = new Map([[first.key, Promise.resolve(first)]]);
    this.key = first.key;
    this.hidden = new Set();
    this.band = first.bands[0] ?? "";
  }

  /** Draw the figure called `key`; a later call wins over an earlier one that is still loading. */
  async show(key) {
    this.key = key;
    if (!this.figures.has(key)) this.figures.set(key, this.load(key));
    let figure;
    try {
      figure = await this.figures.get(key);
    } catch (error) {
      this.figures.delete(key); // the next try asks the server again
      throw error;
    }
    if (this.key !== key) return;
    const entries = visibleEntries(figure.data, this);
    await this.plotly.react(this.element, entries, figure.layout, { responsive: true, displayModeBar: false });
    this.element.setAttribute("aria-label", figure.description);
  }

  toggle(observer, shown) {
    if (shown) this.hidden.delete(observer);
    else this.hidden.add(observer);
    return this.show(this.key);
  }

  useBand(band) {
    this.band = band;
    return this.show(this.key);
  }
}
