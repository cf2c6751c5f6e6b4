"""Images, recognised by their first bytes, not by their name or content type."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ImageFormat:
    r"""A kind of image.

    Attributes:
        mime: its type, such as `image/jpeg`.
        suffix: usual suffix of its files, without the dot.
        start: the first bytes; for PNG without the `\r\n`, which transfers as text change.
        for_models: whether vision models read it.
    """

    mime: str
    suffix: str
    start: bytes
    for_models: bool = True


IMAGE_FORMATS = (
    ImageFormat("image/jpeg", "jpg", b"\xff\xd8\xff"),
    ImageFormat("image/png", "png", b"\x89PNG"),
    ImageFormat("image/gif", "gif", b"GIF8"),
    ImageFormat("image/webp", "webp", b"RIFF"),
    ImageFormat("image/tiff", "tif", b"II*\0", for_models=False),
    ImageFormat("image/tiff", "tif", b"MM\0*", for_models=False),
)


def image_format(data: bytes) -> ImageFormat | None:
    """Return the format of an image; None if the data is not an image of a known format."""
    for kind in IMAGE_FORMATS:
        # Audio and video files start with RIFF as well.
        if data.startswith(kind.start) and (kind.suffix != "webp" or data[8:12] == b"WEBP"):
            return kind
    return None


def is_image(data: bytes) -> bool:
    """Return whether the data is an image of a known format."""
    return image_format(data) is not None
