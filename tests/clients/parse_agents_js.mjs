// Reads texts of a server's events, a line each, with agents-JS' schemas: prints what they refuse.
//
// node parse_agents_js.mjs FILE

import fs from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

const require = createRequire(path.join(process.cwd(), 'index.js'));
const entry = require.resolve('@openai/agents-realtime');
const folder = path.dirname(entry);
const find = (name) => import(pathToFileURL(path.join(folder, name)).href);
const { parseRealtimeEvent } = await find('openaiRealtimeEvents.mjs');

const refused = [];
let read = 0;
for (const line of fs.readFileSync(process.argv[2], 'utf8').split('\n').filter(Boolean)) {
  const type = JSON.parse(line).type;
  const { data, isGeneric } = parseRealtimeEvent({ data: line });
  if (data && !isGeneric) read++;
  else refused.push(type);
}
console.log(JSON.stringify({ read, refused }));
