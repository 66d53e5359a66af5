"""Opens the model of voice activity that a configuration names."""

from __future__ import annotations

from s2s.models.store import Store
from s2s.turns import torch_vad
from s2s.turns.base import VadModel
from s2s.turns.torch_vad import TorchSileroVad
from s2s.turns.vad import SileroVad


def open_vad(name: str, store: Store) -> VadModel:
    """Voice activity by a file of the store or a path, or by the package on torch.

    Raises:
        StoreError: there is no such file.
        TorchVadError: the package is not installed.
    """
    return TorchSileroVad() if name == torch_vad.NAME else SileroVad(store.path(name))
