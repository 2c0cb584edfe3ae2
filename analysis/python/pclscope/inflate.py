"""Decompresses chunks: by libdeflate where the system has it (two thirds of the time), else by Python's zlib."""
from __future__ import annotations

import ctypes
import threading
import zlib

import numpy


def _libdeflate() -> ctypes.CDLL | None:
    try:
        library = ctypes.CDLL("libdeflate.so.0")
        library.libdeflate_alloc_decompressor.restype = ctypes.c_void_p
        library.libdeflate_free_decompressor.argtypes = [ctypes.c_void_p]
        library.libdeflate_zlib_decompress.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t,
                                                       ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p]
        return library
    except (OSError, AttributeError):
        return None


LIBRARY = _libdeflate()


class _OfThread(threading.local):
    """Each thread has a decompressor of its own."""

    def __init__(self) -> None:
        self.decompressor = LIBRARY.libdeflate_alloc_decompressor() if LIBRARY is not None else None

    def __del__(self) -> None:
        if LIBRARY is not None and self.decompressor:
            LIBRARY.libdeflate_free_decompressor(self.decompressor)


_mine = _OfThread()


def inflate(packed: bytes, size: int) -> numpy.ndarray:
    """Exactly `size` bytes; ValueError where it is another number, or damaged."""
    if LIBRARY is None or not _mine.decompressor:
        try:
            raw = zlib.decompressobj().decompress(packed, size + 1)
        except zlib.error as error:
            raise ValueError(str(error)) from None
        if len(raw) != size:
            raise ValueError("a chunk is not as long as it should be")
        return numpy.frombuffer(raw, numpy.uint8)
    raw = numpy.empty(size, numpy.uint8)
    if LIBRARY.libdeflate_zlib_decompress(_mine.decompressor, packed, len(packed), raw.ctypes.data, size, None) != 0:
        raise ValueError("a chunk is damaged, or not as long as it should be")
    return raw
