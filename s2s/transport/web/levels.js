// How loud both sides are: a strip of the last seconds, you above the line and the answer below it,
// and the rings of the button. Draws only while there is something to draw.

const EACH_MS = 50;
const BAR_PX = 3;
const GAP_PX = 2;

/** Loudness as the eye expects it: -54 dB is nothing, -6 dB is all. */
export function shownLevel(rms) {
  return Math.max(0, Math.min(1, (20 * Math.log10(rms + 1e-9) + 54) / 48));
}

export class Levels {
  constructor(canvas, button) {
    Object.assign(this, { canvas, button });
    this.past = [];
    this.you = 0;
    this.other = 0;
    this.next = 0;
    this.running = false;
    this.still = matchMedia("(prefers-reduced-motion: reduce)");
    const fit = () => {
      this.fit();
      this.draw();
    };
    new ResizeObserver(fit).observe(canvas);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.draw());
  }

  heard(rms) {
    this.you = Math.max(this.you, shownLevel(rms));
    this.run();
  }

  played(rms) {
    this.other = Math.max(this.other, shownLevel(rms));
    if (rms > 0) this.run();
  }

  run() {
    if (this.running) return;
    this.running = true;
    this.next = performance.now();
    requestAnimationFrame((now) => this.step(now));
  }

  step(now) {
    let moved = false;
    while (now >= this.next) {
      this.past.push([this.you, this.other]);
      this.you *= 0.6;
      this.other *= 0.6;
      this.next = now - this.next > 1000 ? now + EACH_MS : this.next + EACH_MS;
      moved = true;
    }
    if (moved) {
      const most = Math.ceil(this.canvas.clientWidth / (BAR_PX + GAP_PX)) + 1;
      this.past.splice(0, Math.max(0, this.past.length - most));
      this.draw();
      this.running = this.past.some(([you, other]) => you > 0.01 || other > 0.01);
    }
    if (this.running) requestAnimationFrame((later) => this.step(later));
  }

  fit() {
    const scale = devicePixelRatio || 1;
    this.canvas.width = Math.round(this.canvas.clientWidth * scale);
    this.canvas.height = Math.round(this.canvas.clientHeight * scale);
  }

  draw() {
    const [you, other] = this.past.at(-1) ?? [0, 0];
    this.button.style.setProperty("--you", you.toFixed(3));
    this.button.style.setProperty("--other", other.toFixed(3));
    const context = this.canvas.getContext("2d");
    const { width, height } = this.canvas;
    const style = getComputedStyle(this.canvas);
    const colours = ["--you-colour", "--other-colour", "--line"].map((name) => style.getPropertyValue(name));
    const scale = devicePixelRatio || 1;
    const middle = height / 2;
    context.clearRect(0, 0, width, height);
    context.fillStyle = colours[2];
    context.fillRect(0, middle - scale / 2, width, scale);
    const bars = this.still.matches ? [[you, other]] : this.past;
    const wide = this.still.matches ? width : BAR_PX * scale;
    bars.forEach(([mine, theirs], index) => {
      const x = width - (bars.length - index) * (wide + GAP_PX * scale) + GAP_PX * scale;
      for (const [level, sign, colour] of [[mine, -1, colours[0]], [theirs, 1, colours[1]]]) {
        const tall = level * (middle - 2 * scale);
        if (tall < 0.5) continue;
        context.fillStyle = colour;
        context.beginPath();
        context.roundRect(x, sign < 0 ? middle - scale - tall : middle + scale, wide, tall, scale);
        context.fill();
      }
    });
  }
}
