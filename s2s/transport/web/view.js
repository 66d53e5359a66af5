// The captions, as they grow: what was said, what is answered, and how much of it was heard.

const KEPT_LINES = 200;
const NEAR_END_PX = 80;

/** How much of an answer's text was heard after `heard` seconds: [heard part, rest]. */
export function spoken(answer, heard) {
  const groups = []; // text that begins at one time
  for (const { text, at } of answer.words) {
    const last = groups.at(-1);
    if (last && at <= last.at) last.text += text;
    else groups.push({ text, at });
  }
  let said = "";
  let rest = "";
  groups.forEach((group, index) => {
    const end = groups[index + 1]?.at ?? Math.max(answer.received, group.at);
    if (group.at < 0 || (heard >= end && end > group.at)) said += group.text;
    else if (heard <= group.at) rest += group.text;
    else {
      const share = Math.round((group.text.length * (heard - group.at)) / (end - group.at));
      const cut = group.text.lastIndexOf(" ", share) + 1 || (share >= group.text.length ? group.text.length : 0);
      said += group.text.slice(0, cut);
      rest += group.text.slice(cut);
    }
  });
  return [said, rest];
}

function element(name, className, text = "") {
  const made = document.createElement(name);
  made.className = className;
  made.textContent = text;
  return made;
}

export class Captions {
  constructor(scroll, list, welcome, announce) {
    Object.assign(this, { scroll, list, welcome, announce });
    this.lines = new WeakMap(); // turn or answer -> its elements
    this.ahead = true;
  }

  you(turn, final) {
    const line = this.lines.get(turn) ?? this.add(turn, "you", "You");
    line.text.textContent = turn.text || "…";
    line.item.classList.toggle("partial", !final);
    if (final) this.announce.textContent = `You said: ${turn.text}`;
    this.follow();
  }

  nothing(turn) {
    this.lines.get(turn)?.item.remove();
    this.lines.delete(turn);
  }

  answer(answer) {
    this.lines.set(answer, null);
  }

  /** Show an answer as far as it was heard; what comes is paler, what was never heard is struck. */
  words(answer) {
    if (!answer.words.length) return;
    const line = this.lines.get(answer) ?? this.add(answer, "assistant", "Answer");
    const [said, rest] = spoken(answer, answer.cut ? answer.cut.at : answer.heard);
    line.text.textContent = said;
    line.rest.textContent = answer.cut || this.ahead ? rest : "";
    line.rest.className = answer.cut ? "unheard" : "ahead";
    line.item.classList.toggle("cut", Boolean(answer.cut));
    if (answer.cut && !line.note.textContent) {
      line.note.textContent = answer.cut.by === "button" ? "You stopped it here" : "You interrupted here";
    }
    this.follow();
  }

  read(text) {
    this.announce.textContent = text;
  }

  remark(text) {
    this.list.append(element("li", "remark", text));
    this.trim();
    this.follow(true);
  }

  clear() {
    this.list.replaceChildren();
    this.welcome.hidden = false;
  }

  add(key, kind, who) {
    this.welcome.hidden = true;
    const line = {
      item: element("li", `line ${kind}`),
      text: element("span", "said"),
      rest: element("span", "ahead"),
      note: element("span", "note"),
    };
    const words = element("p", "words");
    words.append(line.text, line.rest);
    line.item.append(element("span", "who", who), words, line.note);
    this.list.append(line.item);
    this.lines.set(key, line);
    this.trim();
    this.follow(true);
    return line;
  }

  trim() {
    while (this.list.children.length > KEPT_LINES) this.list.firstChild.remove();
  }

  /** Stay at the end, unless somebody has scrolled back to read. */
  follow(added = false) {
    const { scroll } = this;
    const away = scroll.scrollHeight - scroll.scrollTop - scroll.clientHeight;
    if (away < NEAR_END_PX + (added ? (this.list.lastChild?.offsetHeight ?? 0) : 0)) scroll.scrollTop = scroll.scrollHeight;
  }
}

const seconds = (ms) => `${(ms / 1000).toFixed(ms < 10_000 ? 2 : 0)} s`;

/** The parts of the wait before an answer, in ms: [name, class, ms]. */
export function parts(turn) {
  const start = turn.ended;
  const end = turn.played;
  if (start === undefined || end === undefined) return [];
  const within = (time, least) => Math.min(end, Math.max(least, time ?? least));
  const sure = within(turn.committed ?? turn.stopped, start);
  const words = within(turn.words, sure);
  return [
    ["sure you had finished", "wait", sure - start],
    ["words of the answer", "think", words - sure],
    ["sound on its way", "sound", end - words],
  ];
}

export function latencyText(turn) {
  const ms = turn.played - turn.ended;
  return Number.isFinite(ms) ? `Answered after ${seconds(Math.max(0, ms))}` : "";
}

export class Timeline {
  constructor(rows, shown = 12) {
    Object.assign(this, { rows, shown });
    this.turns = [];
  }

  add(turn) {
    if (!this.turns.includes(turn)) this.turns.unshift(turn);
    this.turns.length = Math.min(this.turns.length, this.shown);
    this.draw();
  }

  clear() {
    this.turns = [];
    this.draw();
  }

  draw() {
    if (!this.turns.length) {
      this.rows.replaceChildren(element("p", "hint", "Nothing was answered yet."));
      return;
    }
    const longest = Math.max(...this.turns.map((turn) => turn.played - turn.ended), 500);
    const list = element("ol", "rows");
    for (const turn of this.turns) list.append(this.row(turn, longest));
    this.rows.replaceChildren(list);
  }

  row(turn, longest) {
    const row = element("li", "row");
    const bar = element("span", "bar");
    bar.setAttribute("aria-hidden", "true");
    const told = [];
    for (const [name, kind, ms] of parts(turn)) {
      const part = element("i", kind);
      part.style.setProperty("--share", `${(100 * ms) / longest}%`);
      bar.append(part);
      told.push(`${name}: ${seconds(ms)}`);
    }
    row.append(element("span", "what", turn.text || "…"), element("span", "total", seconds(turn.played - turn.ended)), bar);
    if (turn.interrupted) row.append(element("span", "note", turn.interrupted === "button" ? "stopped" : "interrupted"));
    row.append(element("span", "hidden", told.join(", ")));
    row.title = told.join("\n");
    return row;
  }
}
