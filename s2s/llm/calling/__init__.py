"""How the session's own tools are called for an answer: by the model, or by a choice."""
