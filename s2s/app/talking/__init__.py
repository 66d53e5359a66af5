"""A conversation at this machine: what opens it, what is shown of it, the keys that steer it."""
