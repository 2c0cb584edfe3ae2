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
    lines += ["", f"In all: a fault's first finding is right in {share(figures['faults_right'], figures['faults'])} runs; healthy "
              f"runs with a finding above 0.5: {share(figures['false_alarms'], figures['healthy'])}; `none` said of a cause that "
              f"costs 5 % of all ranks' time or 25 % of one's: {figures['said_none']}; {' and '.join(mpis)}, "
              f"{min(r['size'] for r in records)} to {max(r['size'] for r in records)} ranks."]
    return lines


def write(page, records, figures):
    """Puts the table between the markers of the page."""
    text = page.read_text()
    begin, end = text.index(BEGIN) + len(BEGIN), text.index(END)
    page.write_text(text[:begin] + "\n" + "\n".join(lines_of(records, figures)) + "\n" + text[end:])
