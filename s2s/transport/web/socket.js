// A WebSocket to the server: events, and the sound within them.

export class SocketWire {
  /**
   * received(text) takes events; ended(how, reason) hears once of its end: "bad-key" (it cannot be
   * sent), "elsewhere", "closed" with a reason, "gone".
   */
  constructor(address, protocols, { received, ended }) {
    Object.assign(this, { received, ended });
    this.name = "WebSocket";
    this.socket = null;
    try {
      this.socket = new WebSocket(address, protocols);
    } catch {
      queueMicrotask(() => this.end("bad-key"));
      return;
    }
    this.socket.onmessage = ({ data }) => this.received(data);
    this.socket.onclose = ({ code, reason }) => {
      if (code === 4001) this.end("elsewhere");
      else if (code === 1008) this.end("closed", reason);
      else this.end("gone");
    };
  }

  get ready() {
    return this.socket?.readyState === WebSocket.OPEN;
  }

  get unsent() {
    return this.socket.bufferedAmount;
  }

  send(text) {
    this.socket.send(text);
  }

  /** Go away; `leave`: the conversation is over, and the server need not keep it. */
  close({ leave }) {
    this.ended = () => {};
    if (this.socket) this.socket.onmessage = null;
    this.socket?.close(leave ? 1000 : 4000);
  }

  end(how, reason) {
    const { ended } = this;
    this.ended = () => {};
    ended(how, reason);
  }
}
