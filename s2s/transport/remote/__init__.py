"""This machine's microphone and loudspeaker, another machine's models: a client of the Realtime
protocol. Knows no model and no session."""
