import pytest

from warehouse.core.formats.images import image_format, is_image


@pytest.mark.parametrize(
    ("data", "mime", "for_models"),
    [
        (b"\xff\xd8\xff\xe0", "image/jpeg", True),
        (b"\x89PNG\r\n\x1a\n", "image/png", True),
        (b"\x89PNG\n\x1a\n", "image/png", True),
        (b"GIF87a", "image/gif", True),
        (b"RIFF\x10\0\0\0WEBPVP8 ", "image/webp", True),
        (b"II*\0", "image/tiff", False),
        (b"MM\0*", "image/tiff", False),
    ],
)
def test_images_are_recognised_by_their_first_bytes(data, mime, for_models):
    kind = image_format(data)
    assert (kind.mime, kind.for_models) == (mime, for_models)
    assert is_image(data)


@pytest.mark.parametrize("data", [b"", b"{}", b"RIFF\x10\0\0\0WAVEfmt ", b"\xff\xd8", b"<svg/>"])
def test_other_data_is_not_an_image(data):
    assert image_format(data) is None
