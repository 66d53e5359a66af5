class ModelDimensions:
    n_mels: int

class Whisper:
    dims: ModelDimensions
    @property
    def is_multilingual(self) -> bool: ...
