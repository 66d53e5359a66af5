// Holds a conversation with @openai/agents-realtime over WebRTC; evaluated in a page that has its
// bundle. Returns what came of it, as an object: check -> "passes", or what was wrong.
async ({ url, through }) => {
  const { RealtimeAgent, RealtimeSession, OpenAIRealtimeWebRTC, tool } = window.OpenAIAgentsRealtime;
  const plain = window.fetch.bind(window);
  if (through)
    window.fetch = async (to, request) => {
      if (!String(to).includes("/realtime/calls")) return plain(to, request);
      const body = new FormData();
      for (const [name, value] of request.body.entries?.() ?? [["sdp", request.body]]) {
        const text = typeof value === "string" ? value : await value.text();
        body.set(name, name === "sdp" ? await window.offered(text) : text);
      }
      const headers = { ...request.headers };
      delete headers["Content-Type"];
      const answer = await plain(to, { ...request, headers, body });
      const sdp = await window.answered(await answer.text());
      return new Response(sdp, { status: answer.status, headers: answer.headers });
    };
  const weather = tool({
    name: "weather",
    description: "The weather.",
    parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"], additionalProperties: false },
    strict: true,
    execute: async ({ city }) => `sunny in ${city}`,
  });
  const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
  const held = async (check, tools = []) => {
    const audioElement = document.createElement("audio");
    const transport = new OpenAIRealtimeWebRTC({ baseUrl: url, useInsecureApiKey: true, audioElement });
    const agent = new RealtimeAgent({ name: "assistant", instructions: "Be brief.", tools });
    const session = new RealtimeSession(agent, { transport, tracingDisabled: true });
    const seen = { raw: [], events: [], history: [], errors: [] };
    session.on("transport_event", (event) => (seen.raw.push(event.type), seen.events.push(event)));
    session.on("history_updated", (history) => (seen.history = history));
    session.on("error", (error) => seen.errors.push(JSON.stringify(error.error ?? error)));
    seen.words = (role) =>
      seen.history.filter((item) => item.role === role).flatMap((item) => item.content).map((part) => part.transcript ?? part.text ?? "").join(" ");
    seen.until = async (what, condition) => {
      const end = Date.now() + 30000;
      while (!condition()) {
        if (Date.now() > end) throw new Error(`no ${what}: ${[...new Set(seen.raw)]} ${seen.errors} ${seen.words("assistant")}`);
        await pause(20);
      }
    };
    await session.connect({ apiKey: "none" });
    try {
      await check(session, seen, transport);
    } finally {
      session.close();
    }
    if (seen.errors.length) throw new Error(`errors: ${seen.errors}`);
  };
  const checks = {
    turn: () =>
      held(async (session, seen) => {
        session.sendMessage("hello");
        await seen.until("answer", () => seen.words("assistant").includes("You said hello."));
        await seen.until("end", () => seen.raw.includes("output_audio_buffer.stopped"));
      }),
    tool: () =>
      held(async (session, seen) => {
        session.sendMessage("weather please");
        await seen.until("answer", () => seen.words("assistant").includes("The tool says sunny in Paris"));
      }, [weather]),
    interruption: () =>
      held(async (session, seen) => {
        session.sendMessage("count");
        await seen.until("sound", () => seen.raw.includes("output_audio_buffer.started"));
        await pause(1500);
        session.interrupt();
        await seen.until("truncation", () => seen.raw.includes("conversation.item.truncated"));
        const cut = seen.events.find((event) => event.type === "conversation.item.truncated");
        const retrieved = () => seen.events.filter((event) => event.type === "conversation.item.retrieved" && event.item.id === cut.item_id).at(-1);
        await seen.until("retrieval", retrieved);
        const kept = retrieved().item.content[0].transcript.trim();
        const told = seen.events
          .filter((event) => event.type === "response.output_audio_transcript.delta" && event.item_id === cut.item_id && 1000 * event.start_time < cut.audio_end_ms)
          .map((event) => event.delta).join("").trim();
        if (!kept || !told.startsWith(kept) || told.length - kept.length > 20) throw new Error(`kept "${kept}" of "${told}"`);
        await seen.until("history", () => seen.words("assistant").trim() === kept);
      }),
    "hang-up": () =>
      held(async (session, seen, transport) => {
        const call = transport.callId;
        const answer = await plain(`${url}/${call}/hangup`, { method: "POST" });
        if (!answer.ok) throw new Error(`hang-up of ${call}: ${answer.status}`);
        await seen.until("end", () => transport.status === "disconnected");
      }),
  };
  const results = {};
  for (const [name, check] of Object.entries(checks))
    results[name] = await check().then(() => "passes", (error) => String(error.message ?? error));
  return results;
};
