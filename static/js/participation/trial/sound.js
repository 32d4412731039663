/** The low tone with which practice answers a mistake, where a protocol asks for it. */

const FREQUENCY_HZ = 220;
const DURATION_S = 0.2;
const VOLUME = 0.15;

let context = null;

/** Plays the tone; a browser without sound stays silent. @param {Window} view */
export function lowTone(view) {
  if (!view.AudioContext) return;
  context ??= new view.AudioContext();
  const tone = context.createOscillator();
  const volume = context.createGain();
  tone.frequency.value = FREQUENCY_HZ;
  volume.gain.value = VOLUME;
  tone.connect(volume).connect(context.destination);
  tone.start();
  tone.stop(context.currentTime + DURATION_S);
}
