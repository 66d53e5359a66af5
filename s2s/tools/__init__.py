"""Tools: Python functions and servers of tools that a language model may call, and their running.

`@tool` makes one of a function; docs/tools.md.
"""

from s2s.tools.tool import Tool, ToolContext, ToolError, tool

__all__ = ["Tool", "ToolContext", "ToolError", "tool"]
