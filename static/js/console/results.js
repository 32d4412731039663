// The results page: connects switches, legend and panels with the chart.

import { FigureView } from "./figures.js";

async function fetchFigure(template, key) {
  const response = await fetch(template.replace("KEY", encodeURIComponent(key)), { headers: { Accept: "application/json" } });
  if (!response.ok) throw new Error(`the figure could not be loaded (${response.status})`);
  return response.json();
}

function connect(root) {
  const element = root.querySelector("[data-chart]");
  const first = JSON.parse(document.getElementById(element.dataset.chart).textContent);
  const said = root.querySelector("[data-chart-said]");
  const view = new FigureView(element, first, window.Plotly, (key) => fetchFigure(element.dataset.source, key));

  const attempt = async (drawing) => {
    try {
      await drawing;
      said.textContent = "";
    } catch (error) {
      said.textContent = `${said.dataset.failed} ${error.message}`;
    }
  };

  root.addEventListener("change", (event) => {
    const { name, value, checked } = event.target;
    if (name === "figure") {
      for (const panel of root.querySelectorAll("[data-panel]")) panel.hidden = panel.dataset.panel !== value;
      const address = new URL(window.location.href);
      address.searchParams.set("figure", value);
      window.history.replaceState(null, "", address);
      attempt(view.show(value));
    } else if (name === "band") {
      attempt(view.useBand(value));
    } else if (name === "observer") {
      attempt(view.toggle(value, checked));
    }
  });

  attempt(view.show(first.key)).then(() => element.setAttribute("data-drawn", ""));
}

for (const root of document.querySelectorAll("[data-figure-root]")) connect(root);

// An analysis that was started here has ended: show what it found.
document.body.addEventListener("jobFinished", (event) => {
  if (event.detail.state === "done") window.location.reload();
});
