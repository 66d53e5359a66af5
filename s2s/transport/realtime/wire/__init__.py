"""The Realtime protocol as it is written: models of every event, session and item."""
