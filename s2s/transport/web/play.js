// The loudspeaker's side, in the audio thread: a queue of pieces, each of one item of the answer. It
// tells what was played of which item, so that the server can be told what was heard.

const TOLD_EACH = 1024; // samples

class Play extends AudioWorkletProcessor {
  constructor() {
    super();
    this.queue = []; // {item, samples: Float32Array}
    this.taken = 0; // of the first piece
    this.played = new Map(); // item -> samples
    this.since = 0;
    this.sum = 0;
    this.current = null;
    this.port.onmessage = ({ data }) => this.told(data);
  }

  told(message) {
    if (message.samples) {
      this.queue.push(message);
    } else if (message.flush) {
      const items = new Map();
      if (this.current !== null) items.set(this.current, this.played.get(this.current));
      for (const { item } of this.queue) items.set(item, this.played.get(item) ?? 0);
      this.queue = [];
      this.taken = 0;
      this.current = null;
      this.port.postMessage({ flushed: message.flush, items: [...items] });
      this.played.clear();
    }
  }

  process(inputs, [[out]]) {
    let filled = 0;
    while (filled < out.length && this.queue.length) {
      const { item, samples } = this.queue[0];
      const count = Math.min(out.length - filled, samples.length - this.taken);
      out.set(samples.subarray(this.taken, this.taken + count), filled);
      if (item !== this.current) {
        if (this.current !== null) this.tell();
        this.played.delete(this.current);
        this.current = item;
        this.port.postMessage({ begins: item });
      }
      this.played.set(item, (this.played.get(item) ?? 0) + count);
      filled += count;
      this.taken += count;
      if (this.taken === samples.length) {
        this.queue.shift();
        this.taken = 0;
      }
    }
    for (const sample of out) this.sum += sample * sample;
    this.since += out.length;
    if (this.since >= TOLD_EACH) this.tell();
    return true;
  }

  tell() {
    const level = Math.sqrt(this.sum / this.since);
    const waiting = this.queue.reduce((sum, { samples }) => sum + samples.length, -this.taken);
    const samples = this.current === null ? 0 : this.played.get(this.current);
    this.port.postMessage({ level, item: this.current, samples, waiting });
    this.since = 0;
    this.sum = 0;
  }
}

registerProcessor("play", Play);
