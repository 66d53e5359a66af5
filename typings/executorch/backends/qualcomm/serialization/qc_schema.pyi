"""Qualcomm's chips."""

from enum import IntEnum

class QcomChipset(IntEnum): ...
