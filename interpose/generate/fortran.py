"""Emits the Fortran shims: for every interposed function one C function per binding that the Fortran compilers see.

How a shim works is told in interpose/fortran/README.md. A decision whose kind has no form here is translated only:
communicators are replaced, nothing is recorded; unrecorded() names those functions.
"""

import itertools
import re
from dataclasses import dataclass

from decisions import COLLECTIVES, SEND_MODES, SHAPES
from wrappers import HEADER, interposed, numbered, short

HANDLES = {"MPI_Datatype", "MPI_Op", "MPI_Group", "MPI_Info", "MPI_Errhandler", "MPI_Win", "MPI_File", "MPI_Request",
           "MPI_Message"}
NUMBERS = {"int", "MPI_Count", "MPI_Aint", "MPI_Offset"}
# Requests, messages and others that the call takes; everywhere else it makes them.
TAKES_HANDLE = {"start", "startall", "request_free", "cancel", "wait", "waitall", "waitany", "waitsome", "test",
                "testall", "testany", "testsome", "mrecv", "imrecv", "frees"}
HANDS = {"Init", "Init_thread", "Finalize", "Abort", "Comm_get_attr", "Attr_get", "Comm_set_attr", "Attr_put",
         "Comm_set_errhandler", "Errhandler_set", "Type_free", "Pcontrol", "Session_init", "Session_finalize",
         "Group_from_session_pset", "Session_get_pset_info", "Initialized", "Finalized"}
# Handed on: MPI calls the program's functions in the way of Fortran, which those of callbacks.cpp are not made for.
PLAIN_HANDS = {"Comm_create_errhandler", "Errhandler_create", "Comm_create_keyval", "Keyval_create"}
# C has these two arguments, Fortran has not.
WITHOUT = {"MPI_Init": {"argc", "argv"}, "MPI_Init_thread": {"argc", "argv"}, "MPI_Pcontrol": {"..."}}
WITHOUT_ERROR = {"MPI_Pcontrol"}
PARTS = 4
# `use mpi` knows a second form of these, with type(c_ptr): the same arguments under another name.
WITH_POINTER = {"MPI_Win_allocate", "MPI_Win_allocate_shared", "MPI_Win_shared_query"}


@dataclass(frozen=True)
class Shim:
    function: object
    base: str  # mpi_send, mpix_comm_shrink
    binding: str  # a Binding of library/fortran_routines.hpp
    spellings: tuple  # exported symbols

    @property
    def described(self):
        return self.binding.startswith("f08ts")

    @property
    def name(self):
        return f"pclscope_{self.base}_{self.binding}"


def has_buffer(function):
    return any(re.fullmatch(r"(const )?void ?\*", p.type) for p in function.parameters)


def is_large(name, functions):
    return name.endswith("_c") and name[:-2] in functions


def shims_of(function, functions):
    name = function.name.lower()
    if is_large(function.name, functions):
        base = name[:-2]
        return [Shim(function, base, f"{b}_large", (f"{base}_{b}_large_",))
                for b in ("f08", "f08ts") if b == "f08" or has_buffer(function)]
    plain = [name] + ([name + "_cptr"] if function.name in WITH_POINTER else [])
    shims = [Shim(function, base, "plain", (base + "_", base + "__", base, base.upper())) for base in plain]
    shims.append(Shim(function, name, "f08", (name + "_f08_",)))
    if has_buffer(function):
        shims.append(Shim(function, name, "f08ts", (name + "_f08ts_",)))
    return shims


def shims(functions, decisions):
    return [s for f in interposed(functions, decisions) for s in shims_of(f, functions)]


def pointer_kind(kind, parameter, handle):
    if handle == "MPI_Comm":
        if kind == "creates":
            return "HandleMade<MPI_Comm>", ", handles.comm_null"
        return ("CommLater" if kind == "idup" else "HandleChanged<MPI_Comm>" if kind == "frees" else "Opaque"), ""
    if kind in TAKES_HANDLE or re.search(r"_(free|close|disconnect)$", parameter.function):
        return f"HandleChanged<{handle}>", ""
    return f"HandleMade<{handle}>", ", handles.request_null" if handle == "MPI_Request" else ""


@dataclass(frozen=True)
class Place:
    """A parameter and the function it belongs to, with that one's first and third: the counts of Waitsome."""
    function: str
    name: str
    type: str
    first: str = ""
    third: str = ""
    origin: str = ""  # of indices


def argument_class(kind, place, described):
    """The class of fortran/arguments.hpp, and further constructor arguments. `described`: yes, no, or the name of what
    says it."""
    base = re.sub(r"\bconst\b", "", place.type).replace(" ", "")
    pointed = re.fullmatch(r"(\w+)(\*|\[\w*\])", base)
    if base == "void*":
        return {"yes": ("DescribedBuffer", ""), "no": ("Buffer", "")}.get(described, ("AnyBuffer", f", {described}"))
    if base in NUMBERS:
        return f"Value<{base}>", ""
    if base == "MPI_Comm":
        return "CommValue", ""
    if base in HANDLES:
        return f"HandleValue<{base}>", ""
    if not pointed:
        return "Opaque", ""
    element = pointed.group(1)
    if element == "MPI_Status":
        return ("Statuses", f", {place.first}") if "statuses" in place.name else ("Status", "")
    if element == "MPI_Request" and "requests" in place.name:
        return "RequestArray", f", {place.first}"
    if element == "MPI_Datatype" and pointed.group(2) != "*":
        return "DatatypeArray", ""
    if element in HANDLES | {"MPI_Comm"} and pointed.group(2) == "*":
        return pointer_kind(kind, place, element)
    if element in NUMBERS:
        if kind in ("waitany", "testany") and place.name in ("index", "indx"):
            return "Index", f", {place.origin}"
        if kind in ("waitsome", "testsome") and "indices" in place.name:
            return "Indices", f", {place.first}, {place.third}, {place.origin}"
        if kind in ("waitsome", "testsome") and place.name == place.third:
            return "IndexCount", ""
        return f"Integers<{'const ' if 'const' in place.type else ''}{element}>", ""
    return "Opaque", ""


def shape_call(function, decision, numbers, arguments):
    words = [numbered(function.name, numbers)]
    if decision.kind in ("send", "isend", "send_init"):
        words.append(SEND_MODES[decision.words[0] if decision.words else "standard"])
    values = ", ".join(["caller", "library"] + [f"{a}_.c()" for a in arguments])
    return f"wrap_{decision.kind}<{', '.join(words)}>({values})"


def collective_call(function, decision, numbers, arguments):
    comm = next(p.name for p in function.parameters if p.type == "MPI_Comm")
    hidden = {comm} | {p.name for p in function.parameters if p.type in ("MPI_Request *", "MPI_Info")}
    request = "".join(f", {p.name}_.c()" for p in function.parameters if p.type == "MPI_Request *")
    root = "root_.c()" if "root" in arguments else "no_root"
    measure = ", ".join(["r", "c"] + [f"{a}_.c()" for a in arguments if a not in hidden])
    return (f"wrap_{decision.kind}<{numbered(function.name, numbers)}>(caller, {comm}_.c(), {root}{request},\n"
            f"      [&](MPI_Comm c) {{ {comm}_.use(c); return library(); }},\n"
            f"      [&](Recorder& r, Communicator& c) {{ return bytes_{decision.words[0]}({measure}); }})")


def translation(function):
    return "".join(f"{p.name}_.use(app_comm({p.name}_.c())); " for p in function.parameters if p.type == "MPI_Comm")


def creates_call(function, decision, numbers):
    [made] = [p.name for p in function.parameters if p.type == "MPI_Comm *"]
    origin = {"dup": "Origin::dup", "orphan": "Origin::orphan"}.get(" ".join(decision.words), "Origin::parent")
    parents = [f"{p.name}_.c()" for p in function.parameters if p.type == "MPI_Comm"]
    parent = "handles.comm_null" if origin == "Origin::orphan" else parents[0]
    return (f"wrap_creates<{numbered(function.name, numbers)}, {origin}>(caller, {parent}, {made}_.c(),\n"
            f"      [&] {{ {translation(function)}return library(); }})")


def interval_call(function, numbers):
    comm = next(p.name for p in function.parameters if p.type == "MPI_Comm")
    return (f"wrap_call<{numbered(function.name, numbers)}>(caller, {comm}_.c(),\n"
            f"      [&] {{ {translation(function)}return library(); }})")


def has_form(function, decision):
    """Is this decision's meaning carried out for Fortran too?"""
    kind = decision.kind
    if kind == "hand":
        return short(function.name) in HANDS | PLAIN_HANDS
    return kind in SHAPES or kind in {*COLLECTIVES, "creates", "frees", "idup", "call", "translate"}


def call(function, decision, numbers, arguments):
    kind = decision.kind
    if kind == "translate" or not has_form(function, decision) or short(function.name) in PLAIN_HANDS:
        return None
    if kind in COLLECTIVES:
        return collective_call(function, decision, numbers, arguments)
    if kind == "creates":
        return creates_call(function, decision, numbers)
    if kind == "call":
        return interval_call(function, numbers)
    if kind == "hand":
        objects = "".join(f", {a}_" for a in arguments)
        return f"hand_{short(function.name)}(caller, library{objects})"
    return shape_call(function, decision, numbers, arguments)


# Calls of some ten nanoseconds: each binding has its own code. All bindings of the others share one function.
QUICK = {"send", "isend", "send_init", "recv", "irecv", "recv_init", "sendrecv", "sendrecv_replace", "probe", "iprobe",
         "mprobe", "improbe", "mrecv", "imrecv", "start", "startall", "wait", "waitall", "waitany", "waitsome", "test",
         "testall", "testany", "testsome"}


def places_of(function, origin):
    all_names = [p.name for p in function.parameters] + [""] * 3
    return [Place(function.name, p.name, p.type, all_names[0], all_names[2], origin) for p in function.parameters
            if p.name not in WITHOUT.get(function.name, ())]


def body(function, decision, numbers, head, routine, origin, described):
    """The lines of a shim; its arguments are void* of the names in MPI's header, ierror, and lengths of texts."""
    places = places_of(function, origin)
    arguments = [p.name for p in places]
    texts, error = lengths(places), errors(function)
    lines = [head]
    for place in places:
        name, extra = argument_class(decision.kind, place, described)
        lines.append(f"  {name} {place.name}_{{{place.name}{extra}}};")
    lines.append(f"  LibraryCall library({routine}, Lengths<{len(texts)}>{{{', '.join(texts)}}}"
                 + "".join(f", {a}_" for a in arguments) + ");")
    done = call(function, decision, numbers, arguments)
    requests = [p.name for p in places if argument_class(decision.kind, p, "no")[0] == "RequestArray"]
    for name in requests:
        lines.append(f"  if (!{name}_.ready()) return give(ierror, library());")
    if done is None:
        lines += [f"  {translation(function).rstrip()}"] if translation(function) else []
        done = "library()"
    return "\n".join(lines + [f"  give({error[0] if error else 'nullptr'}, {done});", "}"])


def lengths(places):
    return [f"length{i}" for i in range(sum("char" in p.type for p in places))]


def errors(function):
    return [] if function.name in WITHOUT_ERROR else ["ierror"]


def origin_of(shim):
    return "plain_origin()" if shim.binding == "plain" else "f08_origin()"


def passed(function):
    """Names of all arguments, and what declares them."""
    places = places_of(function, "")
    names, texts = [p.name for p in places] + errors(function), lengths(places)
    return names + texts, [f"void* {a}" for a in names] + [f"std::size_t {t}" for t in texts]


def shim_source(indexed, decision, numbers):
    """The shims of one function: [(index, Shim)]."""
    function = indexed[0][1].function
    names, declared = passed(function)
    heads = [f'extern "C" void {shim.name}({", ".join(declared)})' for _, shim in indexed]
    if decision.kind in QUICK or len(indexed) == 1:
        return "\n".join(body(function, decision, numbers,
                              f"{head} {{\n  [[maybe_unused]] const Caller caller = PCLSCOPE_CALLER;",
                              f"fortran_routines[{index}]", origin_of(shim), "yes" if shim.described else "no")
                         for head, (index, shim) in zip(heads, indexed))
    common = f"any_{function.name.lower()}"
    asks = has_buffer(function) and any(shim.described for _, shim in indexed)
    head = (f"[[gnu::noinline]] static void {common}(void* routine, [[maybe_unused]] Caller caller"
            + (", bool described" if asks else "") + "".join(f", {d}" for d in declared) + ") {")
    lines = [body(function, decision, numbers, head, "routine", "", "described" if asks else "no")]
    for head, (index, shim) in zip(heads, indexed):
        more = (", true" if shim.described else ", false") if asks else ""
        handed = "".join(f", {n}" for n in names)
        lines.append(f"{head} {{ {common}(fortran_routines[{index}], PCLSCOPE_CALLER{more}{handed}); }}")
    return "\n".join(lines)


def shim_sources(functions, decisions, numbers):
    """fortran_shims_N.cpp, PARTS of them: together they take a compiler half a minute and a gigabyte."""
    chosen = [list(group) for _, group in
              itertools.groupby(enumerate(shims(functions, decisions)), lambda shim: shim[1].function.name)]
    begins = [len(chosen) * part // PARTS for part in range(PARTS + 1)]
    texts = []
    for begin, end in zip(begins, begins[1:]):
        lines = [HEADER, '#include "interpose/fortran/hand.hpp"', '#include "interpose/fortran/library_call.hpp"',
                 '#include "interpose/library/fortran_routines.hpp"', '#include "interpose/wrap/wrap_all.hpp"',
                 "namespace pclscope::fortran {"]
        lines += [shim_source(group, decisions[group[0][1].function.name], numbers) for group in chosen[begin:end]]
        texts.append("\n".join(lines + ["}  // namespace pclscope::fortran"]) + "\n")
    return texts


def shim_table(functions, decisions):
    """fortran_table.cpp: what library.cpp works with."""
    chosen = shims(functions, decisions)
    lines = [HEADER, '#include "interpose/library/fortran_routines.hpp"', "namespace pclscope {", "namespace fortran {"]
    lines += [f'extern "C" void {shim.name}();  // whatever its arguments' for shim in chosen]
    lines += ["}  // namespace fortran", f"void* fortran_routines[{len(chosen)}];",
              f"const int fortran_count = {len(chosen)};", "const FortranEntry fortran_entries[] = {"]
    lines += [f'  {{"{s.base}", Binding::{s.binding}, reinterpret_cast<void*>(&fortran::{s.name})}},' for s in chosen]
    return "\n".join(lines + ["};", "}  // namespace pclscope"]) + "\n"


def stub_list(functions, decisions):
    """fortran_stubs.inc for trampoline.S: the slots follow those of C; all spellings of a binding share one."""
    first = len(interposed(functions, decisions))
    lines = [HEADER.replace("//", "/*").rstrip() + " */"]
    for i, shim in enumerate(shims(functions, decisions)):
        lines.append(f"STUB {shim.spellings[0]}, {first + i}")
        lines += [f"ALIAS {name}, {shim.spellings[0]}" for name in shim.spellings[1:]]
    return "\n".join(lines) + "\n"


def unrecorded(functions, decisions):
    """The functions that C programs have recorded and Fortran programs have not."""
    return sorted(f.name for f in interposed(functions, decisions) if not has_form(f, decisions[f.name]))
