import assert from "node:assert/strict";
import test from "node:test";
import { NoReply, Refusal, RunApi } from "../../static/js/participation/trial/api.js";

function make(reply) {
  const calls = [];
  const api = new RunApi({
    base: "/api/v1/run/",
    fetch: async (url, options) => {
      calls.push({ url, ...options });
      return reply(url, options);
    },
  });
  api.token = "bearer-1";
  return { api, calls };
}

const json = (body, status = 200) => new Response(JSON.stringify(body), { status });

test("every call carries bearer and lease, and never a cookie, a referrer or the cache", async () => {
  const { api, calls } = make(() => json({ lease: "l1" }));
  await api.takeLease("l1");
  await api.respond({ position: 3 });
  const [lease, response] = calls;
  assert.deepEqual([lease.url, lease.method, JSON.parse(lease.body)], ["/api/v1/run/lease/", "POST", { lease: "l1" }]);
  assert.equal(response.headers.Authorization, "Bearer bearer-1");
  assert.equal(response.headers["X-Lease"], "l1");
  assert.equal(response.keepalive, true);
  for (const call of calls) assert.deepEqual([call.credentials, call.cache, call.referrerPolicy], ["omit", "no-store", "no-referrer"]);
});

test("pictures come one after another in one reply, and are parted by their lengths", async () => {
  const { api, calls } = make(() => new Response(new Blob(["abc", "de"]), { headers: { "Picture-Lengths": "3,2" } }));
  const { blobs: pictures, options } = await api.pictures(7, 8);
  assert.deepEqual(calls.map(({ url }) => url), ["/api/v1/run/trials/7-8/pictures/"]);
  assert.deepEqual(await Promise.all(pictures.map((picture) => picture.text())), ["abc", "de"]);
  assert.equal(pictures[0].type, "image/png");
  assert.deepEqual(options, []);
});

test("with pictures comes what each trial offers, where that is less than all", async () => {
  const headers = { "Picture-Lengths": "3,2", "Trial-Options": "3 0,12 4 16" };
  const { api } = make(() => new Response(new Blob(["abc", "de"]), { headers }));
  assert.deepEqual((await api.pictures(7, 8)).options, [[3, 0], [12, 4, 16]]);
});

test("pictures that were cut off, or lost their lengths, are no reply", async () => {
  for (const headers of [{ "Picture-Lengths": "3,9" }, {}]) {
    const { api } = make(() => new Response(new Blob(["abcde"]), { headers }));
    await assert.rejects(api.pictures(0, 1), (error) => error instanceof NoReply && error.mayPass);
  }
});

test("a problem's type is its last part, given bare or as an address", async () => {
  for (const type of ["lease-lost", "https://example.org/problems/lease-lost", "urn:problem:lease-lost"]) {
    const { api } = make(() => json({ type, title: "Lease lost", detail: "Another window." }, 409));
    await assert.rejects(api.session(), (error) => error instanceof Refusal && error.type === "lease-lost" && error.status === 409 && !error.mayPass);
  }
});

test("busy servers may answer later, refusals will not", async () => {
  for (const [status, mayPass] of [[500, true], [502, true], [503, true], [429, true], [401, false], [404, false], [409, false], [422, false]]) {
    const { api } = make(() => new Response("<html>proxy</html>", { status }));
    await assert.rejects(api.status(), (error) => error instanceof Refusal && error.mayPass === mayPass, String(status));
  }
});

test("a damaged picture stays one however often it is asked for", async () => {
  const { api } = make(() => json({ type: "picture-damaged", title: "Picture damaged", detail: "It is not shown." }, 503));
  await assert.rejects(api.pictures(0, 3), (error) => error.type === "picture-damaged" && !error.mayPass);
});

test("no network, or a reply cut off in the middle, is no reply", async () => {
  const lost = make(() => Promise.reject(new TypeError("Failed to fetch")));
  await assert.rejects(lost.api.session(), (error) => error instanceof NoReply && error.mayPass);
  const cut = make(() => new Response('{"state": "op'));
  await assert.rejects(cut.api.session(), (error) => error instanceof NoReply && error.mayPass);
});

test("a code can be looked behind before it is used, and a trial has a question of its own", async () => {
  const { api, calls } = make(() => json({ tasks: ["validation"] }));
  assert.deepEqual(await api.look("code-1"), { tasks: ["validation"] });
  await api.question(4);
  assert.deepEqual([calls[0].url, calls[0].method, JSON.parse(calls[0].body)], ["/api/v1/run/handoff/look/", "POST", { code: "code-1" }]);
  assert.deepEqual([calls[1].url, calls[1].method], ["/api/v1/run/trials/4/question/", "GET"]);
});

test("leaving says whether the answers stay, and whether time is the reason", async () => {
  const { api, calls } = make(() => json({ state: "left" }));
  await api.withdraw({ keep: false });
  assert.deepEqual(await api.withdraw({ keep: true, reason: "time" }), { state: "left" });
  assert.deepEqual(calls.map(({ body }) => JSON.parse(body)), [{ keep: false, reason: "own" }, { keep: true, reason: "time" }]);
});
