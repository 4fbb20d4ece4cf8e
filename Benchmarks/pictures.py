"""JPEGs that look like coloured noise: the same ones in each run, in the size and with the detail of photos."""

import random
import struct

WIDTH, HEIGHT = 1600, 1200
# Each code of a table has the same length, so a code is the place of its symbol.
DC_SYMBOLS, DC_LENGTH = list(range(8)), 4
AC_SYMBOLS, AC_LENGTH = [0x00] + [run << 4 | size for run in range(5) for size in range(1, 6)], 5
END_OF_BLOCK = format(0, f"0{AC_LENGTH}b")


def make(seed):
    """Returns a baseline JPEG of about 500 KB, in 4:2:0 (ITU T.81, annexes B and F)."""
    chance = random.Random(seed)
    # Choosing from ready pieces is much faster than making each.
    pieces = [minimum_coded_units(chance) for _ in range(64)]
    count = (WIDTH // 16) * (HEIGHT // 16) // 2
    bits = "".join(chance.choices(pieces, k=count))
    bits += "1" * (-len(bits) % 8)
    coded = int(bits, 2).to_bytes(len(bits) // 8, "big").replace(b"\xff", b"\xff\x00")
    return header() + coded + b"\xff\xd9"


def minimum_coded_units(chance):
    """The bits of two minimum coded units, whose changes of the mean brightness and colours add up to zero."""
    colours = [chance.randint(-60, 60), chance.randint(-60, 60)]
    bits = ""
    for sign in (1, -1):
        for _ in range(2):
            step = chance.randint(-120, 120)
            bits += block(chance, step, 14) + block(chance, -step, 14)
        for step in colours:
            bits += block(chance, sign * step, 4)
    return bits


def block(chance, step, coefficients):
    size = abs(step).bit_length()
    bits = format(size, f"0{DC_LENGTH}b") + amplitude(step, size)
    place = 0
    for _ in range(chance.randint(coefficients // 2, coefficients * 3 // 2)):
        run = chance.choices(range(5), weights=(12, 5, 3, 2, 1))[0]
        size = chance.choices(range(1, 6), weights=(10, 6, 3, 2, 1))[0]
        place += run + 1
        if place >= 63:
            break
        bits += format(AC_SYMBOLS.index(run << 4 | size), f"0{AC_LENGTH}b") + format(chance.getrandbits(size), f"0{size}b")
    return bits + END_OF_BLOCK


def amplitude(value, size):
    return format(value if value > 0 else value + (1 << size) - 1, f"0{size}b") if size else ""


def header():
    quantization = bytes(min(255, 3 + place) for place in range(64))
    components = b"".join(bytes(each) for each in ((1, 0x22, 0), (2, 0x11, 0), (3, 0x11, 0)))
    return b"\xff\xd8" + b"".join([
        segment(0xE0, b"JFIF\0" + struct.pack(">HBHHBB", 0x0102, 0, 1, 1, 0, 0)),
        segment(0xDB, b"\0" + quantization),
        segment(0xC0, struct.pack(">BHHB", 8, HEIGHT, WIDTH, 3) + components),
        segment(0xC4, table(0x00, DC_SYMBOLS, DC_LENGTH)),
        segment(0xC4, table(0x10, AC_SYMBOLS, AC_LENGTH)),
        segment(0xDA, bytes((3, 1, 0, 2, 0, 3, 0, 0, 63, 0)))])


def segment(marker, content):
    return bytes((0xFF, marker)) + struct.pack(">H", len(content) + 2) + content


def table(kind, symbols, length):
    counts = [len(symbols) if each == length else 0 for each in range(1, 17)]
    return bytes((kind, *counts, *symbols))
