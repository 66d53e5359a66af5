from mlx.core import Dtype
from mlx_whisper.whisper import Whisper

def load_model(path_or_hf_repo: str, dtype: Dtype = ...) -> Whisper: ...
