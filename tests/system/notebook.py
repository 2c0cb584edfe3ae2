"""Runs the cells of docs/python.ipynb, without Jupyter: the code cells one after the other in one namespace.

    /usr/bin/python3 -B tests/system/notebook.py run.h5       writes what they print and plot into the notebook
"""
import ast
import base64
import contextlib
import io
import json
import os
import pathlib
import sys

SOURCE = pathlib.Path(os.environ.get("PCLSCOPE_SOURCE", pathlib.Path(__file__).resolve().parents[2])).resolve()
NOTEBOOK = SOURCE / "docs" / "python.ipynb"
DPI = 60


def shown(value):
    """An output as notebooks have them."""
    data = {"text/plain": repr(value)}
    if hasattr(value, "_repr_html_"):
        data["text/html"] = value._repr_html_()  # pylint: disable=protected-access
    return {"output_type": "execute_result", "metadata": {}, "data": data}


def run_cell(code, names):
    """What it prints, plots, and the value of its last expression."""
    from matplotlib import pyplot
    tree, outputs, printed = ast.parse(code), [], io.StringIO()
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    with contextlib.redirect_stdout(printed):
        exec(compile(tree, "cell", "exec"), names)  # pylint: disable=exec-used
        value = None
        if last:
            value = eval(compile(ast.Expression(last.value), "cell", "eval"), names)  # pylint: disable=eval-used
    if printed.getvalue():
        outputs.append({"output_type": "stream", "name": "stdout", "text": printed.getvalue()})
    pictures = pyplot.get_fignums()
    for number in pictures:
        picture = io.BytesIO()
        pyplot.figure(number).savefig(picture, format="png", dpi=DPI, bbox_inches="tight", metadata={"Software": None})
        outputs.append({"output_type": "display_data", "metadata": {},
                        "data": {"image/png": base64.b64encode(picture.getvalue()).decode(), "text/plain": "<Figure>"}})
    pyplot.close("all")
    if value is not None and not pictures:
        outputs.append(shown(value))
    return outputs


def run(notebook, directory):
    """The outputs of each code cell. `directory`: has run.h5."""
    import matplotlib
    matplotlib.use("Agg")
    before, names = os.getcwd(), {"__name__": "__main__"}
    os.chdir(directory)
    try:
        return [run_cell("".join(cell["source"]), names) for cell in notebook["cells"] if cell["cell_type"] == "code"]
    finally:
        os.chdir(before)


def main(path):
    sys.path.insert(0, str(SOURCE / "analysis" / "python"))
    notebook = json.loads(NOTEBOOK.read_text())
    code = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    for number, (cell, outputs) in enumerate(zip(code, run(notebook, pathlib.Path(path).resolve().parent)), 1):
        for output in outputs:
            if output["output_type"] == "execute_result":
                output["execution_count"] = number
        cell |= {"execution_count": number, "outputs": outputs}
    NOTEBOOK.write_text(json.dumps(notebook, indent=1, ensure_ascii=True) + "\n")
    print(f"{len(code)} cells")


if __name__ == "__main__":
    main(*sys.argv[1:])
