"""What all models at the wire share: no unknown names, no types converted, absent stays absent."""

from __future__ import annotations

from typing import Literal, get_args, get_origin

from pydantic import BaseModel, ConfigDict


class WireModel(BaseModel):
    """A JSON object of the protocol.

    A field that was not given is not written: `null` and "absent" mean different things to clients.
    """

    model_config = ConfigDict(extra="forbid", strict=True)

    def model_post_init(self, context: object, /) -> None:
        """The constants of an object, such as its type, are always written."""
        for name, field in type(self).model_fields.items():
            annotation: object = field.annotation
            if get_origin(annotation) is Literal and get_args(annotation) == (field.default,):
                self.model_fields_set.add(name)

    def written(self) -> dict[str, object]:
        """As plain JSON values: what was given, constants, and nothing else."""
        return self.model_dump(exclude_unset=True)
