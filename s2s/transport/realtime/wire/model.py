"""What all models at the wire share: no unknown names, no types converted, absent stays absent."""

from __future__ import annotations

from functools import cache
from typing import Literal, get_args, get_origin

from pydantic import BaseModel, ConfigDict


class WireModel(BaseModel):
    """A JSON object of the protocol.

    A field that was not given is not written: `null` and "absent" mean different things to clients.
    """

    model_config = ConfigDict(extra="forbid", strict=True)

    def model_post_init(self, context: object, /) -> None:
        """The constants of an object, such as its type, are always written."""
        self.model_fields_set.update(_constants(type(self)))

    def written(self) -> dict[str, object]:
        """As plain JSON values: what was given, constants, and nothing else."""
        return self.model_dump(exclude_unset=True)


class ServerEventModel(WireModel):
    """An event that a server sends."""

    event_id: str = ""
    """Given as it is sent."""


@cache
def _constants(model: type[BaseModel]) -> tuple[str, ...]:
    """The fields of `model` that can have one value alone; looked for once, not for each event."""
    found: list[str] = []
    for name, field in model.model_fields.items():
        annotation: object = field.annotation
        if get_origin(annotation) is Literal and get_args(annotation) == (field.default,):
            found.append(name)
    return tuple(found)
