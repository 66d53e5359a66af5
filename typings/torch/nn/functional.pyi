"""What s2s uses of torch.nn.functional."""

from torch import Tensor

def gelu(x: Tensor) -> Tensor: ...
