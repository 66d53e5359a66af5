// A conversation over the Realtime protocol, as a client that owns its playback, or in a call, where the
// server does. Knows no document: what happens is told in plain objects, and shown by others.

import { RATE, fromBase64, toBase64 } from "./sound.js";

const QUIET_CODES = new Set([
  "response_cancel_not_active",
  "conversation_already_has_active_response",
  "input_audio_buffer_commit_empty",
]);
const KEPT_PIECES = 75; // of 40 ms, said while the socket is being opened
const SILENT_PIECES = 30; // of 100 ms: longer than any pause that is waited for
const NO_ANSWER_MS = 20_000;
const KEPT_TURNS = 50;
const WORD_S = 0.25; // of sound that a word has at least, where none is sent with it
const DROPPED_MS = 1500; // between the end of speech and the turn that it becomes, if it does

/** What the server is asked for. */
export function sessionOf(settings) {
  const transcription = { model: "gpt-4o-mini-transcribe" }; // a name that every such server knows
  if (settings.language) transcription.language = settings.language;
  const format = { type: "audio/pcm", rate: RATE };
  const session = {
    type: "realtime",
    output_modalities: [settings.speak ? "audio" : "text"],
    audio: {
      input: {
        format,
        transcription,
        turn_detection: { type: "semantic_vad", eagerness: settings.eagerness, create_response: true, interrupt_response: true },
      },
      output: { format },
    },
  };
  if (settings.voice) session.audio.output.voice = settings.voice;
  return session;
}

/** When the person's voice was heard last, by its level: the server tells when it was sure. */
class VoiceEnd {
  constructor() {
    this.floor = 0.01;
    this.last = 0;
  }

  push(level, now) {
    this.floor = level < this.floor ? level : Math.min(0.05, this.floor * 1.003 + 1e-6);
    if (level > Math.max(0.012, 3 * this.floor)) this.last = now;
  }
}

export class Conversation {
  /**
   * send(event) gives to the server; player plays, or tells what is played where it is `served` by the
   * server, and may be changed between connections; tell(what) hears what happens; now() is in ms.
   */
  constructor(send, player, tell, now = () => performance.now()) {
    Object.assign(this, { send, player, tell, now });
    this.voice = new VoiceEnd();
    this.sessionId = null;
    this.settings = null;
    this.dirty = false; // settings were changed while there was no server
    this.waiting = [];
    this.forget();
  }

  forget() {
    this.turns = new Map(); // item id -> turn
    this.answers = new Map(); // item id -> answer
    this.turn = null;
    this.response = null; // the one that runs
    this.hearing = false;
    this.awaiting = 0; // since when an answer is expected
    this.sounding = false;
    this.spoken = false;
    this.asked = false; // a typed turn waits for the end of the answer before it
    this.live = false;
  }

  // --- what the person does ------------------------------------------------------------------

  append(pcm, level) {
    this.voice.push(level, this.now());
    if (this.live && this.player.served) return; // it goes as sound, beside
    const event = { type: "input_audio_buffer.append", audio: toBase64(pcm) };
    if (this.live && this.send(event)) return;
    this.waiting.push(event);
    if (this.waiting.length > KEPT_PIECES) this.waiting.shift();
  }

  /** The microphone is off: what was being said ends here. */
  silence() {
    this.waiting = [];
    if (this.player.served) return;
    for (let piece = 0; this.hearing && piece < SILENT_PIECES; piece += 1) {
      this.append(new ArrayBuffer(RATE / 5), 0);
    }
  }

  type(text) {
    this.stop();
    const id = `typed_${this.now().toString(36).replace(".", "")}`;
    const item = { id, type: "message", role: "user", content: [{ type: "input_text", text }] };
    if (!this.live || !this.send({ type: "conversation.item.create", item })) return false;
    this.turn = this.turnOf(id);
    Object.assign(this.turn, { typed: true, text, ended: this.now(), committed: this.now() });
    this.tell({ what: "you", turn: this.turn, final: true });
    this.expect();
    if (this.response) this.asked = true;
    else this.send({ type: "response.create" });
    return true;
  }

  /** Silence, by button. */
  stop() {
    if (this.response) this.send({ type: "response.cancel" });
    else this.awaiting = 0;
    if (this.player.served && this.unheard().length) this.send({ type: "output_audio_buffer.clear" });
    this.cut("button");
  }

  update(settings) {
    const before = this.settings;
    this.settings = { ...settings };
    this.dirty = !this.live;
    if (this.dirty) return;
    const session = sessionOf(settings);
    if (this.spoken) delete session.audio.output.voice; // it cannot be changed once it was heard
    this.send({ type: "session.update", session });
    if (this.spoken && before?.voice !== settings.voice) this.tell({ what: "voice-later" });
  }

  /** The connection is gone. */
  lost() {
    this.live = false;
    this.hearing = false;
    this.response = null;
    this.asked = false;
    this.awaiting = 0;
    this.waiting = [];
    for (const answer of this.answers.values()) Object.assign(answer, { complete: true, leaving: false });
    this.sounding &&= !this.player.served;
    this.changed();
  }

  // --- what the server tells -----------------------------------------------------------------

  received(event) {
    const type = event.type;
    if (type === "session.created") this.begin(event.session);
    else if (type === "error") this.failed(event.error);
    else if (type === "input_audio_buffer.speech_started") this.speechStarted(event.item_id);
    else if (type === "input_audio_buffer.speech_stopped") this.speechStopped(event.item_id);
    else if (type === "input_audio_buffer.committed") this.committed(event.item_id);
    else if (type.startsWith("conversation.item.input_audio_transcription.")) this.transcription(event);
    else if (type === "conversation.item.truncated") this.truncated(event.item_id, event.audio_end_ms / 1000);
    else if (type.startsWith("output_audio_buffer.")) this.served(type, event.response_id);
    else if (type.startsWith("response.")) this.answered(event);
    this.changed();
  }

  begin(session) {
    const resumed = this.sessionId === session.id;
    const fresh = this.sessionId !== null && !resumed;
    this.sessionId = session.id;
    if (!resumed) this.forget();
    this.live = true;
    if (this.dirty && resumed) this.update(this.settings);
    else if (!resumed) {
      this.dirty = false;
      this.send({ type: "session.update", session: sessionOf(this.settings) });
    }
    const waiting = this.waiting.splice(0);
    if (!this.player.served) for (const event of waiting) this.send(event);
    this.tell({ what: "begun", resumed, fresh, voice: session.audio?.output?.voice });
  }

  failed(error) {
    if (!QUIET_CODES.has(error.code)) this.tell({ what: "error", text: error.message, code: error.code });
  }

  speechStarted(id) {
    this.hearing = true;
    this.awaiting = 0;
    if (!this.player.served) this.cut("voice");
    this.turn = this.turnOf(id);
    this.tell({ what: "you", turn: this.turn, final: false });
  }

  speechStopped(id) {
    const turn = this.turnOf(id);
    this.hearing = false;
    turn.stopped = this.now();
    const recent = turn.stopped - this.voice.last < 10_000;
    turn.ended = recent ? Math.min(this.voice.last, turn.stopped) : turn.stopped;
    this.expect();
    setTimeout(() => this.dropped(turn), DROPPED_MS);
  }

  /** What was said and never became a turn: the server took it for no words to it. */
  dropped(turn) {
    if (turn.committed || turn !== this.turn || this.hearing) return;
    this.awaiting = 0;
    this.tell({ what: "nothing", turn });
    this.changed();
  }

  committed(id) {
    const turn = (this.turn = this.turnOf(id));
    turn.committed = this.now();
    turn.ended ??= turn.committed;
  }

  transcription(event) {
    const turn = this.turnOf(event.item_id);
    if (event.type.endsWith(".delta")) turn.text += event.delta ?? "";
    else if (event.type.endsWith(".completed")) turn.text = event.transcript;
    else if (event.type.endsWith(".failed")) turn.text = "";
    else return;
    const final = !event.type.endsWith(".delta");
    if (final && !turn.text.trim()) {
      this.tell({ what: "nothing", turn });
      if (!this.response) this.awaiting = 0;
    } else this.tell({ what: "you", turn, final });
  }

  answered(event) {
    const answer = this.answers.get(event.item_id);
    switch (event.type) {
      case "response.created":
        this.response = event.response.id;
        this.expect();
        break;
      case "response.output_item.added":
        if (event.item.type === "message") this.open(event);
        break;
      case "response.output_item.done":
        if (event.item.type === "function_call") this.tell({ what: "tool", name: event.item.name, arguments: event.item.arguments });
        break;
      case "response.output_audio_transcript.delta":
      case "response.output_text.delta":
        if (answer && !answer.cut) this.words(answer, event);
        break;
      case "response.output_audio.delta":
        if (answer && !answer.cut) this.sound(answer, fromBase64(event.delta));
        break;
      case "response.output_audio.done":
      case "response.output_text.done":
        if (answer) answer.complete = true;
        break;
      case "response.done":
        this.done(event.response);
    }
  }

  open(event) {
    const turn = this.turn ?? this.turnOf(`greeting_${event.response_id}`);
    const answer = { id: event.item.id, response: event.response_id, turn, words: [], received: 0, heard: 0, cut: null, complete: false, leaving: false };
    this.answers.set(answer.id, answer);
    if (this.answers.size > KEPT_TURNS) this.answers.delete(this.answers.keys().next().value);
    this.tell({ what: "answer", answer });
  }

  words(answer, event) {
    answer.turn.words ??= this.now();
    const silent = event.type === "response.output_text.delta";
    const at = silent ? -1 : (event.start_time ?? answer.received);
    if (this.player.served && !silent) answer.received = Math.max(answer.received, at + WORD_S);
    answer.words.push({ text: event.delta, at });
    this.tell({ what: "words", answer, silent });
  }

  sound(answer, samples) {
    answer.turn.sound ??= this.now();
    answer.received += samples.length / RATE;
    this.spoken = true;
    this.player.play(answer.id, samples);
  }

  done(response) {
    if (this.response === response.id) this.response = null;
    const cancelled = this.player.served && response.status === "cancelled";
    if (cancelled) this.cut("voice", (answer) => answer.response === response.id);
    for (const answer of this.answers.values()) if (answer.response === response.id) answer.complete = true;
    if (response.status === "failed") {
      const error = response.status_details?.error;
      this.tell({ what: "error", text: `The answer failed: ${error?.message || error?.code || "the server does not say why"}.` });
    }
    if (this.turn && response.status !== "cancelled") this.turn.done = this.now();
    if (this.asked) {
      this.asked = false;
      this.send({ type: "response.create" });
    } else this.awaiting = 0;
    this.tell({ what: "done", status: response.status, turn: this.turn });
  }

  truncated(id, seconds) {
    const answer = this.answers.get(id);
    if (!answer) return;
    answer.cut = { at: seconds, by: answer.cut?.by ?? "server" };
    this.tell({ what: "cut", answer });
  }

  /** The sound of an answer leaves the server, has left, or was cleared there. */
  served(type, response) {
    const answer = [...this.answers.values()].find((each) => each.response === response);
    if (!answer) return;
    if (type.endsWith(".started")) {
      answer.leaving = this.spoken = true;
      answer.turn.sound ??= this.now();
      this.player.started(answer.id);
      return;
    }
    if (type.endsWith(".cleared")) this.cut("voice", (each) => each === answer);
    answer.leaving = false;
    if (type.endsWith(".stopped") && !answer.cut) answer.heard = answer.received = Math.max(answer.received, this.player.seconds);
    this.player.stopped();
    this.tell({ what: "heard", answer });
  }

  // --- what is played ------------------------------------------------------------------------

  begins(id) {
    const answer = this.answers.get(id);
    if (!answer) return;
    this.sounding = true;
    if (answer.turn.played === undefined) {
      answer.turn.played = this.now() + 1000 * this.player.outputLatency;
      this.tell({ what: "latency", turn: answer.turn });
    }
    this.changed();
  }

  progress(id, seconds, waiting) {
    const answer = this.answers.get(id);
    if (this.player.served && !answer?.leaving) seconds = answer?.heard;
    const was = this.sounding;
    this.sounding = waiting > 0 || (was && Boolean(answer) && !answer.complete && !answer.cut && this.response !== null);
    if (answer && !answer.cut && seconds !== answer.heard) {
      answer.heard = seconds;
      this.tell({ what: "heard", answer });
    }
    if (was !== this.sounding) this.changed();
  }

  /** Answers that were not heard to their end. */
  unheard() {
    const owed = (each) => !each.complete || (this.player.served ? each.leaving : each.heard < each.received - 0.02);
    return [...this.answers.values()].filter((each) => !each.cut && owed(each));
  }

  /** Silence the player, and tell the server what was heard of each answer that was cut. */
  async cut(by, which = () => true) {
    const { served } = this.player;
    const open = this.unheard().filter(which);
    for (const answer of open) Object.assign(answer, { cut: { at: answer.heard, by }, leaving: false });
    if (open.length || !served) this.sounding = false;
    if (!open.length) return;
    const heard = new Map(await this.player.flush());
    for (const answer of open) {
      if (!answer.received) continue;
      answer.turn.interrupted = by;
      if (!served) {
        answer.cut.at = Math.min(heard.get(answer.id) ?? 0, answer.received);
        const audio_end_ms = Math.floor(1000 * answer.cut.at);
        this.send({ type: "conversation.item.truncate", item_id: answer.id, content_index: 0, audio_end_ms });
      } // else the server tells it, and where
      this.tell({ what: "cut", answer });
    }
    this.changed();
  }

  // --- inside --------------------------------------------------------------------------------

  turnOf(id) {
    let turn = this.turns.get(id);
    if (!turn) {
      turn = { id, text: "", began: this.now() };
      this.turns.set(id, turn);
      if (this.turns.size > KEPT_TURNS) this.turns.delete(this.turns.keys().next().value);
    }
    return turn;
  }

  expect() {
    this.awaiting = this.now();
  }

  get state() {
    if (this.hearing) return "hearing";
    if (this.sounding) return "speaking";
    const expected = this.awaiting && (this.response || this.now() - this.awaiting < NO_ANSWER_MS);
    return expected ? "thinking" : "listening";
  }

  changed() {
    this.tell({ what: "state" });
  }
}
