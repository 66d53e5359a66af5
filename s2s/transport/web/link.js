// The socket to the server: opened, lost, opened again with what the server still remembers, and
// why it cannot be opened, in words. Knows nothing of what is sent over it.

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
   * "off", "connecting", "open", "waiting" {why: "gone" | "full", seconds} and
   * "refused" {why: "key" | "elsewhere" | "closed", text}: after that only `start` tries again.
   */
  constructor(received, told) {
    this.received = received;
    this.told = told;
    this.socket = null;
    this.state = "off";
    this.timer = 0;
    this.failures = 0;
    this.key = "";
    this.token = token();
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
    if (forget) this.token = token();
    this.drop(1000);
    this.become("off");
  }

  send(event) {
    if (this.socket?.readyState !== WebSocket.OPEN) return false;
    if (this.socket.bufferedAmount > STUCK_BYTES) {
      this.drop(4000);
      this.retry("gone");
      return false;
    }
    this.socket.send(JSON.stringify(event));
    return true;
  }

  open() {
    clearTimeout(this.timer);
    this.drop(1000);
    this.become("connecting");
    const protocols = ["realtime", `s2s-resume.${this.token}`];
    if (this.key) protocols.push(`openai-insecure-api-key.${this.key}`);
    const address = new URL("v1/realtime", location.href.replace(/^http/, "ws").replace(/[?#].*$/, ""));
    let socket;
    try {
      socket = new WebSocket(address, protocols);
    } catch {
      this.refuse("key", "This key holds characters that no key has.");
      return;
    }
    let greeted = false;
    socket.onmessage = ({ data }) => {
      if (socket !== this.socket) return;
      const event = JSON.parse(data);
      if (!greeted) {
        greeted = true;
        this.failures = 0;
        this.become("open");
      }
      this.received(event);
    };
    socket.onclose = ({ code, reason }) => {
      if (socket !== this.socket) return;
      this.socket = null;
      if (code === 4001) this.refuse("elsewhere", "This conversation goes on in another window.");
      else if (code === 1008) this.refuse("closed", reason || "The server ended this conversation.");
      else if (greeted) this.retry("gone");
      else this.diagnose();
    };
    this.socket = socket;
  }

  /** A browser is not told why a socket was not opened: ask in ways that are answered. */
  async diagnose() {
    const headers = this.key ? { Authorization: `Bearer ${this.key}` } : {};
    try {
      const health = await fetch("health", { cache: "no-store" }).then((answer) => answer.json());
      const models = await fetch("v1/models", { cache: "no-store", headers });
      if (this.state !== "connecting") return;
      if (models.status === 401) this.refuse("key", this.key ? "The server does not know this key." : "This server asks for a key.");
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

  refuse(why, text) {
    this.become("refused", { why, text });
  }

  drop(code) {
    const socket = this.socket;
    this.socket = null;
    socket?.close(code);
  }

  become(state, details = {}) {
    this.state = state;
    this.told(state, details);
  }
}
