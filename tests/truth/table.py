"""The table of families in docs/attribution.md, between its markers, from the records of a run."""
import verdict

BEGIN, END = "<!-- families: made by tests/truth/run --table -->", "<!-- end of families -->"


def share(part, of):
    return f"{part} of {of}"


def lines_of(records, figures):
    """Markdown: a row for each family, in the order of the topics, and what it sums up to."""
    lines = [f"Measured with `tests/truth/run` (seed {figures['seed']}, {figures['runs']} runs):", "",
             "| family | true cause | runs | right | wrong ranks | second | not named | wrong | too cheap |",
             "|---|---|---|---|---|---|---|---|---|"]
    for name, rows in verdict.families_of(records).items():
        counts = " | ".join(str(sum(r["verdict"] == v for r in rows) or "") for v in verdict.VERDICTS)
        causes = ", ".join(f"`{cause}`" for cause in dict.fromkeys(r["truth"] for r in rows))
        lines.append(f"| `{name}` | {causes} | {len(rows)} | {counts} |")
    mpis = sorted({r["mpi"] for r in records})
    sizes = [r["size"] for r in records]
    right = share(figures["faults_right"], figures["faults"])
    alarms = share(figures["false_alarms"], figures["healthy"])
    lines += ["", f"In all: a fault's first finding is right in {right} runs; "
              f"healthy runs with a finding above 0.5: {alarms}; `none` said "
              f"of a cause that costs 5 % of all ranks' time or 25 % of one's: {figures['said_none']}; "
              f"{' and '.join(mpis)}, {min(sizes)} to {max(sizes)} ranks."]
    return lines


def write(page, records, figures):
    """Puts the table between the markers of the page."""
    text = page.read_text()
    begin, end = text.index(BEGIN) + len(BEGIN), text.index(END)
    page.write_text(text[:begin] + "\n" + "\n".join(lines_of(records, figures)) + "\n" + text[end:])
