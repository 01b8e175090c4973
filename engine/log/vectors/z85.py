"""Z85: bytes as text of 85 characters, five of them for every four bytes.

Source: ZeroMQ RFC 32; Delta's Codec.Base85Codec.
"""

from __future__ import annotations

_ALPHABET = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#"
_DIGITS = {character: digit for digit, character in enumerate(_ALPHABET)}
_POWERS = (85**4, 85**3, 85**2, 85, 1)


def encode(content: bytes) -> str:
    """The text of some bytes. Raises `ValueError` unless they come in fours."""
    if len(content) % 4:
        raise ValueError("the length of the bytes is not a multiple of 4")
    words = (int.from_bytes(content[at : at + 4]) for at in range(0, len(content), 4))
    return "".join(_ALPHABET[word // power % 85] for word in words for power in _POWERS)


def decode(text: str) -> bytes:
    """The bytes of some text. Raises `ValueError` for what is no Z85."""
    if len(text) % 5:
        raise ValueError("the length of the text is not a multiple of 5")
    return b"".join(_word(text[at : at + 5]) for at in range(0, len(text), 5))


def _word(five: str) -> bytes:
    try:
        number = sum(_DIGITS[c] * power for c, power in zip(five, _POWERS, strict=True))
        return number.to_bytes(4)
    except (KeyError, OverflowError) as error:
        raise ValueError(f"{five!r} is not Z85") from error
