"""Pictures as providers take them."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from runners.providers.base import Image


def data_url(image: Image) -> str:
    """Give a picture as a `data:` URL."""
    return f"data:{image.mime};base64,{base64.b64encode(image.data).decode()}"
