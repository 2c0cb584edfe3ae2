"""Messages with a direction: many to one, one after the other, pipelines."""
from families.case import Case, Family, late_rank, steps


def many_to_one_big(rng, seconds):
    ranks = rng.choice((5, 6, 8))
    root, serve = rng.randrange(ranks), rng.randrange(800, 2000)
    work = int(serve * (ranks - 1) * rng.uniform(0.2, 0.5))
    return Case("pattern", {"kind": "gather", "root": root, "serve_us": serve, "work_us": work,
                            "bytes": rng.choice((100_000, 200_000)),
                            "steps": steps(seconds, serve * (ranks - 1), 300 * ranks)},
                ranks, right=(root,), detail="many to one", costs="inside")


def many_to_one_reply(rng, seconds):
    ranks = rng.choice((6, 8))
    root, serve = rng.randrange(ranks), rng.randrange(500, 1500)
    work = int(serve * (ranks - 1) * rng.uniform(0.1, 0.4))
    return Case("pattern", {"kind": "gather", "root": root, "serve_us": serve, "work_us": work, "reply": 1,
                            "bytes": 256, "steps": steps(seconds, serve * (ranks - 1), 150 * ranks)},
                ranks, right=(root,), detail="many to one", costs="inside")


def chain(rng, seconds):
    ranks = rng.choice((4, 6, 8))
    work = rng.randrange(800, 2000)
    return Case("pattern", {"kind": "chain", "work_us": work, "bytes": rng.choice((256, 4096)),
                            "steps": steps(seconds, work * ranks, 150 * ranks)}, ranks, detail="chain")


def delay_chain(rng, seconds):
    """The first rank of a pipeline is late, in each step or in each fourth: all others wait for it in turn."""
    case = late_rank(rng, seconds, "pipeline", guilty=lambda *_: 0, extra=(0.8, 1.5), bytes=rng.choice((256, 2048)))
    if rng.random() < 0.5:
        case.arguments.update(every=4, slow_us=3 * case.arguments["slow_us"])
    return case


FAMILIES = {
    "many_to_one_big": Family(many_to_one_big, 5),
    "many_to_one_reply": Family(many_to_one_reply, 5),
    "chain": Family(chain, 5),
    "delay_chain": Family(delay_chain, 5, False),
}
