"""The answers of tests/programs on paper: which messages each program sends.

A table is {(source, destination, tag, bytes): number of messages}. See the head of each program for the reasoning.
"""
import itertools


def add(table, source, destination, tag, size, count=1):
    if count:
        key = (source, destination, tag, size)
        table[key] = table.get(key, 0) + count


def rings(table, members, tag, size, count):
    """Everybody sends to the next member, the last to the first."""
    for i, member in enumerate(members):
        add(table, member, members[(i + 1) % len(members)], tag, size, count)


def ring(n, rounds, size=64):
    table = {}
    rings(table, range(n), 7, size, rounds)
    return table


def halo2d(grid, iterations, face=32):
    px, py = grid
    table = {}
    for x, y in itertools.product(range(px), range(py)):
        for direction, (dx, dy) in enumerate([(-1, 0), (1, 0), (0, -1), (0, 1)]):
            if 0 <= x + dx < px and 0 <= y + dy < py:
                add(table, x * py + y, (x + dx) * py + y + dy, direction, 8 * face, iterations)
    return table


def halo3d(grid, iterations, face=64):
    table = {}
    rank = lambda at: (at[0] * grid[1] + at[1]) * grid[2] + at[2]
    for at in itertools.product(*map(range, grid)):
        for dimension, step in itertools.product(range(3), (0, 1)):
            to = list(at)
            to[dimension] = (to[dimension] + (1 if step else -1)) % grid[dimension]
            add(table, rank(at), rank(to), 2 * dimension + step, 8 * face, iterations)
    return table


def cg_grid(n):
    rows = 1
    while rows * rows * 4 <= n:
        rows *= 2
    return rows, n // rows


def cg_pattern(n, iterations, size=1024):
    nprows, npcols = cg_grid(n)
    table = {}
    for me in range(n):
        row, col = divmod(me, npcols)
        if npcols == nprows:
            transpose = me % nprows * nprows + me // nprows
        else:
            transpose = 2 * (me // 2 % nprows * nprows + me // 2 // nprows) + me % 2
        add(table, me, transpose, 2, size, iterations)
        d = npcols
        while d >= 2:
            partner = row * npcols + (col + d // 2) % d + col // d * d
            add(table, me, partner, 1, size, iterations)
            add(table, me, partner, 3, 8, 2 * iterations)
            d //= 2
    return table


def pairs(n, messages):
    """late_sender, late_receiver"""
    table = {}
    for even in range(0, n, 2):
        add(table, even, even + 1, 1, 64, messages)
    return table


def persistent_halo(n, iterations, face=16):
    table = {}
    for rank in range(n):
        add(table, rank, (rank - 1) % n, 0, 8 * face, iterations)
        add(table, rank, (rank + 1) % n, 1, 8 * face, iterations)
    return table


def cancel_and_free(n, rounds):
    table = {}
    for even in range(0, n, 2):
        add(table, even, even + 1, 1, 8, 3 * rounds)
        add(table, even, even + 1, 2, 8, rounds)
        add(table, even, even + 1, 3, 8, rounds)
        add(table, even + 1, even, 5, 8, rounds)
    return table


def intercomm(n, rounds, size=128):
    even, odd = list(range(0, n, 2)), list(range(1, n, 2))
    table = {}
    for e, o in itertools.product(even, odd):
        add(table, e, o, 11, size, rounds)
        add(table, o, e, 12, size, rounds)
    rings(table, even + odd, 13, 8, 1)
    return table


def intercomm_communicators(n):
    """[(tags, members)]: one entry per communicator that carries messages."""
    return [({11, 12}, set(range(n))), ({13}, set(range(n)))]


def subcomms_members(n):
    """{tag: members of each communicator that carries this tag, in rank order}; tag 11 is made anew every round."""
    everybody, even, odd = list(range(n)), list(range(0, n, 2))[::-1], list(range(1, n, 2))[::-1]
    half = (n + 1) // 2
    members = {1: [everybody], 2: [everybody], 3: [even, odd], 4: [even, odd], 5: [everybody[::3]],
               6: [everybody[:half]], 7: [everybody[half:]], 8: [everybody], 9: [[rank] for rank in everybody],
               11: [everybody], 12: [everybody]}
    if n % 2 == 0:
        members[10] = [[rank, rank + 1] for rank in range(0, n, 2)]
    return {tag: [group for group in groups if group] for tag, groups in members.items()}


def subcomms(n, rounds):
    table = {}
    for tag, groups in subcomms_members(n).items():
        for group in groups:
            rings(table, group, tag, 8, rounds)
    return table


def crash(n, messages):
    table = {}
    rings(table, range(n), 1, 64, messages)
    return table


def objects_count(n, rounds):
    return 2 * n * rounds


def total(table):
    return sum(table.values())


def total_bytes(table):
    return sum(key[3] * count for key, count in table.items())
