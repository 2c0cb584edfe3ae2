"""Makes what an installation has besides, from what the commands say of themselves (`pclscope COMMAND --help`): a man
page for each command, and the completions of bash and zsh.

  documents.py PCLSCOPE FOLDER      writes FOLDER/man1/*.1, FOLDER/pclscope.bash and FOLDER/_pclscope
"""
import pathlib
import re
import subprocess
import sys

import completions


class Option:
    def __init__(self, names, value, text):
        self.names, self.value, self.text = names, value, text

    def choices(self):
        """The words that it takes, where there are few."""
        listed = re.search(r"\{([^}]*)\}", self.value)
        if listed:
            return listed[1].split(",")
        words = self.value.split("|")
        return [word for word in words if word.islower()] if len(words) > 1 else []

    def takes_file(self):
        return self.value.startswith(("FILE", "PATH", "DIR"))


class Help:
    """What one command's --help says."""

    def __init__(self, text):
        head, _, rest = text.partition("\nusage: ")
        self.summary = head.strip()
        self.usage, _, rest = rest.partition("\n")
        self.options, self.positionals, self.footer = [], [], []
        lines, section = rest.split("\n"), None
        for line in lines:
            if line in ("Options:", "Positionals:"):
                section = self.options if line == "Options:" else self.positionals
            elif section is not None and re.match(r"  \S", line):
                section.append(self.entry(line))
            elif section and line.startswith(" " * 20):
                section[-1].text += line.strip()
            elif not line:
                section = None
            else:
                self.footer.append(line)

    @staticmethod
    def entry(line):
        """`  -d,--dump FILE   Store ...`: the text begins in column 32, or in the next line."""
        left, right = line[2:], ""
        if len(line) > 32 and line[31] == " ":
            left, right = line[2:32], line[32:]
        words, _, value = left.strip().partition(" ")
        value = re.sub(r"\s*(\(required\)|(Needs|Excludes): .*|=\S+$)", "", value).strip()
        value = re.sub(r":[A-Z]+ in \[.*|:SIZE \[.*", "", value)
        return Option(words.split(","), value, right.strip())


class Commands:
    def __init__(self, program):
        self.program = program
        self.overview = self.said("--help")
        self.version = self.said("--version").split()[1]
        listed = re.findall(r"^  ([a-z]+) {2,}(.*)$", self.overview, re.MULTILINE)
        texts = {name: self.said(name, "--help") for name, _ in listed}  # none of `view` where no window is built
        self.summaries = {name: summary for name, summary in listed if texts[name]}
        self.help = {name: Help(texts[name]) for name in self.summaries}
        topics = re.search(r"Topics: (.*?)\.$", self.help["inspect"].summary, re.MULTILINE)
        self.topics = re.findall(r"[a-z]+", topics[1].replace(" (default)", "").replace(" and ", ", "))

    def said(self, *words):
        """Nothing when it fails."""
        done = subprocess.run([self.program, *words], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                              check=False)
        return done.stdout if done.returncode == 0 else ""


def roff(text):
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return re.sub(r"^([.'])", r"\\&\1", text, flags=re.MULTILINE)


def page(name, version, summary, parts):
    lines = [f'.TH "{name.upper()}" "1" "" "pclscope {version}" "User commands"', ".SH NAME",
             f"{roff(name)} \\- {roff(summary)}"]
    for title, paragraphs in parts:
        lines += [f".SH {title}", *paragraphs]
    return "\n".join(lines) + "\n"


def option_lines(options):
    lines = []
    for option in options:
        names = ", ".join(f"\\fB{roff(name)}\\fR" for name in option.names)
        lines += [".TP", names + (f" \\fI{roff(option.value)}\\fR" if option.value else ""), roff(option.text) or "\\&"]
    return lines


def pages(commands):
    """{file: text} of all man pages."""
    made, others = {}, ", ".join(f"\\fBpclscope\\-{name}\\fR(1)" for name in commands.summaries)
    for name, said in commands.help.items():
        parts = [("SYNOPSIS", [roff(said.usage)]), ("DESCRIPTION", [roff(said.summary)])]
        if said.positionals:
            parts.append(("ARGUMENTS", option_lines(said.positionals)))
        parts.append(("OPTIONS", option_lines(said.options)))
        if said.footer:
            parts.append(("NOTES", [line for part in said.footer for line in (".PP", roff(part))]))
        parts.append(("SEE ALSO", ["\\fBpclscope\\fR(1)"]))
        made[f"pclscope-{name}.1"] = page(f"pclscope-{name}", commands.version, commands.summaries[name], parts)
    listed = [line for name, summary in commands.summaries.items()
              for line in (".TP", f"\\fB{name}\\fR", roff(summary))]
    notes = [line for line in commands.overview.strip().split("\n\n")[-1].split("\n")]
    made["pclscope.1"] = page(
        "pclscope", commands.version, "where, when and why messages of MPI programs are late",
        [("SYNOPSIS", ["\\fBpclscope\\fR \\fICOMMAND\\fR ..."]), ("COMMANDS", listed),
         ("NOTES", [line for part in notes for line in (".PP", roff(part))]), ("SEE ALSO", [others])])
    return made


def main():
    program, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    commands = Commands(program)
    (folder / "man1").mkdir(parents=True, exist_ok=True)
    for name, text in pages(commands).items():
        (folder / "man1" / name).write_text(text, encoding="utf-8")
    (folder / "pclscope.bash").write_text(completions.bash(commands), encoding="utf-8")
    (folder / "_pclscope").write_text(completions.zsh(commands), encoding="utf-8")


if __name__ == "__main__":
    main()
