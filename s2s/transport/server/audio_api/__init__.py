"""The HTTP endpoints of the OpenAI API that this server has: speech, transcriptions, texts."""
