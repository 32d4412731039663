import assert from "node:assert/strict";
import test from "node:test";
import { NoReply, Refusal } from "../../static/js/participation/trial/api.js";
import { Stop, screenFor } from "../../static/js/participation/trial/stop.js";

test("every error has a page that says what to do", () => {
  const refusal = (status, type = "") => new Refusal({ status, type });
  const expected = [
    [new Stop("phone"), "phone"],
    [new NoReply(new Error()), "offline"],
    [refusal(503), "offline"],
    [refusal(503, "picture-damaged"), "damaged"],
    [refusal(401, "not-authenticated"), "moved"],
    [refusal(409, "lease-lost"), "elsewhere"],
    [refusal(409, "session-closed"), "closed"],
    [refusal(409, "out-of-order"), "failed"],
    [refusal(422, "invalid"), "failed"],
    [new TypeError("a fault of ours"), "failed"],
  ];
  for (const [error, screen] of expected) assert.equal(screenFor(error), screen);
});
