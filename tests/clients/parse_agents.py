"""Reads texts of a server's events, a line each, as strictly as openai-agents does: prints what it
refuses.

python parse_agents.py FILE
"""

import json
import sys

from agents.realtime.openai_realtime import get_server_event_type_adapter

adapter = get_server_event_type_adapter()
refused = []
read = 0
with open(sys.argv[1], encoding="utf-8") as lines:
    for line in lines:
        event = json.loads(line)
        if event.get("previous_item_id", "") is None:
            event["previous_item_id"] = ""  # as it does itself
        try:
            adapter.validate_python(event)
            read += 1
        except Exception as error:
            refused.append(f"{event['type']}: {error}"[:600])
print(json.dumps({"read": read, "refused": refused}))
