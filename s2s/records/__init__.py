"""Records of conversations: written while they go on, read again, shown, and held again.

A record is a folder (`s2s.records.files`): what was heard of both voices on one clock, what the
session told, what its models were asked and gave, and its settings.
"""
