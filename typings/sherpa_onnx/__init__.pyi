"""What s2s uses of sherpa-onnx, whose own sources have no complete types."""

from s2s.core.audio import Block

class OnlineStream:
    def accept_waveform(self, sample_rate: float, waveform: Block) -> None: ...
    def input_finished(self) -> None: ...

class OnlineRecognizer:
    @classmethod
    def from_transducer(
        cls,
        tokens: str,
        encoder: str,
        decoder: str,
        joiner: str,
        num_threads: int = 2,
        *,
        provider: str = "cpu",
        decoding_method: str = "greedy_search",
        hotwords_score: float = 1.5,
        modeling_unit: str = "cjkchar",
        bpe_vocab: str = "",
    ) -> OnlineRecognizer: ...
    @classmethod
    def from_paraformer(
        cls, tokens: str, encoder: str, decoder: str, num_threads: int = 2, *, provider: str = "cpu"
    ) -> OnlineRecognizer: ...
    @classmethod
    def from_zipformer2_ctc(
        cls, tokens: str, model: str, num_threads: int = 2, *, provider: str = "cpu"
    ) -> OnlineRecognizer: ...
    @classmethod
    def from_nemo_ctc(
        cls, tokens: str, model: str, num_threads: int = 2, *, provider: str = "cpu"
    ) -> OnlineRecognizer: ...
    @classmethod
    def from_wenet_ctc(
        cls, tokens: str, model: str, num_threads: int = 2, *, provider: str = "cpu"
    ) -> OnlineRecognizer: ...
    @classmethod
    def from_t_one_ctc(
        cls, tokens: str, model: str, num_threads: int = 2, *, provider: str = "cpu"
    ) -> OnlineRecognizer: ...
    def create_stream(self, hotwords: str | None = None) -> OnlineStream: ...
    def is_ready(self, s: OnlineStream) -> bool: ...
    def decode_stream(self, s: OnlineStream) -> None: ...
    def get_result(self, s: OnlineStream) -> str: ...
    def tokens(self, s: OnlineStream) -> list[str]: ...
    def timestamps(self, s: OnlineStream) -> list[float]: ...
