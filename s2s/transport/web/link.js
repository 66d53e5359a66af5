// The connection to the server: a call where there can be one, else a socket; lost, and made again
// with what the server still remembers; and why it cannot be made, in words. Knows nothing of what is
// sent over it.

import { CallWire, canCall } from "./call.js";
import { SocketWire } from "./socket.js";

const FIRST_RETRY_S = 0.5;
const LAST_RETRY_S = 15;
const FULL_RETRY_S = 5;
const STUCK_BYTES = 2_000_000; // unsent: nobody takes it any more

/** A token that nobody guesses: 32 hexadecimal digits. */
export function token() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

export class Link {
  /**
   * received(event) takes what the server sends. told(state, details) hears of
   * "off", "connecting" {lost: there was a connection until now}, "open" {by: "WebRTC" | "WebSocket"},
   * "waiting" {why: "gone" | "full", seconds} and
   * "refused" {why: "key" | "elsewhere" | "closed", text}: after that only `start` tries again.
   * sound: a `CallSound`, for calls.
   */
  constructor(received, told, sound) {
    Object.assign(this, { received, told, sound });
    this.wire = null;
    this.state = "off";
    this.timer = 0;
    this.failures = 0;
    this.key = "";
    this.token = token();
    this.offered = canCall; // the server takes calls, as far as one knows
    this.connects = true; // and they came through so far
    addEventListener("online", () => this.state === "waiting" && this.open());
    addEventListener("pagehide", () => this.stop());
  }

  start(key) {
    this.key = key;
    if (this.state === "off" || this.state === "refused" || this.state === "waiting") this.open();
  }

  /** Go away; `forget` also what the server remembers. */
  stop({ forget = false } = {}) {
    clearTimeout(this.timer);
    if (forget) {
      this.token = token();
      this.connects = true; // a new conversation tries again
    }
    this.drop({ leave: true });
    this.become("off");
  }

  send(event) {
    if (!this.wire?.ready) return false;
    if (this.wire.unsent > STUCK_BYTES) {
      this.drop({ leave: false });
      this.retry("gone");
      return false;
    }
    this.wire.send(JSON.stringify(event));
    return true;
  }

  open() {
    clearTimeout(this.timer);
    this.drop({ leave: true });
    this.become("connecting");
    this.connect(this.offered && this.connects);
  }

  connect(call) {
    let greeted = false;
    const ends = {
      received: (data) => {
        if (wire !== this.wire) return;
        if (!greeted) {
          greeted = true;
          this.failures = 0;
          this.become("open", { by: wire.name });
        }
        this.received(JSON.parse(data));
      },
      ended: (how, reason) => {
        if (wire !== this.wire) return;
        this.wire = null;
        if (call) this.callEnded(how, greeted);
        else this.socketEnded(how, reason, greeted);
      },
    };
    const wire = call ? this.call(ends) : this.socket(ends);
    this.wire = wire;
  }

  call(ends) {
    const headers = { "X-S2S-Resume": this.token };
    if (this.key) headers.Authorization = `Bearer ${this.key}`;
    const address = new URL("v1/realtime/calls", location.href.replace(/[?#].*$/, ""));
    return new CallWire(address, headers, this.sound, ends);
  }

  socket(ends) {
    const protocols = ["realtime", `s2s-resume.${this.token}`];
    if (this.key) protocols.push(`openai-insecure-api-key.${this.key}`);
    const address = new URL("v1/realtime", location.href.replace(/^http/, "ws").replace(/[?#].*$/, ""));
    return new SocketWire(address, protocols, ends);
  }

  callEnded(how, greeted) {
    if (how === "key") this.refuseKey();
    else if (how === "full") this.retry("full");
    else if (how === "gone") this.retry("gone");
    else {
      if (how === "absent") this.offered = false;
      else if (how !== "unsure") this.connects = false;
      this.become("connecting", { lost: greeted });
      this.connect(false);
    }
  }

  socketEnded(how, reason, greeted) {
    if (how === "bad-key") this.refuse("key", "This key holds characters that no key has.");
    else if (how === "elsewhere") this.refuse("elsewhere", "This conversation goes on in another window.");
    else if (how === "closed") this.refuse("closed", reason || "The server ended this conversation.");
    else if (greeted) this.retry("gone");
    else this.diagnose();
  }

  /** A browser is not told why a socket was not opened: ask in ways that are answered. */
  async diagnose() {
    const headers = this.key ? { Authorization: `Bearer ${this.key}` } : {};
    try {
      const health = await fetch("health", { cache: "no-store" }).then((answer) => answer.json());
      const models = await fetch("v1/models", { cache: "no-store", headers });
      if (this.state !== "connecting") return;
      if (models.status === 401) this.refuseKey();
      else this.retry(health.status === "full" ? "full" : "gone");
    } catch {
      if (this.state === "connecting") this.retry("gone");
    }
  }

  retry(why) {
    this.failures += 1;
    const grown = FIRST_RETRY_S * 2 ** (this.failures - 1);
    const seconds = why === "full" ? FULL_RETRY_S : Math.min(LAST_RETRY_S, grown);
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.open(), 1000 * seconds);
    this.become("waiting", { why, seconds });
  }

  refuseKey() {
    this.refuse("key", this.key ? "The server does not know this key." : "This server asks for a key.");
  }

  refuse(why, text) {
    this.become("refused", { why, text });
  }

  drop({ leave }) {
    const { wire } = this;
    this.wire = null;
    wire?.close({ leave });
  }

  become(state, details = {}) {
    this.state = state;
    this.told(state, details);
  }
}
