// Drives @openai/agents-realtime over a WebSocket; run by Node where it is installed.
//
// node drive_agents_js.mjs BASE_URL RECORDING: prints a JSON object, check -> what came of it.

import fs from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

// The packages are where it is run, not where this file is.
const require = createRequire(path.join(process.cwd(), 'index.js'));
const load = (name) => import(pathToFileURL(require.resolve(name)).href);
const { RealtimeAgent, RealtimeSession, tool, OpenAIRealtimeWebSocket } = await load(
  '@openai/agents-realtime',
);
const { z } = await load('zod');

const [baseUrl, recordingPath] = process.argv.slice(2);
const url = `${baseUrl.replace('http', 'ws')}/realtime?model=local`;
const wav = fs.readFileSync(recordingPath);
const sound = Buffer.concat([wav.subarray(44), Buffer.alloc(48000)]);
const STEP = 4800;
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

async function held(check, tools = []) {
  const agent = new RealtimeAgent({ name: 'assistant', instructions: 'Be brief.', tools });
  const transport = new OpenAIRealtimeWebSocket({ url, useInsecureApiKey: true });
  const session = new RealtimeSession(agent, { transport, tracingDisabled: true });
  const seen = { raw: [], audio: 0, interrupted: 0, errors: [], history: [], tools: 0 };
  session.on('transport_event', (event) => seen.raw.push(event.type));
  session.on('audio', () => seen.audio++);
  session.on('audio_interrupted', () => seen.interrupted++);
  session.on('error', (error) => seen.errors.push(JSON.stringify(error.error ?? error)));
  session.on('history_updated', (history) => (seen.history = history));
  session.on('agent_tool_end', () => seen.tools++);
  seen.words = (role) =>
    seen.history
      .filter((item) => item.role === role)
      .flatMap((item) => item.content)
      .map((part) => part.transcript ?? part.text ?? '')
      .join(' ');
  seen.done = () => seen.raw.filter((kind) => kind === 'response.done').length;
  seen.until = async (what, condition) => {
    const end = Date.now() + 20000;
    while (!condition()) {
      if (Date.now() > end)
        throw new Error(`no ${what}: ${[...new Set(seen.raw)]} ${seen.errors} ${seen.words('assistant')}`);
      await pause(20);
    }
  };
  await session.connect({ apiKey: 'none' });
  try {
    await check(session, seen);
  } finally {
    session.close();
  }
  if (seen.errors.length) throw new Error(`errors: ${seen.errors}`);
}

async function say(session) {
  for (let start = 0; start < sound.length; start += STEP) {
    const piece = sound.subarray(start, start + STEP);
    try {
      session.sendAudio(piece.buffer.slice(piece.byteOffset, piece.byteOffset + piece.length));
    } catch {
      return; // it was closed
    }
    await pause(100);
  }
}

const textTurn = () =>
  held(async (session, seen) => {
    session.sendMessage('hello');
    await seen.until('answer', () => seen.words('assistant').includes('You said hello.'));
    await seen.until('audio', () => seen.audio > 0 && seen.done());
  });

const audioTurn = () =>
  held(async (session, seen) => {
    say(session);
    await seen.until('answer', () => seen.words('assistant').includes('You said what time is it.'));
    await seen.until('question', () => seen.words('user').includes('what time is it'));
    await seen.until('retrieve', () => seen.raw.includes('conversation.item.retrieved'));
  });

const weather = tool({
  name: 'weather',
  description: 'The weather.',
  parameters: z.object({ city: z.string() }),
  execute: async ({ city }) => `sunny in ${city}`,
});

const tools = () =>
  held(
    async (session, seen) => {
      session.sendMessage('twice please');
      await seen.until('tools', () => seen.tools === 2);
      await seen.until('answer', () => seen.words('assistant').includes('The tool says sunny'));
    },
    [weather],
  );

const interruption = () =>
  held(async (session, seen) => {
    session.sendMessage('count');
    await seen.until('audio', () => seen.audio > 0);
    say(session);
    await seen.until('interruption', () => seen.interrupted > 0);
    await seen.until('truncation', () => seen.raw.includes('conversation.item.truncated'));
    await seen.until('new answer', () => seen.done() >= 2);
  });

const button = () =>
  held(async (session, seen) => {
    session.sendMessage('count');
    await seen.until('audio', () => seen.audio > 0);
    session.interrupt();
    await seen.until('done', () => seen.done() >= 1);
    session.sendMessage('hello');
    await seen.until('answer', () => seen.words('assistant').includes('You said hello.'));
  });

const history = () =>
  held(async (session, seen) => {
    session.sendMessage('hello');
    await seen.until('answer', () => seen.done() && seen.words('assistant').includes('hello.'));
    const before = session.history.length;
    session.updateHistory((items) => items.filter((item) => item.role !== 'assistant'));
    await seen.until('deletion', () => seen.raw.includes('conversation.item.deleted'));
    if (before < 2) throw new Error(`only ${before} items`);
  });

const reconnect = async () => {
  await textTurn();
  await textTurn();
};

const checks = {
  'text turn': textTurn,
  'audio turn': audioTurn,
  tools,
  'interruption, truncate, retrieve': interruption,
  'interruption by button': button,
  'history: delete': history,
  reconnect,
};
const results = {};
for (const [name, check] of Object.entries(checks)) {
  try {
    await check();
    results[name] = 'passes';
  } catch (error) {
    results[name] = String(error).slice(0, 500);
  }
}
console.log(JSON.stringify(results));
process.exit(0);
