"""Who talks with whom in a family, and where the ranks sit: small graphs, searched by hill climbing with restarts."""


def dims(ranks, dimensions):
    """Extents of a grid, as equal as can be, largest first."""
    extents = [1] * dimensions
    factor, left = 2, ranks
    factors = []
    while left > 1:
        while left % factor == 0:
            factors.append(factor)
            left //= factor
        factor += 1
    for f in sorted(factors, reverse=True):
        extents[extents.index(min(extents))] *= f
    return sorted(extents, reverse=True)


def halo(ranks, dimensions, periodic=False):
    """Edges (a, b), a != b, each once, between neighbours of a grid of `ranks` cells."""
    extents = dims(ranks, dimensions)
    edges = set()
    for cell in range(ranks):
        at, left = [], cell
        for extent in reversed(extents):
            at.insert(0, left % extent)
            left //= extent
        for d, extent in enumerate(extents):
            if at[d] + 1 == extent and not periodic:
                continue
            to = list(at)
            to[d] = (at[d] + 1) % extent
            other = 0
            for coordinate, e in zip(to, extents):
                other = other * e + coordinate
            if other != cell:
                edges.add((min(cell, other), max(cell, other)))
    return sorted(edges)


def sparse(rng, ranks, degree):
    """A random connected graph: a random path and some edges more."""
    order = list(range(ranks))
    rng.shuffle(order)
    edges = {tuple(sorted(pair)) for pair in zip(order, order[1:])}
    while len(edges) < min(ranks * degree // 2, ranks * (ranks - 1) // 2):
        edges.add(tuple(sorted(rng.sample(range(ranks), 2))))
    return sorted(edges)


def cut(edges, node_of):
    """Edges between nodes."""
    return sum(node_of[a] != node_of[b] for a, b in edges)


def place(rng, edges, capacities, worst=False, starts=20):
    """Cells dealt to ranks, which fill the nodes in order: (rank of each cell, edges cut). Fewest cut, or most."""
    node_of_rank = [node for node, capacity in enumerate(capacities) for _ in range(capacity)]
    cells = len(node_of_rank)
    best, best_cut = None, None
    for _ in range(starts):
        rank_of = list(range(cells))
        rng.shuffle(rank_of)
        now = cut(edges, [node_of_rank[r] for r in rank_of])
        improved = True
        while improved:
            improved = False
            for a in range(cells):
                for b in range(a):
                    rank_of[a], rank_of[b] = rank_of[b], rank_of[a]
                    then = cut(edges, [node_of_rank[r] for r in rank_of])
                    if (then > now) if worst else (then < now):
                        now, improved = then, True
                    else:
                        rank_of[a], rank_of[b] = rank_of[b], rank_of[a]
        if best is None or (now > best_cut if worst else now < best_cut):
            best, best_cut = rank_of, now
    return best, best_cut


def relabelled(edges, rank_of):
    return sorted(tuple(sorted((rank_of[a], rank_of[b]))) for a, b in edges)


def words(edges):
    return ",".join(f"{a}-{b}" for a, b in edges)
