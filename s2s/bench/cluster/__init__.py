"""The server as several processes, on one machine and on models that cost nothing: what the way
through the engine adds, and what is left of conversations when a process ends
"""
