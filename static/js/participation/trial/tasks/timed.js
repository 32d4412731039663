/** Tasks with pictures for the protocol's time, a mask, and a grid of choices. */
import { attend } from "../attention.js";
import { slowed } from "../example.js";
import { showFeedback } from "../feedback.js";
import { Surface } from "../surface.js";
import { runTrial } from "../trial.js";

/** Grey between two trials. */
const INTERVAL_MS = 300;

/** The interval waits this much longer for an answer on its way, so that replies are not handled during a trial. */
const PATIENCE_MS = 700;

/** The chosen answer stays marked this long. */
const CHOSEN_MS = 150;

/** Grey before the first trial after a page of text. */
const SETTLE_MS = 800;

/** Practice in slow motion is this many times slower. */
const SLOW = 3;

/** @param {{name: string, showings: number, examples: Record<string, string[]>}} task @returns {import("./index.js").Task} */
export function timedTask({ name, showings, examples }) {
  return {
    name,
    examples,
    isTimed: true,
    needs: (protocol) => ({ showings, withMask: protocol.mask_ms > 0, withQuestion: false }),
    open: openStage,
  };
}

/** @returns {Promise<import("./index.js").Stage>} */
async function openStage(run, block) {
  const { session, screens, grid, outbox, progress } = run;
  const choices = session.choices[block.task];
  screens.show("trial");
  const alternatives = session.alternatives?.[block.task];
  if (!alternatives) await grid.fill(choices, session.columns?.[block.task]);
  grid.ask(screens.message(`question-${block.task}`));
  const protocol = block.is_slow ? slowed(session.protocol, SLOW) : session.protocol;
  const surface = new Surface({ canvas: screens.find("canvas"), view: run.view, protocol });
  const settle = async () => {
    screens.show("trial");
    await run.sleep(SETTLE_MS);
  };
  await settle();
  return {
    async attend() {
      await attend(run, settle);
      surface.fit();
    },

    async ask({ position, pictures }) {
      // Before the fixation: nothing is laid out while a trial is on the screen.
      if (alternatives) await grid.fill(pictures.options.map((place) => choices[place]), undefined, choices);
      run.begun.mark(position);
      // Nothing is sent, and nothing written on the page, while a trial is on the screen.
      outbox.hold();
      progress.hold();
      run.answered = (run.answered ?? 0) + 1;
      return runTrial({
        protocol,
        pictures,
        refresh: run.refresh,
        surface,
        grid,
        watch: run.watch,
        raf: run.raf,
        clock: run.clock,
        afterFrame: run.afterFrame,
        client: { ...run.client, client_seq: run.answered },
      });
    },

    async leave({ position, response, hasFeedback }) {
      outbox.release();
      progress.release();
      if (hasFeedback) await showFeedback(run, { choices, position, response });
      else await run.sleep(CHOSEN_MS);
      grid.hide();
      await run.sleep(INTERVAL_MS);
      await Promise.race([outbox.quiet(), run.sleep(PATIENCE_MS)]);
    },
  };
}
