"""A page of HTML taken apart: its text, its tags, the exact numbers in it. Faults of its form are in `wrong`."""
import html.parser
import re

NOT_IN_THEMSELVES = {"p", "li", "tr", "td", "th", "h1", "h2", "h3", "article", "figure", "table"}
WITHOUT_END = {"meta", "br", "hr", "link", "img", "input"}


class Page(html.parser.HTMLParser):
    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.source, self.open, self.wrong, self.words, self.tags = text, [], [], [], []
        self.numbers = []  # (field, value)
        self.ids, self.links = set(), set()
        self.feed(text)
        self.close()
        self.wrong += [f"<{tag}> is not closed" for tag in self.open]
        self.wrong += [f"a < that begins no tag: {text[at:at + 20]}" for at in
                       (found.start() for found in re.finditer(r"<(?![a-zA-Z/!])", text))]
        self.text = re.sub(r"\s+", " ", "".join(self.words))

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        names = [name for name, _ in attrs]
        self.wrong += [f"<{tag}> has {name} twice" for name in set(names) if names.count(name) > 1]
        of = dict(attrs)
        if "id" in of:
            if of["id"] in self.ids:
                self.wrong.append(f"id {of['id']} twice")
            self.ids.add(of["id"])
        if tag == "a":
            self.links.add(of.get("href", ""))
        if tag == "data":
            self.numbers.append((of["data-field"], float(of["value"])))
        for name, value in attrs:
            if name in ("src", "srcset", "xlink:href", "style", "data", "action") or name.startswith("on") or \
                    (name == "href" and not value.startswith("#")):
                self.wrong.append(f"<{tag} {name}={value}> reaches out of the page")
        if tag in NOT_IN_THEMSELVES and self.open[-1:] == [tag]:
            self.wrong.append(f"<{tag}> in <{tag}>")
        if tag not in WITHOUT_END:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        self.open.pop()

    def handle_endtag(self, tag):
        if not self.open or self.open[-1] != tag:
            self.wrong.append(f"</{tag}> closes <{self.open[-1] if self.open else 'nothing'}>")
        if tag in self.open:
            while self.open.pop() != tag:
                pass

    def handle_data(self, data):
        if self.open[-1:] != ["style"]:
            self.words.append(data)
