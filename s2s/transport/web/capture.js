// The microphone's side, in the audio thread: any rate in, 24 kHz int16 out in pieces of 40 ms, and
// how loud each piece is. Rates are changed with a windowed sinc whose state goes on between blocks.

const OUT_HZ = 24000;
const PIECE = 960;
const HALF = 16; // zero crossings of the sinc on each side

class Capture extends AudioWorkletProcessor {
  constructor() {
    super();
    this.step = sampleRate / OUT_HZ; // input samples for each output sample
    this.cutoff = Math.min(1, 1 / this.step) * 0.95;
    this.reach = Math.ceil(HALF / this.cutoff);
    this.past = new Float32Array(4 * this.reach + 2048);
    this.filled = this.reach; // silence before the first sample
    this.at = this.reach; // of the next output sample, in `past`
    this.piece = new Int16Array(PIECE);
    this.count = 0;
    this.sum = 0;
    this.ended = false;
    this.port.onmessage = ({ data }) => {
      if (data === "end") this.ended = true;
    };
  }

  process([input]) {
    if (this.ended) return false;
    const block = input[0];
    if (block) this.take(block);
    return true;
  }

  take(block) {
    if (this.step === 1) {
      for (const sample of block) this.put(sample);
      return;
    }
    this.past.set(block, this.filled);
    this.filled += block.length;
    while (this.at + this.reach < this.filled) {
      this.put(this.between(this.at));
      this.at += this.step;
    }
    const spare = Math.floor(this.at) - this.reach;
    if (spare > 1024) {
      this.past.copyWithin(0, spare, this.filled);
      this.filled -= spare;
      this.at -= spare;
    }
  }

  between(at) {
    const first = Math.ceil(at - this.reach);
    const last = Math.floor(at + this.reach);
    let sum = 0;
    for (let i = first; i <= last; i += 1) {
      const x = (i - at) * this.cutoff;
      const window = 0.5 + 0.5 * Math.cos((Math.PI * x) / HALF);
      const sinc = x === 0 ? 1 : Math.sin(Math.PI * x) / (Math.PI * x);
      sum += this.past[i] * sinc * window;
    }
    return sum * this.cutoff;
  }

  put(sample) {
    const value = Math.max(-1, Math.min(1, sample));
    this.piece[this.count] = value < 0 ? value * 32768 : value * 32767;
    this.sum += value * value;
    this.count += 1;
    if (this.count < PIECE) return;
    const level = Math.sqrt(this.sum / PIECE);
    this.port.postMessage({ pcm: this.piece.buffer, level }, [this.piece.buffer]);
    this.piece = new Int16Array(PIECE);
    this.count = 0;
    this.sum = 0;
  }
}

registerProcessor("capture", Capture);
