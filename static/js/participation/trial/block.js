/** A block: its pictures made ready, its trials run one by one, its answers saved. */
import { cutOff } from "./begun.js";
import { PictureStore } from "./pictures.js";
import { openPositions } from "./plan.js";
import { getReady } from "./ready.js";
import { taskOf } from "./tasks/index.js";

/** Runs what is left of a block; resolves when the server has acknowledged every answer. */
export async function runBlock(run, step) {
  const { session, outbox, screens } = run;
  const { block } = step;
  const task = taskOf(block.task);
  const open = openPositions(block, session.cursor, outbox.positions);
  const lost = open.includes(run.begun.position) ? run.begun.position : null;
  const positions = open.filter((position) => position !== lost);
  const pictures = new PictureStore({
    api: run.api,
    createBitmap: run.createBitmap,
    sleep: run.sleep,
    sizePx: session.protocol.size_px,
  });
  if (positions.length > 0) await getReady(run, step, pictures, positions);
  // Not before the person goes on here: the window in which the trial began may still be answering it.
  if (lost !== null) {
    outbox.add(cutOff(lost));
    run.begun.clear();
  }
  run.presence.confirm();
  const stage = await task.open(run, block);
  for (const position of positions) {
    await run.leaving.considered();
    await stage.attend();
    run.progress.reach(position, session.total);
    const answer = await stage.ask({ position, pictures: pictures.of(position) });
    const complete = (whole) => ({ position, ...whole, simulated: false });
    // Whoever is told whether they were right waits for the reply: there an answer goes out as it is.
    const settled = task.isTimed ? run.presence.note(answer) : null;
    outbox.add(complete(answer), block.feedback ? null : settled?.then(complete));
    run.begun.clear();
    await stage.leave({ position, response: answer.response, hasFeedback: block.feedback });
    if (outbox.fault) throw outbox.fault;
    pictures.release(position);
  }
  await run.leaving.considered();
  screens.show("saving");
  await outbox.drained();
}
