// Draws what is in sight of a conversation: both voices, their words, what happened, and where the
// sound is. All texts go in as text. The data are those of `s2s.records.report.page`.
"use strict";

const data = JSON.parse(document.getElementById("data").textContent);
const scroller = document.querySelector(".scroller");
const wide = document.querySelector(".wide");
const view = document.querySelector(".view");
const canvas = view.querySelector("canvas");
const cursor = view.querySelector(".cursor");
const overview = document.querySelector(".overview");
const frame = overview.querySelector(".window");
const audio = document.querySelector("audio");

const RULER = 18;
const MARKS = 18;
const WAVE = 54;
const WORDS = 48;
const TRACK = MARKS + 2 * (WAVE + WORDS) + 14;
const MOST_PX_PER_S = 400;
const GAP = 6; // between labels, px
const LEAST = 30; // px that a label needs to say anything

const decoded = (text) => Uint8Array.from(atob(text), (each) => each.charCodeAt(0));
for (const track of data.tracks) {
  for (const voice of track.voices) voice.levels = coarser(decoded(voice.levels));
}
let pxPerS = 1;
let at_s = 0;

/** Levels by ever longer steps: of each two the louder one. */
function coarser(finest) {
  const all = [finest];
  while (all[all.length - 1].length > 512) {
    const last = all[all.length - 1];
    const next = new Uint8Array(Math.ceil(last.length / 2));
    for (let i = 0; i < next.length; i++) next[i] = Math.max(last[2 * i], last[2 * i + 1] ?? 0);
    all.push(next);
  }
  return all;
}

const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

/** Draw levels between two moments, in a box of the canvas. */
function wave(context, levels, from_s, to_s, box) {
  const steps = (to_s - from_s) / data.bin_s;
  const level = Math.max(0, Math.min(levels.length - 1, Math.floor(Math.log2(steps / box.width))));
  const bin_s = data.bin_s * 2 ** level;
  const values = levels[level];
  const middle = box.top + box.height / 2;
  context.fillStyle = box.colour;
  context.fillRect(box.left, middle - 0.5, box.width, 1);
  const pxPerBin = (box.width * bin_s) / (to_s - from_s);
  const first = Math.max(0, Math.floor(from_s / bin_s));
  for (let i = first; i < values.length && i * bin_s < to_s; i++) {
    const half = (values[i] / 255) * (box.height / 2);
    const at = box.left + ((i * bin_s - from_s) / (to_s - from_s)) * box.width;
    const left = Math.floor(at); // whole pixels: halves of two bars are no gap
    context.fillRect(left, middle - half, Math.max(1, Math.ceil(at + pxPerBin) - left), 2 * half);
  }
}

function sized(element, width, height) {
  const ratio = window.devicePixelRatio || 1;
  element.width = Math.round(width * ratio);
  element.height = Math.round(height * ratio);
  const context = element.getContext("2d");
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  return context;
}

const clock = (seconds) => {
  const whole = Math.floor(seconds);
  const parts = [Math.floor(whole / 60) % 60, whole % 60].map((part) => String(part).padStart(2, "0"));
  return whole >= 3600 ? `${Math.floor(whole / 3600)}:${parts.join(":")}` : parts.join(":");
};

/** Seconds between lines of the ruler, so that their numbers have room. */
function rulerStep() {
  return [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 1800, 3600].find((step) => step * pxPerS >= 64) ?? 7200;
}

function ruler(context, from_s, to_s, height) {
  const step = rulerStep();
  context.font = "11px system-ui, sans-serif";
  for (let s = Math.ceil(from_s / step) * step; s <= to_s; s += step) {
    const x = Math.round((s - from_s) * pxPerS);
    context.fillStyle = colour("--line");
    context.fillRect(x, 0, 1, height);
    context.fillStyle = colour("--faint");
    context.fillText(clock(s), x + 3, 12);
  }
}

/** Labels of one lane: each as wide as there is room before the next, none where there is none. */
function labels(lane, from_s, top, kind, tallest) {
  const width = view.clientWidth;
  for (let i = 0; i < lane.length; i++) {
    const label = lane[i];
    const left = Math.max((label.at_s - from_s) * pxPerS, 0);
    const next = i + 1 < lane.length ? (lane[i + 1].at_s - from_s) * pxPerS : Infinity;
    const natural = Math.max(((label.to_s ?? label.at_s) - from_s) * pxPerS - left, 240);
    const room = Math.min(next - GAP, width, left + natural) - left;
    if (next <= 0 || room < LEAST) continue;
    if (left >= width) break;
    const element = document.createElement("div");
    element.className = `label ${kind}${tallest ? "" : " one"}`;
    element.textContent = label.text;
    element.title = label.detail ? `${label.text}: ${label.detail}` : label.text;
    element.style.left = `${left}px`;
    element.style.top = `${top}px`;
    element.style.width = `${room}px`;
    element.addEventListener("click", () => seek(label.at_s));
    view.append(element);
  }
}

function named(text, top) {
  const element = document.createElement("div");
  element.className = "name";
  element.textContent = text;
  element.style.top = `${top}px`;
  view.append(element);
}

function draw() {
  const width = scroller.clientWidth;
  const height = RULER + data.tracks.length * TRACK;
  const from_s = scroller.scrollLeft / pxPerS;
  const to_s = from_s + width / pxPerS;
  view.style.width = `${width}px`;
  view.style.height = `${height}px`;
  wide.style.width = `${Math.max(width, Math.ceil(data.duration_s * pxPerS))}px`;
  canvas.style.width = `${width}px`;
  canvas.style.height = `${height}px`;
  for (const old of view.querySelectorAll(".label, .name")) old.remove();
  const context = sized(canvas, width, height);
  ruler(context, from_s, to_s, height);
  data.tracks.forEach((track, number) => {
    let top = RULER + number * TRACK;
    for (const mark of track.marks) {
      if (mark.at_s < from_s || mark.at_s > to_s) continue;
      context.fillStyle = colour("--cursor");
      const left = (mark.at_s - from_s) * pxPerS;
      context.fillRect(left, top, 1, MARKS + WAVE);
      context.fillRect(left, top + MARKS + WAVE + WORDS, 1, WAVE);
    }
    labels(track.marks, from_s, top + 1, "mark", false);
    top += MARKS;
    for (const voice of track.voices) {
      const box = { left: 0, top, width, height: WAVE, colour: colour(`--${voice.kind}`) };
      wave(context, voice.levels, from_s, to_s, box);
      named(track.name ? `${voice.name}, ${track.name}` : voice.name, top);
      labels(voice.labels, from_s, top + WAVE + 1, voice.kind, true);
      top += WAVE + WORDS;
    }
  });
  place();
}

function drawOverview() {
  const { clientWidth: width, clientHeight: height } = overview;
  const context = sized(overview.querySelector("canvas"), width, height);
  const track = data.tracks[data.tracks.length - 1];
  track.voices.forEach((voice, number) => {
    const box = { left: 0, top: (number * height) / 2, width, height: height / 2, colour: colour(`--${voice.kind}`) };
    wave(context, voice.levels, 0, data.duration_s, box);
  });
}

/** Put the cursor where the sound is, and the frame where the view is. */
function place() {
  const left = at_s * pxPerS - scroller.scrollLeft;
  cursor.style.left = `${left}px`;
  cursor.hidden = left < 0 || left > scroller.clientWidth;
  const share = overview.clientWidth / Math.max(data.duration_s, 1e-9);
  const shown = Math.min(scroller.clientWidth / pxPerS, data.duration_s) * share;
  frame.style.left = `${Math.min((scroller.scrollLeft / pxPerS) * share, overview.clientWidth - 4)}px`;
  frame.style.width = `${shown}px`;
}

function seek(seconds) {
  at_s = Math.max(0, Math.min(seconds, data.duration_s));
  if (audio) audio.currentTime = at_s;
  const left = at_s * pxPerS;
  if (left < scroller.scrollLeft || left > scroller.scrollLeft + scroller.clientWidth - 20) {
    scroller.scrollLeft = Math.max(0, left - scroller.clientWidth / 4);
  }
  place();
}

/** So many px a second, with the middle of the view where it was. */
function zoom(wanted) {
  const width = scroller.clientWidth;
  const middle_s = (scroller.scrollLeft + width / 2) / pxPerS;
  pxPerS = Math.max(width / data.duration_s, Math.min(MOST_PX_PER_S, wanted));
  draw();
  scroller.scrollLeft = Math.max(0, middle_s * pxPerS - width / 2);
  draw();
}

let waiting = false;
function soon(what) {
  if (waiting) return;
  waiting = true;
  requestAnimationFrame(() => {
    waiting = false;
    what();
  });
}

function follow() {
  at_s = audio.currentTime;
  const left = at_s * pxPerS - scroller.scrollLeft;
  if (left > scroller.clientWidth * 0.9 || left < 0) scroller.scrollLeft += left - scroller.clientWidth * 0.1;
  place();
  if (!audio.paused) requestAnimationFrame(follow);
}

scroller.addEventListener("scroll", () => soon(draw), { passive: true });
scroller.addEventListener(
  "wheel",
  (event) => {
    if (!event.ctrlKey) return;
    event.preventDefault();
    zoom(pxPerS * (event.deltaY < 0 ? 1.25 : 0.8));
  },
  { passive: false },
);
canvas.addEventListener("click", (event) => seek((event.offsetX + scroller.scrollLeft) / pxPerS));
overview.addEventListener("click", (event) => {
  const bounds = overview.getBoundingClientRect();
  const there_s = ((event.clientX - bounds.left) / bounds.width) * data.duration_s;
  scroller.scrollLeft = there_s * pxPerS - scroller.clientWidth / 2;
  seek(there_s);
});
for (const button of document.querySelectorAll("[data-zoom]")) {
  const by = Number(button.dataset.zoom);
  button.addEventListener("click", () => zoom(by ? pxPerS * by : 0));
}
for (const button of document.querySelectorAll("[data-at]")) {
  button.addEventListener("click", () => {
    seek(Number(button.dataset.at));
    scroller.scrollIntoView({ block: "nearest" });
  });
}
if (audio) {
  audio.addEventListener("play", follow);
  audio.addEventListener("seeked", follow);
}
const restart = () => {
  zoom(pxPerS);
  drawOverview();
};
new ResizeObserver(() => soon(restart)).observe(scroller);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", restart);
zoom(Math.max(60, scroller.clientWidth / Math.min(data.duration_s, 30)));
scroller.scrollLeft = 0;
drawOverview();
draw();
