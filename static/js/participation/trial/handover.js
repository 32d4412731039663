/** When the browser has taken a drawing: the first task after the frame in whose callback it was drawn. */

/**
 * A message that is sent in an animation frame arrives when the browser has done with that frame: scripts, style, layout, and the
 * hand-over to the compositor. A timer would wait longer, a promise would come too early.
 *
 * @param {typeof MessageChannel} Channel
 * @returns {(callback: () => void) => void} to be called in an animation frame
 */
export function frameTaken(Channel) {
  const { port1, port2 } = new Channel();
  const waiting = [];
  port1.onmessage = () => waiting.shift()?.();
  return (callback) => {
    waiting.push(callback);
    port2.postMessage(null);
  };
}
