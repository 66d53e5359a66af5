"""Of its settings, that a free size may be one."""

from contextlib import AbstractContextManager

def patch(*, backed_size_oblivious: bool) -> AbstractContextManager[None]: ...
