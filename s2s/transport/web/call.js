// A call to the server over WebRTC: what is said and heard as sound, which the browser keeps free of
// echo and whole where packets are lost, and a channel of events beside it.

const CONNECT_MS = 3000; // longer is no connection: docs/decisions/the-page-calls-first.md
const BROKEN_MS = 2500; // a connection may hold its breath for so long
const TICK_MS = 50;
const CHANNEL = "oai-events";

/** Whether this browser can call at all. */
export const canCall = typeof RTCPeerConnection === "function";

/** What is said and heard in calls; goes on from one to the next. A player as `Player` is. */
export class CallSound {
  /** begins(item): it is heard from now on. progress(item, seconds, level, waiting seconds). */
  constructor(begins, progress) {
    Object.assign(this, { begins, progress });
    this.served = true; // the server plays, and knows how far it came
    this.context = null;
    this.voice = null; // the microphone's track
    this.sender = null; // of the call that there is
    this.receiver = null;
    this.element = null;
    this.item = null;
    this.began = 0;
    this.delay = 0;
    this.ticking = 0;
  }

  /** To be called in answer to a press: browsers begin no sound by themselves. */
  start() {
    if (!this.context) {
      this.context = new AudioContext({ latencyHint: "interactive" });
      const silence = new ConstantSourceNode(this.context, { offset: 0 });
      const quiet = this.context.createMediaStreamDestination();
      silence.connect(quiet);
      silence.start();
      [this.silence] = quiet.stream.getAudioTracks();
      this.meter = new AnalyserNode(this.context, { fftSize: 2048 });
    }
    return this.context.resume();
  }

  get track() {
    return this.voice ?? this.silence;
  }

  /** The microphone's track, or null: silence is said then, so that what was said has an end. */
  speak(voice) {
    this.voice = voice;
    this.sender?.replaceTrack(this.track).catch(() => {}); // that call is over
  }

  /** A call is there. */
  attach(sender, receiver) {
    Object.assign(this, { sender, receiver });
    const stream = new MediaStream([receiver.track]);
    this.element = new Audio();
    this.element.srcObject = stream;
    this.element.play().catch(() => {}); // closed before it began
    this.source = this.context.createMediaStreamSource(stream);
    this.source.connect(this.meter);
  }

  detach() {
    this.stopped();
    this.source?.disconnect();
    if (this.element) this.element.srcObject = null;
    Object.assign(this, { sender: null, receiver: null, element: null, source: null });
  }

  get outputLatency() {
    return this.delay + (this.context?.outputLatency || 0);
  }

  /** The sound of an item leaves the server from now on. */
  async started(item) {
    this.item = item;
    this.began = performance.now();
    clearInterval(this.ticking);
    this.ticking = setInterval(() => this.tick(), TICK_MS);
    this.delay = await this.buffered();
    if (item === this.item) this.begins(item);
  }

  /** It has left, or was cleared. */
  stopped() {
    clearInterval(this.ticking);
    if (this.item !== null) this.progress(this.item, this.seconds, 0, 0);
    this.item = null;
  }

  /** The server silences itself, and tells what was heard. */
  async flush() {
    return [];
  }

  get seconds() {
    return Math.max(0, (performance.now() - this.began) / 1000 - this.outputLatency);
  }

  tick() {
    const samples = new Float32Array(this.meter.fftSize);
    this.meter.getFloatTimeDomainData(samples);
    const level = Math.sqrt(samples.reduce((sum, each) => sum + each * each, 0) / samples.length);
    this.progress(this.item, this.seconds, level, 1);
  }

  /** Seconds that sound waits here so that late packets are in time. */
  async buffered() {
    const stats = (await this.receiver?.getStats().catch(() => null)) ?? new Map();
    for (const each of stats.values()) {
      if (each.type === "inbound-rtp" && each.jitterBufferEmittedCount) {
        return each.jitterBufferDelay / each.jitterBufferEmittedCount;
      }
    }
    return 0;
  }
}

export class CallWire {
  /**
   * received(text) takes events; ended(how) hears once of its end: "absent" (no calls here), "never"
   * (none that connects), "unsure" (nobody answers), "key", "full", "broken" (it connects no more),
   * "gone" (the server ended it).
   */
  constructor(address, headers, sound, { received, ended }) {
    Object.assign(this, { address, headers, sound, received, ended });
    this.name = "WebRTC";
    this.over = false;
    this.connected = false;
    this.place = null; // its address at the server
    this.asking = new AbortController();
    this.open().catch(() => this.end("unsure"));
  }

  get ready() {
    return this.channel?.readyState === "open";
  }

  get unsent() {
    return this.channel.bufferedAmount;
  }

  send(text) {
    this.channel.send(text);
  }

  /** Go away; `leave`: the conversation is over, and the server need not keep it. */
  close({ leave }) {
    if (leave && this.place) {
      const { headers } = this;
      fetch(`${this.place}/hangup`, { method: "POST", headers, keepalive: true }).catch(() => {});
    }
    this.over = true;
    this.asking.abort();
    clearTimeout(this.patience);
    this.sound.detach();
    this.peer?.close();
  }

  async open() {
    const peer = (this.peer = new RTCPeerConnection());
    const channel = (this.channel = peer.createDataChannel(CHANNEL));
    this.sound.start();
    const sender = peer.addTrack(this.sound.track);
    peer.ontrack = ({ receiver }) => this.over || this.sound.attach(sender, receiver);
    peer.onconnectionstatechange = () => this.changed(peer.connectionState);
    channel.onmessage = ({ data }) => this.over || this.received(data);
    channel.onclose = () => this.end(peer.connectionState === "connected" ? "gone" : "broken");
    await peer.setLocalDescription();
    const answer = await fetch(this.address, {
      method: "POST",
      headers: { ...this.headers, "Content-Type": "application/sdp" },
      body: peer.localDescription.sdp,
      signal: this.asking.signal,
    });
    if (!answer.ok) {
      const known = { 401: "key", 503: "full", 404: "absent", 405: "absent" };
      this.end(known[answer.status] ?? "never");
      return;
    }
    this.place = `${this.address}/${answer.headers.get("Location").split("/").at(-1)}`;
    const sdp = await answer.text();
    if (this.over) return;
    this.patience = setTimeout(() => this.end("never"), CONNECT_MS);
    await peer.setRemoteDescription({ type: "answer", sdp });
  }

  changed(state) {
    clearTimeout(this.patience);
    if (state === "connected") this.connected = true;
    else if (state === "failed") this.end(this.connected ? "broken" : "never");
    else if (state === "disconnected") this.patience = setTimeout(() => this.end("broken"), BROKEN_MS);
    else if (state === "connecting") this.patience = setTimeout(() => this.end(this.connected ? "broken" : "never"), CONNECT_MS);
  }

  end(how) {
    if (this.over) return;
    this.close({ leave: false });
    this.ended(how);
  }
}
