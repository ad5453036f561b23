// Talks to the agent of your site: asks which arm to play, reports what it brought. One file, Node 18 or later, nothing
// else to install.
//
//   const {Client} = require("./tacit_client.js");
//   const site = new Client("/run/tacit/agent.sock");   // or "http://127.0.0.1:8080"
//   const decision = await site.decide({unit: "patient-0815"});
//   await site.reward(decision, 0.7);
//   console.log((await site.result()).winner);
//
// Each decision carries a key, made here where you give none, so asking again after a lost answer brings the same
// decision and not a second one; a reward that is said twice counts once. Hence what cannot be answered just now (no
// connection, 429, 503) is asked again, with growing pauses, for `patienceS` seconds; then it throws Unreachable. What the
// agent refuses for good throws Refused, with its words.
"use strict";
const http = require("node:http");
const {randomUUID} = require("node:crypto");

const BATCH_MAX = 1000; // of one request
const AGAIN = [429, 503];
const TOO_LARGE = 413;

// The agent says no, and would say it again. `code`: of HTTP, or undefined within a batch and where nobody was asked.
class Refused extends Error {
  constructor(text, code) {
    super(text);
    this.name = "Refused";
    this.code = code;
  }
}

// Nobody answered in time. What was asked may have been done: ask again with the same key.
class Unreachable extends Error {
  constructor(text) {
    super(text);
    this.name = "Unreachable";
  }
}

const sleep = (seconds) => new Promise((done) => setTimeout(done, 1000 * seconds));
const withKey = (request) => ({...request, key: request.key ?? randomUUID()});
const idOf = (decision) => (typeof decision === "object" ? decision.id : String(decision));

// What is to be sent. JSON.stringify makes null of NaN, which no agent takes, either.
function rewardOf(decision, value) {
  if (!Number.isFinite(value)) throw new Refused(`reward must be a finite number, and is ${typeof value} ${value}`);
  return {id: idOf(decision), reward: value};
}

// A Refused in place of one that no agent would take: the others of its batch are sent all the same.
function rewardOrRefused([decision, value]) {
  try {
    return rewardOf(decision, value);
  } catch (refusal) {
    return refusal;
  }
}

function pieces(items) {
  const made = [];
  for (let at = 0; at < items.length; at += BATCH_MAX) made.push(items.slice(at, at + BATCH_MAX));
  return made;
}

// The agent's error, or what else was answered.
function wordsOf(text) {
  try {
    return JSON.parse(text).error ?? text;
  } catch {
    return text;
  }
}

class Client {
  constructor(address, {patienceS = 60, timeoutS = 10} = {}) {
    const isUrl = address.startsWith("http:");
    const url = isUrl ? new URL(address) : null;
    this.agent = new http.Agent({keepAlive: true, maxSockets: 4});
    this.place = isUrl ? {host: url.hostname, port: url.port || 80} : {socketPath: address.replace(/^unix:/, "")};
    this.patienceS = patienceS;
    this.timeoutS = timeoutS;
  }

  // Lets the program end: connections are kept open otherwise.
  disconnect() {
    this.agent.destroy();
  }

  // ---- Decisions and rewards ----

  // {unit, key, unavailable, contexts}, all optional: who is to keep an arm; a key of your own; arms that cannot be played
  // now, by name or number; a vector an arm, where the protocol chooses by them.
  async decide(request = {}) {
    const asked = withKey(request);
    return {...(await this.ask("POST", "/v1/decisions", asked)), key: asked.key};
  }

  // Their number, or a list of requests. In place of one that is refused stands a Refused; the others are made.
  async decideMany(requests) {
    const wanted = typeof requests === "number" ? Array.from({length: requests}, () => ({})) : requests;
    const made = [];
    for (const piece of pieces(wanted.map(withKey))) made.push(...(await this.decidePiece(piece)));
    return made;
  }

  // What is more than a body may have is asked for in halves.
  async decidePiece(piece) {
    const half = piece.length >> 1;
    try {
      const {decisions} = await this.ask("POST", "/v1/decisions/batch", {requests: piece});
      return decisions.map((one, i) => ("error" in one ? new Refused(one.error) : {...one, key: piece[i].key}));
    } catch (refusal) {
      if (refusal.code !== TOO_LARGE || half === 0) throw refusal;
    }
    return [...(await this.decidePiece(piece.slice(0, half))), ...(await this.decidePiece(piece.slice(half)))];
  }

  // A decision or its id; a finite number, or it is Refused before anybody is asked. "accepted", "repeated" or "late": a late one enters nothing.
  async reward(decision, value) {
    return (await this.ask("POST", "/v1/rewards", rewardOf(decision, value))).status;
  }

  // [[decision or id, value], ..]. What became of each, in order; a Refused in place of one that is.
  async rewardMany(pairs) {
    const wanted = pairs.map(rewardOrRefused);
    const said = [];
    for (const piece of pieces(wanted.filter((one) => !(one instanceof Refused)))) {
      const {rewards} = await this.ask("POST", "/v1/rewards/batch", {rewards: piece});
      rewards.forEach((one) => said.push("error" in one ? new Refused(one.error) : one.status));
    }
    return wanted.map((one) => (one instanceof Refused ? one : said.shift()));
  }

  // Rewards that are handed in together: when `count` have come, and `seconds` after the first of them. `await flush()`
  // before the program ends: what was not handed in is lost with it, and the agent gives its place out again.
  rewards({count = 100, seconds = 1} = {}) {
    return new Rewards(this, count, seconds);
  }

  // It will never have a reward: its place is given out again.
  async close(decision) {
    return (await this.ask("DELETE", `/v1/decisions/${idOf(decision)}`)).status;
  }

  // ---- Looking ----

  result() {
    return this.ask("GET", "/v1/result");
  }

  status() {
    return this.ask("GET", "/v1/status");
  }

  ledger() {
    return this.ask("GET", "/v1/ledger");
  }

  statement() {
    return this.ask("GET", "/v1/statement", undefined, true);
  }

  // ---- Asking ----

  // One try; fails with whatever goes wrong on the line.
  call(method, path, body) {
    return new Promise((done, fail) => {
      const bytes = body === undefined ? undefined : Buffer.from(JSON.stringify(body));
      const headers = bytes ? {"Content-Type": "application/json", "Content-Length": bytes.length} : {};
      const request = http.request({...this.place, method, path, headers, agent: this.agent}, (answer) => {
        const parts = [];
        answer.on("data", (part) => parts.push(part));
        answer.on("end", () => done({code: answer.statusCode, text: Buffer.concat(parts).toString()}));
        answer.on("error", fail);
      });
      request.setTimeout(1000 * this.timeoutS, () => request.destroy(new Error("no answer in time")));
      request.on("error", fail);
      request.end(bytes);
    });
  }

  // Tries until there is an answer, as long as the patience lasts.
  async ask(method, path, body, isText = false) {
    const end = Date.now() + 1000 * this.patienceS;
    let pauseS = 0.05;
    for (;;) {
      let why;
      try {
        const {code, text} = await this.call(method, path, body);
        if (code === 200) return isText ? text : JSON.parse(text);
        why = wordsOf(text);
        if (!AGAIN.includes(code)) throw new Refused(why, code);
      } catch (trouble) {
        if (trouble instanceof Refused) throw trouble;
        why = trouble.message;
      }
      if (Date.now() + 1000 * pauseS > end) throw new Unreachable(`${method} ${path}: ${why}`);
      await sleep(pauseS * (0.5 + Math.random() / 2));
      pauseS = Math.min(2 * pauseS, 5);
    }
  }
}

// `refused`: [id, words] of each that was; `counts`: of accepted, repeated and late ones.
class Rewards {
  constructor(client, count, seconds) {
    Object.assign(this, {client, count, seconds, waiting: [], timer: null, refused: [], counts: {}});
    this.last = Promise.resolve();
  }

  add(decision, value) {
    this.waiting.push([idOf(decision), value]);
    if (this.waiting.length >= this.count) return this.flush();
    this.timer ??= setTimeout(() => this.flush().catch(() => {}), 1000 * this.seconds); // they are kept
    return Promise.resolve();
  }

  // One after the other; if nobody answers, they are kept for the next time.
  flush() {
    clearTimeout(this.timer);
    this.timer = null;
    this.last = this.last.catch(() => {}).then(() => this.handIn());
    return this.last;
  }

  // Requires: no other is under way.
  async handIn() {
    const handed = this.waiting.splice(0);
    let said;
    try {
      said = await this.client.rewardMany(handed);
    } catch (trouble) {
      this.waiting.unshift(...handed);
      throw trouble;
    }
    said.forEach((one, i) => {
      if (one instanceof Refused) this.refused.push([handed[i][0], one.message]);
      else this.counts[one] = (this.counts[one] ?? 0) + 1;
    });
  }
}

module.exports = {Client, Rewards, Refused, Unreachable};
