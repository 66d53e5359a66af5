"""What s2s uses of torchao.quantization."""

from collections.abc import Callable

from torch import dtype
from torch.nn import Module

from .granularity import PerAxis, PerGroup

class Int8DynamicActivationIntxWeightConfig:
    def __init__(self, *, weight_dtype: dtype, weight_granularity: PerAxis | PerGroup) -> None: ...

def quantize_(
    module: Module,
    config: Int8DynamicActivationIntxWeightConfig,
    filter_fn: Callable[[Module, str], bool],
) -> None: ...
