from mlx.core import array

from s2s.core.audio import Block

N_FRAMES: int

def log_mel_spectrogram(audio: Block, n_mels: int = 80, padding: int = 0) -> array: ...
def pad_or_trim(array: array, length: int = ..., *, axis: int = -1) -> array: ...
