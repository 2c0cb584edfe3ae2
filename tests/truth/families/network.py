"""The network, and where ranks sit on it."""
from families.case import CROWDED, Case, Family, NODES, on_nodes, part_of, steps


def bad_placement(rng, seconds):
    size, rate = rng.choice((16384, 32768, 49152)), rng.choice((100, 200))
    work = rng.randrange(3000, 6000)
    wire_us = 3 * CROWDED[0] * size * 8 / rate  # what a node sends in a step, at three messages per rank
    arguments = on_nodes(rng, seconds, CROWDED, worst=True, bytes=size, work_us=work,
                         steps=steps(seconds, work, wire_us))
    return Case("mapping", arguments, sum(CROWDED), CROWDED, links=f"{rate}mbit", costs="inside")


def throttled_link(rng, seconds):
    seconds = max(seconds, 6)
    begin, end = part_of(rng, seconds)
    node = rng.randrange(1, 4)
    arguments = on_nodes(rng, seconds, bytes=rng.choice((8192, 16384, 32768)))
    return Case("background", arguments, sum(NODES), NODES, live=True, costs="series",
                throttle=(node, rng.choice(("5mbit", "10mbit", "20mbit")), begin, end), whole=False)


def competing_job(rng, seconds):
    seconds = max(seconds, 6)
    begin, end = part_of(rng, seconds)
    a, b = rng.sample((1, 2, 3), 2)
    return Case("background", on_nodes(rng, seconds, bytes=rng.choice((4096, 16384))), sum(NODES), NODES, live=True,
                costs="series", links=rng.choice(("100mbit", "200mbit")), whole=False,
                stream=(a, b, rng.choice((0, 2, 4)), begin, end))


def throttled_node(rng, seconds):
    """All of one node's traffic is slow for most of the run; it is named, not those that talk with it."""
    seconds = max(seconds, 7)
    node = rng.randrange(1, 4)
    arguments = on_nodes(rng, seconds, bytes=rng.choice((16384, 32768)))
    return Case("background", arguments, sum(NODES), NODES, right_node=node, costs="series",
                throttle=(node, rng.choice(("10mbit", "20mbit")), 0.3 * seconds, seconds), whole=False)


def outage(rng, seconds):
    """A node's link is down for a while: nothing at all is said."""
    seconds = max(seconds, 7)
    node, begin = rng.randrange(1, 4), rng.uniform(0.3, 0.5) * seconds
    return Case("outage", on_nodes(rng, seconds, bytes=1024), sum(NODES), NODES, right_node=node, costs="series",
                cut=(node, begin, begin + rng.uniform(3, 6)), whole=False)


FAMILIES = {
    "bad_placement": Family(bad_placement, 5),
    "throttled_link": Family(throttled_link, 5),
    "competing_job": Family(competing_job, 5),
    "throttled_node": Family(throttled_node, 5, False),
    "outage": Family(outage, 5, False),
}
