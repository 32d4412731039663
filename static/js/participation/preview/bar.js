/** The bar of a preview: answer by itself, skip, end. Skipping moves the server's cursor and loads the page anew. */

const AUTO_KEY = "humanexp.preview.auto";

/** @param {{run: object, config: {api: string, hurry: number, end: string}, autopilot: import("./autopilot.js").Autopilot}} options */
export function openBar({ run, config, autopilot }) {
  const { document, view, tab } = run;
  const bar = document.querySelector("[data-preview]");
  const auto = bar.querySelector("[data-preview-auto]");
  auto.checked = (tab.getItem(AUTO_KEY) ?? String(config.hurry > 1)) === "true";
  const obey = () => (auto.checked ? autopilot.start() : autopilot.stop());
  auto.addEventListener("change", () => {
    tab.setItem(AUTO_KEY, String(auto.checked));
    obey();
  });
  obey();

  const leave = (address) => {
    run.isReloading = true;
    if (address) view.location.assign(address);
    else view.location.reload();
  };
  for (const button of bar.querySelectorAll("[data-preview-skip]")) {
    button.addEventListener("click", async () => {
      await call(run, config, "skip/", { to: button.dataset.previewSkip });
      leave();
    });
  }
  bar.querySelector("[data-preview-end]").addEventListener("click", async () => {
    await call(run, config, "withdraw/", {});
    leave(config.end);
  });

  const show = () => {
    const blocks = run.session?.blocks ?? [];
    const isUnderWay = Boolean(run.api.lease) && document.body.dataset.state !== "done";
    const main = blocks.find(({ kind }) => kind === "main");
    bar.querySelector("[data-preview-skip=block]").hidden = !isUnderWay;
    bar.querySelector("[data-preview-skip=main]").hidden = !isUnderWay || !main || run.session.cursor >= main.first;
  };
  new view.MutationObserver(show).observe(document.body, { attributeFilter: ["data-state"] });
  show();
}

/** A preview that is over already is no fault: there is nothing left to skip or to end. */
function call(run, config, path, body) {
  const headers = { "Content-Type": "application/json", Authorization: `Bearer ${run.api.token}`, "X-Lease": run.api.lease ?? "" };
  const request = { method: "POST", headers, body: JSON.stringify(body), credentials: "omit", cache: "no-store" };
  return fetch(config.api + path, request).catch(() => null);
}
