"""The program: command line, conversation, commands and what they show."""
