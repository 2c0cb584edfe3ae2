"""What was found against what is true: one verdict per run, and tables of many."""
import datetime
import statistics

HEALTHY = ("none", "unknown")
LEAST_SHARE, LEAST_WORST = 0.05, 0.25  # what a cause has to cost, of all ranks' time or of one rank's, to be judged
VERDICTS = ("right", "wrong ranks", "second", "not named", "wrong", "cheap")


def first_of(found):
    return found[0] if found else {"cause": "none", "confidence": 0.0, "ranks": []}


def first_rank_right(finding, ranks):
    return not ranks or (bool(finding.get("ranks")) and finding["ranks"][0] in ranks)


def node_right(finding, node):
    """Whether its worst link begins or ends there; links that Waitall completes look slow both ways."""
    return not node or any(f"node{node}" in (link["from"], link["to"]) for link in finding.get("nodes", [])[:1])


def ordered(case, cost):
    """((cause, ranks) of the first finding that is true, that of the second or nothing): the more expensive first."""
    first = ((case.truth, *case.also), tuple(case.right))
    if not case.second:
        return first, None
    second = ((case.second[0],), tuple(case.second[1]))
    return (second, first) if cost.get("second", 0) > cost.get("first", 0) else (first, second)


def verdict_of(found, causes, ranks, node):
    first = first_of(found)
    if first["cause"] in causes:
        return "right" if first_rank_right(first, ranks) and node_right(first, node) else "wrong ranks"
    if len(found) > 1 and found[1]["cause"] in causes:
        return "second"
    return "not named" if first["cause"] in HEALTHY else "wrong"


def judge(case, times, found, origin, named=None, cost=None):
    """A plain record of one run. `times`: what is true (CLOCK_REALTIME, s); `origin`: the dump's second 0; `named`:
    when the cause was the first finding live; `cost`: of the planted cause (job.Run.cost)."""
    first, cost = first_of(found), cost or {}
    record = {"truth": case.truth, "found": first["cause"], "confidence": first["confidence"],
              "detail": first.get("detail", ""), "ranks": first.get("ranks", []), "truth_ranks": list(case.right),
              "nodes": first.get("nodes", [])[:1], "whole": case.whole, "truth_detail": case.detail, "mpi": case.mpi,
              "size": case.ranks, "cost": cost}
    if case.truth in HEALTHY:
        loud = [f for f in found if f["cause"] not in HEALTHY and f["confidence"] > 0.5]
        record["right"] = first["cause"] in HEALTHY
        record["verdict"] = "right" if record["right"] else "wrong"
        record["false_alarm"] = bool(loud)
        return record
    (causes, ranks), second = ordered(case, cost)
    record.update(truth=causes[0], truth_ranks=list(ranks))
    record["verdict"] = verdict_of(found, causes, ranks, case.right_node)
    # Below these costs nothing has to be said of a cause; what is said all the same may be right.
    judged = not cost or cost["share"] >= LEAST_SHARE or cost["worst"] >= LEAST_WORST
    if not judged and record["verdict"] != "right":
        record["verdict"] = "cheap"
    record["right"] = record["verdict"] == "right"
    record["said_none"] = judged and first["cause"] == "none"
    if second is not None:
        record["second_right"] = (len(found) > 1 and found[1]["cause"] in second[0] and
                                  first_rank_right(found[1], second[1]))
    if ranks:
        record["named_first"] = first_rank_right(first, ranks)
        record["named_all"] = set(first.get("ranks", [])) == set(ranks)
    begin, end = times.get("begin", times.get("start")), times.get("end", times.get("stop"))
    if record["right"] and begin and end:
        record["begin_error_s"] = origin + first["period"]["begin_s"] - begin
        record["end_error_s"] = origin + first["period"]["end_s"] - end
        if named is not None:
            after = [moment - begin for moment in named if moment >= begin]
            record["live_s"] = after[0] if after else None
            # Named before it began: an earlier finding of the same cause; says nothing about this one.
            record["live_early"] = any(moment < begin for moment in named)
    return record


def seconds_of(text):
    """The dump's time origin as the summary prints it."""
    moment = datetime.datetime.fromisoformat(text.replace("Z", "+00:00"))
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=datetime.timezone.utc)
    return moment.timestamp()


def matrix(records):
    """Lines of the confusion matrix: true cause x first finding."""
    order = ["none", "mapping", "pattern", "background", "late-sender", "late-receiver", "collective-wait"]
    order += sorted({r["truth"] for r in records} | {r["found"] for r in records} - {"unknown"} - set(order))
    order = list(dict.fromkeys(order))
    columns = [c for c in order if any(r["found"] == c for r in records)] + ["unknown"]
    lines = [f"{'true cause':16s}" + "".join(f"{c:>16s}" for c in columns) + f"{'runs':>7s}{'right':>7s}"]
    for cause in order:
        rows = [r for r in records if r["truth"] == cause]
        if rows:
            counts = "".join(f"{sum(r['found'] == c for r in rows) or '.':>16}" for c in columns)
            lines.append(f"{cause:16s}{counts}{len(rows):7d}{sum(r['right'] for r in rows):7d}")
    return lines


def families_of(records):
    """{family: its records}, in the order they were run first."""
    by_name = {}
    for record in records:
        by_name.setdefault(record["name"].rsplit("-", 1)[0], []).append(record)
    return by_name


def per_family(records):
    """Lines: per family how often right, with wrong ranks, second, not named, wrong, too cheap to be judged."""
    lines = [f"{'family':24s}{'true cause':16s}{'runs':>5s}" + "".join(f"{v:>13s}" for v in VERDICTS)]
    for name, rows in families_of(records).items():
        counts = "".join(f"{sum(r['verdict'] == v for r in rows) or '.':>13}" for v in VERDICTS)
        lines.append(f"{name:24s}{rows[0]['truth']:16s}{len(rows):5d}{counts}")
    return lines


def spread(values):
    if not values:
        return "not measured"
    size = sorted(abs(v) for v in values)
    return f"median {statistics.median(size):.2f} s, worst {size[-1]:.2f} s, of {len(size)}"


def figures(records):
    """What the records say in all. Runs whose cause was too cheap are not judged."""
    judged = [r for r in records if r["verdict"] != "cheap"]
    faults = [r for r in judged if r["truth"] not in HEALTHY]
    healthy = [r for r in judged if r["truth"] in HEALTHY]
    parts = [r for r in faults if not r["whole"]]
    ranked = [r for r in faults if "named_first" in r and r["verdict"] in ("right", "wrong ranks")]
    live = [r["live_s"] for r in faults if r.get("live_s") is not None and not r.get("live_early")]
    two = [r["second_right"] for r in faults if "second_right" in r and r["right"]]
    return {
        "runs": len(records), "judged": len(judged),
        "accuracy": sum(r["right"] for r in judged) / len(judged) if judged else 0.0,
        "faults": len(faults), "faults_right": sum(r["right"] for r in faults),
        "said_none": sum(r["said_none"] for r in faults),
        "false_alarms": sum(r["false_alarm"] for r in healthy),
        "healthy": len(healthy),
        "ranks_first_right": sum(r["named_first"] for r in ranked),
        "ranks_all_right": sum(r["named_all"] for r in ranked),
        "ranks_runs": len(ranked),
        "second_right": sum(two), "second_runs": len(two),
        "begin_error_s": [r["begin_error_s"] for r in parts if "begin_error_s" in r],
        "end_error_s": [r["end_error_s"] for r in parts if "end_error_s" in r],
        "live_s": live,
    }


def totals(records):
    f = figures(records)
    cheap = f["runs"] - f["judged"]
    return [f"accuracy {100 * f['accuracy']:.1f} % of {f['judged']} runs "
            f"({cheap} more with a cause too cheap to be judged)",
            f"with a fault {f['faults_right']} of {f['faults']} right, `none` said in {f['said_none']}; "
            f"healthy ones with a finding of confidence above 0.5: {f['false_alarms']} of {f['healthy']}",
            f"ranks: the first named is right in {f['ranks_first_right']} of {f['ranks_runs']}, "
            f"exactly the right ones in {f['ranks_all_right']}; of two causes the second is right in "
            f"{f['second_right']} of {f['second_runs']}",
            f"period of causes that act for a part of the run: begin off by {spread(f['begin_error_s'])}; "
            f"end by {spread(f['end_error_s'])}",
            f"named live after {spread(f['live_s'])}"]


def report(records):
    return [*matrix(records), "", *per_family(records), "", *totals(records)]
