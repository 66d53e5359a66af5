"""One conversation: five stages in their threads, joined by channels."""
