import assert from "node:assert/strict";
import { test } from "node:test";

import { addressOfShown } from "../../static/js/console/downloads.js";

const observers = ["people", "net & more"];

test("with everything shown only the band is named", () => {
  const address = addressOfShown("/figures/a.pdf?width=column", { observers, hidden: new Set(), band: "95 %" });
  assert.equal(address, "/figures/a.pdf?width=column&band=95+%25");
});

test("series that are off are left out, and what was said before is said anew", () => {
  const before = "/figures/a.pdf?observer=people&observer=old&band=x&run=3";
  const address = addressOfShown(before, { observers, hidden: new Set(["people"]), band: "" });
  const { searchParams } = new URL(address, "http://page");
  assert.deepEqual(searchParams.getAll("observer"), ["net & more"]);
  assert.equal(searchParams.get("band"), "");
  assert.equal(searchParams.get("run"), "3");
});
