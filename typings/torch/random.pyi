"""What s2s uses of torch.random."""

from contextlib import AbstractContextManager

def fork_rng(devices: list[int]) -> AbstractContextManager[None]: ...
