/** The page before a block, a break too: gets the pictures, measures the screen, and waits for the person. */
import { enterFullScreen } from "./environment.js";
import { measureRefresh } from "./frames.js";
import { blockNumber, isRepeated } from "./plan.js";
import { taskOf } from "./tasks/index.js";

/** Shows the page and resolves when the person has pressed Start and every picture is decoded. */
export async function getReady(run, step, pictures, positions) {
  const { screens, session } = run;
  const { block } = step;
  if (session.slow_down) {
    screens.show("slow");
    await screens.pressed("continue");
  }
  announceRound(run, step, positions.length);
  const start = screens.find("[data-action=start]");
  const bar = screens.find("progress");
  start.disabled = true;
  bar.value = 0;
  const task = taskOf(block.task);
  await pictures.prefetch(positions, task.needs(session.protocol), (done, total) => {
    bar.max = Math.max(1, total);
    bar.value = done;
    screens.fill({ loading: screens.message("loading-pictures", { done, total }) });
  });
  if (task.isTimed) {
    // Measured again before every block, and after the downloads: laptops change their rhythm on battery.
    screens.fill({ loading: screens.message("measuring") });
    run.refresh = await measureRefresh({ raf: run.raf });
  }
  screens.fill({ loading: screens.message("pictures-ready") });
  screens.announce(screens.message("pictures-ready"));
  start.disabled = false;
  const pressed = screens.pressed("start");
  start.focus({ preventScroll: true });
  await pressed;
  if (!task.isTimed || run.hasStarted) return;
  // Once only: whoever leaves it is offered it back before the next trial (attention.js).
  run.hasStarted = true;
  await enterFullScreen(run.view);
  run.isFullScreen = Boolean(run.view.document.fullscreenElement);
}

/** Shows the page with what it says of a round of so many trials. */
export function announceRound({ screens, session }, step, count) {
  const { block } = step;
  const kind = pageOf(session, step);
  const { number, of } = blockNumber(session, block);
  const values = { counted: screens.message(`counted-${block.task}`, { count }), needed: block.needed };
  screens.show("ready", {
    title: screens.message(`ready-${kind}-title${roundsOf(session, of)}`, { number, of }) || screens.message(`ready-${kind}-title`, { number, of }),
    text: screens.message(`ready-${kind}-text-${block.task}`, values) || screens.message(`ready-${kind}-text`, values),
    left: screens.message("minutes-left", { minutes: session.minutes_left }),
    loading: "",
  });
  screens.find("[data-action=start]").textContent = screens.message(
    block.kind === "practice" && kind !== "resumed" ? "start-practice" : "start",
  );
}

/** @returns {""|"-part"|"-only"} whether the rounds are those of the session, of one of its tasks, or a single one */
function roundsOf(session, of) {
  if (of === 1) return "-only";
  const counted = session.blocks.filter(({ kind }) => kind === "main");
  return counted.some(({ task }) => task !== counted[0].task) ? "-part" : "";
}

/**
 * @returns {"practice"|"slow"|"round"|"again"|"qualification"|"requalification"|"main"|"break"|"resumed"} which text the page
 *   carries
 */
function pageOf(session, { block, isResumed }) {
  if (isResumed) return "resumed";
  if (block.kind === "qualification") return isRepeated(session, block) ? "requalification" : "qualification";
  if (block.is_slow) return "slow";
  if (block.needed !== undefined) return isRepeated(session, block) ? "again" : "round";
  if (block.kind !== "main") return block.kind;
  const before = session.blocks.find(({ last }) => last === block.first - 1);
  return before?.kind === "main" && before.task === block.task ? "break" : "main";
}
