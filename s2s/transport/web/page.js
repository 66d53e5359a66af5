// The page: what its buttons and fields do, and which words each state has.

import { CallSound, canCall } from "./call.js";
import { Conversation } from "./conversation.js";
import { Levels } from "./levels.js";
import { Link } from "./link.js";
import { Microphone, MicrophoneRefused, Player } from "./sound.js";
import { Captions, Timeline, latencyText } from "./view.js";

const LANGUAGES = "en de fr es it pt nl pl sv da fi cs uk ru tr ar hi zh ja ko".split(" ");
const DEFAULTS = { voice: "", language: "", microphone: "", eagerness: "auto", speak: true, ahead: true, keep: false, timeline: false };
const STATES = {
  off: "Ready when you are",
  connecting: "Connecting…",
  waiting: "Waiting for the server",
  refused: "Not connected",
  typing: "The microphone is off",
  muted: "Muted: nothing you say is sent",
  listening: "Listening",
  hearing: "Hearing you",
  thinking: "Thinking",
  speaking: "Speaking: talk to interrupt",
};

const BY = {
  WebRTC: "Sound goes as a call: the browser takes the echo out of it and hides what the network loses.",
  WebSocket: "Sound goes as messages: the server takes no calls, or none came through.",
};

const $ = (id) => document.getElementById(id);

// --- settings ------------------------------------------------------------------------------------

function stored() {
  try {
    return { ...DEFAULTS, ...JSON.parse(localStorage.getItem("s2s") ?? "{}") };
  } catch {
    return { ...DEFAULTS };
  }
}

/** The key: of the address (#key=…, which is taken away from it), or kept here. */
function keyFound() {
  const fragment = new URLSearchParams(location.hash.slice(1));
  const given = fragment.get("key");
  if (given) {
    history.replaceState(null, "", location.pathname + location.search);
    sessionStorage.setItem("s2s-key", given);
  }
  return given ?? sessionStorage.getItem("s2s-key") ?? localStorage.getItem("s2s-key") ?? "";
}

const settings = stored();
let key = keyFound();

function keep() {
  localStorage.setItem("s2s", JSON.stringify(settings));
  sessionStorage.setItem("s2s-key", key);
  if (settings.keep && key) localStorage.setItem("s2s-key", key);
  else localStorage.removeItem("s2s-key");
}

// --- the parts -----------------------------------------------------------------------------------

const captions = new Captions($("scroll"), $("turns"), $("welcome"), $("announce"));
const timeline = new Timeline($("rows"));
const levels = new Levels($("levels"), $("talk"));
const begins = (item) => conversation.begins(item);
const progress = (from) => (item, seconds, level, waiting) => {
  if (conversation.player !== from()) return; // the other one tells that it is silent
  levels.played(level);
  conversation.progress(item, seconds, waiting);
};
const player = new Player(begins, progress(() => player));
const call = new CallSound(begins, progress(() => call));
const link = new Link((event) => conversation.received(event), linked, call);
const conversation = new Conversation((event) => link.send(event), player, tell);
const microphone = new Microphone(
  (pcm, level) => {
    levels.heard(muted ? 0 : level);
    conversation.append(muted ? new ArrayBuffer(pcm.byteLength) : pcm, muted ? 0 : level);
  },
  () => {
    call.speak(null);
    notice("The microphone is gone. Plug it in again and press Talk. You can type meanwhile.");
    show();
  },
);
let muted = false;
let talking = false; // the microphone is wanted
let typed = ""; // written before the socket was open
let counting = 0;

// --- what is shown -------------------------------------------------------------------------------

function stateNow() {
  if (link.state !== "open") return link.state;
  const state = conversation.state;
  if (state !== "listening") return state;
  if (!microphone.open) return "typing";
  return muted ? "muted" : "listening";
}

function show() {
  const state = stateNow();
  document.body.dataset.state = state;
  $("state").textContent = STATES[state];
  $("talk").setAttribute("aria-pressed", String(talking));
  $("talk").querySelector("span:last-child").textContent = talking ? "End" : "Talk";
  $("mute").disabled = !talking;
  $("mute").setAttribute("aria-pressed", String(muted));
  $("stop").disabled = !(state === "speaking" || (state === "thinking" && conversation.response));
}

function notice(text, action, act, calm = false) {
  $("notice").hidden = false;
  $("notice").classList.toggle("calm", calm);
  $("notice-text").textContent = text;
  $("notice-action").hidden = !action;
  $("notice-action").textContent = action ?? "";
  $("notice-action").onclick = () => {
    $("notice").hidden = true;
    act();
  };
}

function linked(state, { by, lost, why, seconds, text }) {
  clearInterval(counting);
  const words = { off: "Not connected", connecting: "Connecting…", open: "Connected", waiting: "No connection", refused: "Not connected" };
  $("link-text").textContent = words[state];
  $("link-by").textContent = by ?? "";
  $("link-by").title = BY[by] ?? "";
  if (state === "open") {
    $("notice").hidden = true;
    conversation.player = by === "WebRTC" ? call : player;
  } else if (state !== "connecting" || lost) conversation.lost();
  if (state === "waiting") countDown(why, Math.ceil(seconds));
  if (state === "refused") {
    endTalking();
    if (why === "key") notice(text, "Enter the key", () => openSettings("key"));
    else notice(text, "Connect again", () => start());
  }
  show();
}

function countDown(why, seconds) {
  const what = why === "full" ? "The server talks with as many people as it can. You are next when a place is free." : "The server cannot be reached. What you said is kept for a minute.";
  notice(what, "Try now", () => link.open(), true);
  const tick = () => {
    $("link-text").textContent = seconds > 0 ? `Trying again in ${seconds} s` : "Trying again…";
    seconds -= 1;
  };
  tick();
  counting = setInterval(tick, 1000);
}

function tell(event) {
  const { turn, answer } = event;
  switch (event.what) {
    case "begun":
      if (event.fresh) captions.remark("A new conversation: the server no longer knows what was said above.");
      sendTyped();
      break;
    case "you":
      captions.you(turn, event.final);
      if (event.final) timeline.draw();
      break;
    case "nothing":
      captions.nothing(turn);
      break;
    case "answer":
      captions.answer(answer);
      break;
    case "words":
    case "heard":
      captions.words(answer);
      break;
    case "cut":
      captions.words(answer);
      timeline.draw();
      break;
    case "latency":
      $("latency").textContent = latencyText(turn);
      timeline.add(turn);
      break;
    case "done":
      if (!settings.speak && event.status === "completed") captions.read($("turns").lastChild?.textContent ?? "");
      break;
    case "tool":
      captions.remark(`Wants to call ${event.name}: ${event.arguments}`);
      break;
    case "voice-later":
      notice("A conversation keeps its voice. The new one speaks in the next conversation.", "New conversation", anew, true);
      break;
    case "error":
      notice(event.text);
      break;
  }
  show();
}

// --- what is done --------------------------------------------------------------------------------

function start() {
  conversation.settings = { ...settings };
  link.start(key);
  findVoices();
}

async function startTalking() {
  talking = true;
  muted = false;
  $("notice").hidden = true;
  show();
  play();
  try {
    await microphone.start(settings.microphone);
    if (talking) call.speak(microphone.track);
    else microphone.stop();
    if (talking && link.state !== "open") start();
  } catch (error) {
    talking = false;
    notice(error instanceof MicrophoneRefused ? error.message : `The microphone cannot be used: ${error.message}`);
  }
  listMicrophones();
  show();
}

/** Have both ways of playing ready: only in answer to a press may they begin. */
function play() {
  player.start().catch(() => notice("This browser cannot play the answers."));
  if (canCall) call.start().catch(() => {}); // answers come over the socket then
}

function endTalking() {
  talking = false;
  muted = false;
  call.speak(null);
  microphone.stop();
  conversation.silence();
  show();
}

function sendTyped() {
  if (typed && conversation.type(typed)) typed = "";
}

function anew() {
  link.stop({ forget: true });
  conversation.cut("button");
  conversation.sessionId = null;
  conversation.forget();
  captions.clear();
  timeline.clear();
  $("latency").textContent = "";
  start();
}

$("talk").onclick = () => (talking ? endTalking() : startTalking());
$("mute").onclick = () => {
  muted = !muted;
  microphone.mute(muted);
  show();
};
$("stop").onclick = () => conversation.stop();
$("notice-close").onclick = () => ($("notice").hidden = true);
$("typing").onsubmit = (event) => {
  event.preventDefault();
  const text = $("text").value.trim();
  if (!text) return;
  $("text").value = "";
  play();
  typed = text;
  if (link.state === "open") sendTyped();
  else start();
};
addEventListener("pagehide", () => endTalking());
addEventListener("keydown", (event) => {
  if (event.key === "Escape" && !$("settings").open && !$("stop").disabled) conversation.stop();
});

// --- settings and timeline -----------------------------------------------------------------------

function openSettings(field = "voice") {
  for (const name of Object.keys(DEFAULTS)) {
    const input = $(name);
    if (name === "timeline") continue;
    if (input.type === "checkbox") input.checked = settings[name];
    else {
      if (![...input.options].some(({ value }) => value === settings[name])) input.add(new Option(settings[name], settings[name]));
      input.value = settings[name];
    }
  }
  $("key").value = key;
  $("settings").returnValue = "";
  $("settings").showModal();
  $(field).focus();
  findVoices();
  listMicrophones();
}

function closeSettings() {
  const before = { ...settings };
  const keyBefore = key;
  for (const name of Object.keys(DEFAULTS)) {
    if (name !== "timeline") settings[name] = $(name).type === "checkbox" ? $(name).checked : $(name).value;
  }
  key = $("key").value.trim();
  keep();
  captions.ahead = settings.ahead;
  const asked = ["voice", "language", "eagerness", "speak"].some((name) => settings[name] !== before[name]);
  if (key !== keyBefore && link.state !== "off") {
    $("notice").hidden = true;
    link.stop();
    start();
  } else if (asked) conversation.update(settings);
  if (settings.microphone !== before.microphone && microphone.open) {
    microphone.stop();
    startTalking();
  }
  if ($("settings").returnValue === "new") anew();
}

async function findVoices() {
  const headers = key ? { Authorization: `Bearer ${key}` } : {};
  const answer = await fetch("v1/audio/voices", { headers }).then((each) => (each.ok ? each.json() : {}), () => ({}));
  const names = (answer.voices ?? []).map((each) => (typeof each === "string" ? each : each.id ?? each.name));
  fill($("voice"), names.map((name) => [name, name]), settings.voice);
}

async function listMicrophones() {
  const devices = (await navigator.mediaDevices?.enumerateDevices?.().catch(() => [])) ?? [];
  const found = devices.filter(({ kind, deviceId, label }) => kind === "audioinput" && deviceId && deviceId !== "default" && label);
  fill($("microphone"), found.map(({ deviceId, label }) => [deviceId, label]), settings.microphone);
}

/** Options behind the first, which stays. */
function fill(select, options, chosen) {
  const value = $("settings").open ? select.value : chosen;
  select.length = 1;
  for (const [name, label] of options) select.add(new Option(label, name));
  if (value && !options.some(([name]) => name === value)) select.add(new Option(value, value));
  select.value = value;
}

function showTimeline(on) {
  settings.timeline = on;
  $("timeline").hidden = !on;
  $("open-timeline").setAttribute("aria-expanded", String(on));
}

$("open-settings").onclick = () => openSettings();
$("settings").onclose = closeSettings;
$("new-conversation").onclick = () => $("settings").close("new");
$("open-timeline").onclick = () => {
  showTimeline($("timeline").hidden);
  keep();
};

const names = new Intl.DisplayNames(["en"], { type: "language" });
fill($("language"), LANGUAGES.map((code) => [code, names.of(code)]), settings.language);
captions.ahead = settings.ahead;
showTimeline(settings.timeline);
show();
