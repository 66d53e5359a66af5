"""WebRTC: calls of browsers and phones, which reach the same sessions as sockets do."""
