"""Names of C++ functions as people read them (viewer/text/function_name.hpp: the same, for the same list of names)."""
import functools
import re

UNNAMED, OPERATOR = "(anonymous namespace)", "operator"
_SIGN = re.compile(r"[<>=\-+*/%^&|!~,]*")
_NO_WORD = re.compile(r"[^A-Za-z0-9_$]")


def _is_word(letter: str) -> bool:
    return letter != "" and not _NO_WORD.match(letter)


def _behind(name: str, at: int) -> int:
    """Behind the bracket that closes the one at `at`; the end when none does."""
    depth = 0
    for i in range(at, len(name)):
        if name[i] in "(<[{":
            depth += 1
        elif name[i] in ")]}" or (name[i] == ">" and name[i - 1:i] != "-"):
            depth -= 1
            if depth == 0:
                return i + 1
    return len(name)


def _behind_operator(name: str, at: int) -> int:
    """Behind the operator's sign or type: "operator<<", "operator()", "operator bool", "operator new[]"."""
    i = at + len(OPERATOR)
    if name.startswith(("()", "[]"), i):
        return i + 2
    if name.startswith(" ", i):  # a type, or new and delete
        arguments = name.find("(", i)
        return arguments if arguments >= 0 else len(name)
    return _SIGN.match(name, i).end()


@functools.lru_cache(maxsize=65536)
def short_function(name: str) -> str:
    """"void ns::send<Vec<float> >(Grid const&, int)" -> "ns::send"."""
    text, i = "", 0
    while i < len(name):
        if name.startswith(UNNAMED, i):
            text += UNNAMED
            i += len(UNNAMED)
        elif (name.startswith(OPERATOR, i) and not _is_word(name[i - 1:i] if i else "") and
              not _is_word(name[i + len(OPERATOR):i + len(OPERATOR) + 1])):
            end = _behind_operator(name, i)
            text += name[i:end]
            i = end
        elif name[i] in "<[":
            i = _behind(name, i)
        elif name[i] == "{":  # "{lambda(int)#1}"
            end, bracket = _behind(name, i), name.find("(", i)
            if 0 <= bracket < end:
                text += name[i:bracket] + name[_behind(name, bracket):end]
            else:
                text += name[i:end]
            i = end
        elif name[i] == "(":
            inside = name.find("::", _behind(name, i))  # of what is local to this function
            if inside < 0 or not text:
                break
            i = inside
        elif name[i] == " ":
            if not name.startswith(" <", i):  # what it returns; not of "operator<< <char>"
                text = ""
            i += 1
        else:
            text += name[i]
            i += 1
    return text or name


@functools.lru_cache(maxsize=65536)
def same_function(name: str) -> str:
    """What overloads and the instances of a template have in common; the standard library's, by which anything may be
    called, are told apart."""
    short = short_function(name)
    return name if short.startswith("std::") else short
