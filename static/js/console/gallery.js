/** Frames of the gallery are as high as the pages in them, and fit on a sheet of paper where they are printed. */

/** What a sheet of A4 takes below a heading, and the least size at which a page can still be read, px. */
const SHEET = { width: 690, height: 930 };
const SMALLEST = 0.45;

function fit(frame) {
  const sheet = frame.parentElement;
  const shown = frame.contentDocument?.documentElement;
  if (!shown) return;
  const height = shown.scrollHeight;
  sheet.style.setProperty("--height", `${height}px`);
  const printed = Math.min(1, SHEET.width / shown.clientWidth, SHEET.height / height);
  sheet.style.setProperty("--printed", String(Math.max(SMALLEST, printed)));
}

/** Examples are filled in after a page has been loaded, and make it higher. */
function follow(frame) {
  fit(frame);
  const shown = frame.contentDocument?.body;
  if (shown) new ResizeObserver(() => fit(frame)).observe(shown);
}

for (const frame of document.querySelectorAll("[data-gallery-frame]")) {
  frame.addEventListener("load", () => follow(frame));
  if (frame.contentDocument?.readyState === "complete") follow(frame);
}
