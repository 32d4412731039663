/** Frames of the gallery are as high as the pages in them, and fit on a sheet of paper where they are printed. */

/** What a sheet of A4 takes below a heading, and the least size at which a page can still be read, px. */
const SHEET = { width: 690, height: 930 };
const SMALLEST = 0.45;

function fit(frame) {
  const holder = frame.parentElement;
  const shown = frame.contentDocument?.documentElement;
  if (!shown) return;
  const height = shown.scrollHeight;
  holder.style.setProperty("--height", `${height + 2}px`);
  const printed = Math.min(1, SHEET.width / shown.clientWidth, SHEET.height / height);
  holder.style.setProperty("--printed", String(Math.max(SMALLEST, printed)));
}

for (const frame of document.querySelectorAll(".gallery__frame iframe")) {
  frame.addEventListener("load", () => fit(frame));
  if (frame.contentDocument?.readyState === "complete") fit(frame);
}
