"""Images in the form that providers accept."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from runners.providers.base import Image, Request


def data_url(image: Image) -> str:
    """Return an image as a `data:` URL."""
    return f"data:{image.mime};base64,{base64.b64encode(image.data).decode()}"


def chat_content(request: Request) -> str | list[dict[str, object]]:
    """Return the content of a chat message: the prompt, or a list of parts if it has images."""
    if not request.images:
        return request.prompt
    parts: list[dict[str, object]] = [{"type": "text", "text": request.prompt}]
    parts += ({"type": "image_url", "image_url": {"url": data_url(i)}} for i in request.images)
    return parts
