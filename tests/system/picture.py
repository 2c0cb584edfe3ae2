"""Pictures that tests look at: PNG files as arrays."""
import struct
import zlib

import numpy


def read_png(path):
    """An 8-bit RGB PNG as height x width x 3."""
    raw = path.read_bytes()
    assert raw[:8] == b"\x89PNG\r\n\x1a\n", path
    at, data, shape = 8, b"", None
    while at < len(raw):
        length, kind = struct.unpack(">I4s", raw[at:at + 8])
        body = raw[at + 8:at + 8 + length]
        if kind == b"IHDR":
            width, height, depth, colour = struct.unpack(">IIBB", body[:10])
            assert depth == 8 and colour in (2, 6), (depth, colour)
            shape = (height, width, 3 if colour == 2 else 4)
        elif kind == b"IDAT":
            data += body
        at += 12 + length
    height, width, channels = shape
    lines = numpy.frombuffer(zlib.decompress(data), dtype=numpy.uint8).reshape(height, 1 + width * channels)
    image = numpy.zeros((height, width * channels), dtype=numpy.uint8)
    for y in range(height):
        image[y] = unfilter(int(lines[y, 0]), lines[y, 1:], image[y - 1] if y else numpy.zeros_like(image[0]), channels)
    return image.reshape(shape)[:, :, :3]


def unfilter(kind, line, above, step):
    line, above = line.astype(int), above.astype(int)
    if kind == 0:
        return line
    if kind == 1:
        return (numpy.cumsum(line.reshape(-1, step), axis=0) % 256).reshape(-1)
    if kind == 2:
        return (line + above) % 256
    out, over = [0] * step + line.tolist(), [0] * step + above.tolist()  # plain numbers: many times as quick
    for x in range(step, len(out)):
        left, up = out[x - step], over[x]
        if kind == 3:
            guess = (left + up) // 2
        else:
            corner = over[x - step]
            to_left, to_up, to_corner = abs(up - corner), abs(left - corner), abs(left + up - 2 * corner)
            guess = left if to_left <= to_up and to_left <= to_corner else up if to_up <= to_corner else corner
        out[x] = (out[x] + guess) & 255
    return numpy.array(out[step:])


def colours(pixels):
    return len(numpy.unique(pixels.reshape(-1, 3), axis=0))
