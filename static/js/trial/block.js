/** A block: its pictures made ready, its trials run one by one, its answers saved. */
import { attend } from "./attention.js";
import { showFeedback } from "./feedback.js";
import { PictureStore } from "./pictures.js";
import { openPositions } from "./plan.js";
import { getReady } from "./ready.js";
import { Surface } from "./surface.js";
import { runTrial } from "./trial.js";

/** Grey between two trials. */
const INTERVAL_MS = 300;

/** The interval waits this much longer for an answer on its way, so that replies are not handled during a trial. */
const PATIENCE_MS = 700;

/** The chosen answer stays marked this long. */
const CHOSEN_MS = 150;

/** Grey before the first trial after a page of text. */
const SETTLE_MS = 800;

/** Runs what is left of a block; resolves when the server has acknowledged every answer. */
export async function runBlock(run, step) {
  const { session, outbox, screens } = run;
  const { block } = step;
  const positions = openPositions(block, session.cursor, outbox.positions);
  const pictures = new PictureStore({
    api: run.api,
    createBitmap: run.createBitmap,
    sleep: run.sleep,
    sizePx: session.protocol.size_px,
  });
  await getReady(run, step, pictures, positions);
  screens.show("trial");
  await run.grid.fill(session.choices[block.task]);
  run.grid.ask(screens.message(`question-${block.task}`));
  const surface = new Surface({
    canvas: screens.find("canvas"),
    view: run.view,
    protocol: session.protocol,
  });
  const settle = async () => {
    screens.show("trial");
    await run.sleep(SETTLE_MS);
  };
  await settle();
  for (const position of positions) {
    await attend(run, settle);
    surface.fit();
    run.progress.reach(position, session.total);
    await answerOne(run, { block, surface, position, shown: pictures.of(position) });
    pictures.release(position);
  }
  screens.show("saving");
  await outbox.drained();
}

async function answerOne(run, { block, surface, position, shown }) {
  const { outbox, grid, session, progress } = run;
  outbox.hold();
  progress.hold();
  const { response, rt_ms, clicks, timing } = await runTrial({
    protocol: session.protocol,
    pictures: shown,
    refresh: run.refresh,
    surface,
    grid,
    watch: run.watch,
    raf: run.raf,
    clock: run.clock,
  });
  outbox.add({ position, response, rt_ms, clicks, timing, simulated: false });
  outbox.release();
  progress.release();
  if (block.feedback) await showFeedback(run, { choices: session.choices[block.task], position, response });
  else await run.sleep(CHOSEN_MS);
  grid.hide();
  await run.sleep(INTERVAL_MS);
  await Promise.race([outbox.quiet(), run.sleep(PATIENCE_MS)]);
  if (outbox.fault) throw outbox.fault;
}
