// Talks with @openai/agents-realtime over WebRTC, by the page's microphone; evaluated in a page that has
// its bundle. Says what came of it as an object: check -> "passes", or what was wrong.
async ({ url, said, patienceMs }) => {
  const { RealtimeAgent, RealtimeSession, OpenAIRealtimeWebRTC } = window.OpenAIAgentsRealtime;
  const plain = window.fetch.bind(window);
  const token = `agents-js-${Date.now()}`;
  window.fetch = (to, request) => {
    const ours = String(to).includes("/realtime/calls");
    return plain(to, ours ? { ...request, headers: { ...request.headers, "X-S2S-Resume": token } } : request);
  };
  const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
  const call = async () => {
    const audioElement = document.createElement("audio");
    const transport = new OpenAIRealtimeWebRTC({ baseUrl: url, useInsecureApiKey: true, audioElement });
    const agent = new RealtimeAgent({ name: "assistant", instructions: "Answer at length." });
    const session = new RealtimeSession(agent, { transport, tracingDisabled: true });
    const seen = { session, transport, events: [], history: [], errors: [] };
    session.on("transport_event", (event) => seen.events.push({ ...event, at: performance.now() }));
    session.on("history_updated", (history) => (seen.history = history));
    session.on("error", (error) => seen.errors.push(JSON.stringify(error.error ?? error)));
    seen.of = (type) => seen.events.filter((event) => event.type === type);
    seen.text = (id) =>
      (seen.history.find((item) => item.itemId === id)?.content ?? []).map((part) => part.transcript ?? part.text ?? "").join(" ").trim();
    seen.until = async (what, condition) => {
      const end = Date.now() + patienceMs;
      for (;;) {
        const found = condition();
        if (found) return found;
        if (Date.now() > end) throw new Error(`no ${what}: ${[...new Set(seen.events.map(({ type }) => type))]} ${seen.errors}`);
        await pause(20);
      }
    };
    await session.connect({ apiKey: "none" });
    return seen;
  };
  const words = (text) => text.toLowerCase().match(/[a-z']+/g) ?? [];
  const results = {};
  const check = async (name, held) => {
    results[name] = await held().then(() => "passes", (error) => String(error.message ?? error));
  };
  const first = await call();
  const kept = {};

  await check("turn", async () => {
    const heard = await first.until("words", () => first.of("conversation.item.input_audio_transcription.completed")[0]);
    const found = words(heard.transcript);
    const share = said.filter((word) => found.includes(word)).length / said.length;
    if (share < 0.7) throw new Error(`heard "${heard.transcript}"`);
    await first.until("history", () => first.text(heard.item_id) === heard.transcript.trim());
    kept.spoken = heard;
    await first.until("sound", () => first.of("output_audio_buffer.started").length);
  });

  await check("interruption", async () => {
    // The sentence comes again and again: one of its times is while an answer is heard.
    const interrupted = () =>
      first.of("conversation.item.truncated").find((event) => event.audio_end_ms > 300);
    const cut = await first.until("interruption by speech", interrupted);
    const before = first.events.slice(0, first.events.indexOf(first.events.find((each) => each === cut)));
    const kinds = before.map(({ type }) => type);
    const speech = kinds.lastIndexOf("input_audio_buffer.speech_started");
    const cleared = kinds.lastIndexOf("output_audio_buffer.cleared");
    if (speech < 0 || cleared < speech) throw new Error(`not by speech: ${kinds.slice(-12)}`);
    const late = before[cleared].at - before[speech].at;
    if (late > 60) throw new Error(`cleared ${late} ms behind the speech`);
    const retrieved = () =>
      first.of("conversation.item.retrieved").filter((event) => event.item.id === cut.item_id && first.events.indexOf(event) > kinds.length).at(-1);
    const item = (await first.until("retrieval", retrieved)).item;
    const held = item.content[0].transcript.trim();
    const begun = first
      .of("response.output_audio_transcript.delta")
      .filter((event) => event.item_id === cut.item_id && 1000 * event.start_time < cut.audio_end_ms)
      .map((event) => event.delta).join("").trim().split(/\s+/);
    const heard = held.split(/\s+/);
    const same = heard.every((word, index) => word === begun[index]);
    if (!held || !same || begun.length - heard.length > 1) throw new Error(`kept "${held}" of "${begun.join(" ")}"`);
    await first.until("history to the word", () => first.text(cut.item_id) === held);
    kept.cut = item;
  });

  await check("reconnection", async () => {
    const created = first.of("session.created")[0].session.id;
    first.transport.connectionState.peerConnection.close(); // as a network that is gone: nothing is told
    const second = await call();
    try {
      const again = await second.until("session", () => second.of("session.created")[0]);
      if (again.session.id !== created) throw new Error(`${again.session.id} after ${created}`);
      for (const [id, text] of [[kept.spoken.item_id, kept.spoken.transcript], [kept.cut.id, kept.cut.content[0].transcript]]) {
        second.transport.sendEvent({ type: "conversation.item.retrieve", item_id: id });
        const { item } = await second.until("item", () => second.of("conversation.item.retrieved").find((event) => event.item.id === id));
        if (item.content[0].transcript !== text) throw new Error(`"${item.content[0].transcript}" for "${text}"`);
      }
      const answers = second.of("output_audio_buffer.started").length;
      second.session.sendMessage("Say hello.");
      await second.until("answer", () => second.of("output_audio_buffer.started").length > answers);
    } finally {
      second.session.close();
    }
  });
  return results;
};
