"""Reads texts of a server's events, a line each, with pipecat's models: prints what they refuse.

python parse_pipecat.py FILE
"""

import json
import sys

from loguru import logger

logger.remove()

from pipecat.services.openai.realtime import events

refused = []
read = 0
with open(sys.argv[1], encoding="utf-8") as lines:
    for line in lines:
        try:
            read += events.parse_server_event(line) is not None
        except Exception as error:
            refused.append(f"{json.loads(line)['type']}: {error}"[:600])
print(json.dumps({"read": read, "refused": refused}))
