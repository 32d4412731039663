/** A block: its pictures made ready, its trials run one by one, its answers saved. */
import { PictureStore } from "./pictures.js";
import { openPositions } from "./plan.js";
import { getReady } from "./ready.js";
import { taskOf } from "./tasks/index.js";

/** Runs what is left of a block; resolves when the server has acknowledged every answer. */
export async function runBlock(run, step) {
  const { session, outbox, screens } = run;
  const { block } = step;
  const task = taskOf(block.task);
  const positions = openPositions(block, session.cursor, outbox.positions);
  const pictures = new PictureStore({
    api: run.api,
    createBitmap: run.createBitmap,
    sleep: run.sleep,
    sizePx: session.protocol.size_px,
  });
  await getReady(run, step, pictures, positions);
  const stage = await task.open(run, block);
  for (const position of positions) {
    await run.leaving.considered();
    await stage.attend();
    run.progress.reach(position, session.total);
    const answer = await stage.ask({ position, pictures: pictures.of(position) });
    outbox.add({ position, ...answer, simulated: false });
    await stage.leave({ position, response: answer.response, hasFeedback: block.feedback });
    if (outbox.fault) throw outbox.fault;
    pictures.release(position);
  }
  await run.leaving.considered();
  screens.show("saving");
  await outbox.drained();
}
