"""Servers of tools that speak the Model Context Protocol, by its official package."""
