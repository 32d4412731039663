// The work page: counts the time down, and moves on when the frame says that the work is submitted.
//   <dd data-seconds-left="540">9 min</dd>   <iframe data-work-frame>

export function inWords(seconds) {
  const days = Math.floor(seconds / 86400);
  const hours = Math.floor((seconds % 86400) / 3600);
  const minutes = Math.floor((seconds % 3600) / 60);
  const parts = [
    [days, days === 1 ? "day" : "days"],
    [hours, "h"],
    [minutes, "min"],
    [Math.floor(seconds % 60), "s"],
  ];
  const shown = parts.filter(([number]) => number > 0).slice(0, 2);
  return shown.map(([number, unit]) => `${number} ${unit}`).join(" ") || "0 s";
}

function countDown(element) {
  const end = performance.now() + Number(element.dataset.secondsLeft) * 1000;
  const timer = setInterval(() => {
    const left = Math.max(0, Math.round((end - performance.now()) / 1000));
    element.textContent = inWords(left);
    element.classList.toggle("is-short", left < 120);
    if (left === 0) {
      clearInterval(timer);
      location.reload();
    }
  }, 1000);
}

if (typeof document !== "undefined") {
  document.querySelectorAll("[data-seconds-left]").forEach(countDown);
  // Our own page in the frame says so, after the form was stored; anybody else's word is not taken.
  addEventListener("message", (event) => {
    if (event.origin === location.origin && event.data?.marketplace === "submitted") location.reload();
  });
}
