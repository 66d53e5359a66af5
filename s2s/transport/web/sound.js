// Microphone and loudspeaker of the browser, through two AudioWorklets. Knows no protocol.

export const RATE = 24000;

export class MicrophoneRefused extends Error {}

/** What to tell a person when getUserMedia fails with `error`. */
export function refusal(error) {
  switch (error?.name) {
    case "NotAllowedError":
    case "SecurityError":
      return "The browser does not let this page use the microphone. Allow it by the icon beside the address, then press Talk again. You can type meanwhile.";
    case "NotFoundError":
    case "OverconstrainedError":
      return "No microphone was found. Plug one in, or choose another in the settings. You can type meanwhile.";
    case "NotReadableError":
    case "AbortError":
      return "The microphone is there but gives no sound: another program may be using it. You can type meanwhile.";
    default:
      return `The microphone cannot be used (${error?.message || error}). You can type meanwhile.`;
  }
}

export class Microphone {
  /** heard(pcm: ArrayBuffer of int16 at 24 kHz, level 0..1); lost() when it is unplugged. */
  constructor(heard, lost) {
    this.heard = heard;
    this.lost = lost;
    this.stream = null;
    this.context = null;
  }

  get open() {
    return this.stream !== null;
  }

  /** What it hears, for a call. */
  get track() {
    return this.stream?.getAudioTracks()[0] ?? null;
  }

  /** Whether it hears silence alone. */
  mute(on) {
    if (this.track) this.track.enabled = !on;
  }

  async start(deviceId) {
    if (!navigator.mediaDevices?.getUserMedia) {
      throw new MicrophoneRefused(
        "Browsers give the microphone only to pages on https or localhost. Start the server with --tls and open the https address it shows. You can type meanwhile.",
      );
    }
    const wanted = { echoCancellation: true, noiseSuppression: true, autoGainControl: true, channelCount: 1 };
    if (deviceId) wanted.deviceId = { ideal: deviceId };
    let stream;
    try {
      stream = await navigator.mediaDevices.getUserMedia({ audio: wanted });
    } catch (error) {
      throw new MicrophoneRefused(refusal(error));
    }
    try {
      this.context = new AudioContext({ latencyHint: "interactive" });
      await this.context.audioWorklet.addModule("capture.js");
      const source = this.context.createMediaStreamSource(stream);
      this.node = new AudioWorkletNode(this.context, "capture", { channelCount: 1, channelCountMode: "explicit" });
      this.node.port.onmessage = ({ data }) => this.heard(data.pcm, data.level);
      source.connect(this.node).connect(this.context.destination); // silence: it is pulled by that
      await this.context.resume();
    } catch (error) {
      stream.getTracks().forEach((track) => track.stop());
      await this.context?.close();
      this.context = null;
      throw error;
    }
    this.stream = stream;
    const [track] = stream.getAudioTracks();
    track.onended = () => {
      this.stop();
      this.lost();
    };
  }

  stop() {
    if (!this.stream) return;
    this.stream.getTracks().forEach((track) => {
      track.onended = null;
      track.stop();
    });
    this.stream = null;
    this.node.port.postMessage("end");
    this.node.disconnect();
    this.context.close();
    this.context = null;
  }
}

export class Player {
  /** begins(item): its first sample leaves. progress(item, seconds, level, waiting seconds). */
  constructor(begins, progress) {
    this.begins = begins;
    this.progress = progress;
    this.ready = null;
    this.flushes = new Map();
    this.count = 0;
  }

  /** To be called in answer to a press: browsers begin no sound by themselves. */
  start() {
    this.ready ??= this.open();
    this.context?.resume();
    return this.ready;
  }

  async open() {
    this.context = new AudioContext({ sampleRate: RATE, latencyHint: "interactive" });
    await this.context.audioWorklet.addModule("play.js");
    this.node = new AudioWorkletNode(this.context, "play", { numberOfInputs: 0, outputChannelCount: [1] });
    this.node.port.onmessage = ({ data }) => this.told(data);
    this.node.connect(this.context.destination);
  }

  get outputLatency() {
    return this.context?.outputLatency || 0;
  }

  told(data) {
    if (data.begins) this.begins(data.begins);
    else if (data.flushed) {
      this.flushes.get(data.flushed)?.(data.items);
      this.flushes.delete(data.flushed);
    } else this.progress(data.item, data.samples / RATE, data.level, data.waiting / RATE);
  }

  /** samples: Float32Array at 24 kHz. */
  async play(item, samples) {
    await this.start();
    this.node.port.postMessage({ item, samples }, [samples.buffer]);
  }

  /** Silence at once. Resolves to [[item, seconds that were heard], ...] of what was cut. */
  async flush() {
    if (!this.ready) return [];
    await this.ready;
    const number = (this.count += 1);
    const items = await new Promise((resolve) => {
      this.flushes.set(number, resolve);
      this.node.port.postMessage({ flush: number });
    });
    return items.map(([item, samples]) => [item, Math.max(0, samples / RATE - this.outputLatency)]);
  }
}

export function toBase64(buffer) {
  let text = "";
  const bytes = new Uint8Array(buffer);
  for (let i = 0; i < bytes.length; i += 8192) {
    text += String.fromCharCode(...bytes.subarray(i, i + 8192));
  }
  return btoa(text);
}

/** int16 little-endian in base64 to Float32Array. */
export function fromBase64(text) {
  const bytes = atob(text);
  const samples = new Float32Array(bytes.length >> 1);
  for (let i = 0; i < samples.length; i += 1) {
    const value = bytes.charCodeAt(2 * i) | (bytes.charCodeAt(2 * i + 1) << 8);
    samples[i] = (value << 16 >> 16) / 32768;
  }
  return samples;
}
