"""The compiled kernel of s2s: a shared library beside this file, which `s2s` loads."""
