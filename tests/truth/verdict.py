"""What was found against what is true: one verdict per run, and tables of many."""
import datetime
import statistics

HEALTHY = ("none", "unknown")


def first_of(found):
    return found[0] if found else {"cause": "none", "confidence": 0.0, "ranks": []}


def judge(case, times, found, origin, named=None):
    """A plain record of one run. `times`: what is true (CLOCK_REALTIME, s); `origin`: the dump's second 0; `named`:
    when the cause was the first finding live."""
    first = first_of(found)
    record = {"truth": case.truth, "found": first["cause"], "confidence": first["confidence"],
              "detail": first.get("detail", ""), "ranks": first.get("ranks", []), "truth_ranks": list(case.right),
              "whole": case.whole, "truth_detail": case.detail}
    if case.truth in HEALTHY:
        loud = [f for f in found if f["cause"] not in HEALTHY and f["confidence"] > 0.5]
        record["right"] = first["cause"] in HEALTHY
        record["false_alarm"] = bool(loud)
        return record
    record["right"] = first["cause"] == case.truth
    if case.right:
        record["named_first"] = bool(first.get("ranks")) and first["ranks"][0] in case.right
        record["named_all"] = set(first.get("ranks", [])) == set(case.right)
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
    order = ["none", "mapping", "pattern", "background", "late-sender", "late-receiver", "collective-wait",
             "outage", "load-imbalance"]
    columns = order + ["unknown"]
    lines = [f"{'true cause':16s}" + "".join(f"{c:>16s}" for c in columns) + f"{'runs':>7s}{'right':>7s}"]
    for cause in order:
        rows = [r for r in records if r["truth"] == cause]
        if rows:
            counts = "".join(f"{sum(r['found'] == c for r in rows) or '.':>16}" for c in columns)
            lines.append(f"{cause:16s}{counts}{len(rows):7d}{sum(r['right'] for r in rows):7d}")
    return lines


def spread(values):
    if not values:
        return "not measured"
    size = sorted(abs(v) for v in values)
    return f"median {statistics.median(size):.2f} s, worst {size[-1]:.2f} s, of {len(size)}"


def figures(records):
    """What the records say in all."""
    faults = [r for r in records if r["truth"] not in HEALTHY]
    healthy = [r for r in records if r["truth"] in HEALTHY]
    parts = [r for r in faults if not r["whole"]]
    ranked = [r for r in faults if "named_first" in r and r["right"]]
    live = [r["live_s"] for r in faults if r.get("live_s") is not None and not r.get("live_early")]
    return {
        "runs": len(records),
        "accuracy": sum(r["right"] for r in records) / len(records) if records else 0.0,
        "false_alarms": sum(r["false_alarm"] for r in healthy),
        "healthy": len(healthy),
        "ranks_first_right": sum(r["named_first"] for r in ranked),
        "ranks_all_right": sum(r["named_all"] for r in ranked),
        "ranks_runs": len(ranked),
        "begin_error_s": [r["begin_error_s"] for r in parts if "begin_error_s" in r],
        "end_error_s": [r["end_error_s"] for r in parts if "end_error_s" in r],
        "live_s": live,
    }


def report(records):
    f = figures(records)
    lines = matrix(records)
    lines += ["", f"accuracy {100 * f['accuracy']:.1f} % of {f['runs']} runs; "
                  f"healthy runs with a finding of confidence above 0.5: {f['false_alarms']} of {f['healthy']}",
              f"ranks: the first named is right in {f['ranks_first_right']} of {f['ranks_runs']}, "
              f"exactly the right ones in {f['ranks_all_right']}",
              f"period of causes that act for a part of the run: begin off by {spread(f['begin_error_s'])}; "
              f"end by {spread(f['end_error_s'])}",
              f"named live after {spread(f['live_s'])}"]
    return lines
