// The walk page: one slider moves one picture through visual change, under every function that is shown.

import { filled, shortened, shown, Walker } from "./walker.js";

const root = document.querySelector("[data-walk]");
if (root) connect(root);

function connect(root) {
  const { steps, addresses } = JSON.parse(document.getElementById("walk-settings").textContent);
  const slider = root.querySelector("[data-walk-slider]");
  const target = root.querySelector("[data-walk-target]");
  const said = root.querySelector("[data-walk-said]");
  const change = root.querySelector("[data-walk-change]");
  const words = said.dataset;

  const walkers = [...root.querySelectorAll("[data-walk-function]")].map((panel) => {
    const address = addresses[panel.dataset.walkFunction];
    return new Walker(
      steps,
      async (step) => {
        const response = await fetch(`${address}${step}/`, { headers: { Accept: "application/json" } });
        if (!response.ok) throw new Error(`${response.status} ${response.statusText}`);
        return response.json();
      },
      (step, found) => paint(panel, found),
      (error) => (said.textContent = `${words.failed} ${error.message}`),
    );
  });

  function paint(panel, found) {
    const limit = panel.querySelector("[data-walk-limit]");
    panel.querySelector("[data-walk-picture]").src = found.picture;
    panel.querySelector("[data-walk-reached]").textContent = filled(words.reached, { change: shown(found.visual_change, 3) });
    const { unit } = found;
    panel.querySelector("[data-walk-parameter]").textContent = filled(found.unit === "level" ? words.level : words.parameter, { parameter: shortened(found.parameter), unit });
    limit.hidden = found.reached;
    if (!found.reached) {
      const sentence = found.stimulus ? words.nearest : found.limit < found.target ? words.above : words.below;
      limit.textContent = filled(sentence, { limit: shown(found.limit, 3) });
    }
    panel.setAttribute("data-walk-step", found.step);
  }

  function show() {
    const step = Number(slider.value);
    const text = shown(step / steps, 3);
    target.textContent = text;
    slider.setAttribute("aria-valuetext", `Δv ${text}`);
    change.value = text;
    said.textContent = "";
    for (const walker of walkers) walker.show(step);
  }

  slider.addEventListener("input", show);
  slider.addEventListener("change", () => {
    const address = new URL(window.location.href);
    address.searchParams.set("change", shown(Number(slider.value) / steps, 3));
    window.history.replaceState(null, "", address);
  });
  show();
}
