"""The notebooks of examples/notebooks, executed against what is installed: no cell fails, each has a figure, none holds outputs."""
import json
import os
import pathlib
import shutil
import tempfile
import unittest

import nbclient
import nbformat

os.environ["PYTHONPATH"] = os.path.abspath(os.environ.get("PYTHONPATH", "."))  # the kernels start elsewhere
FOLDER = pathlib.Path(__file__).parents[2] / "examples/notebooks"


class Notebooks(unittest.TestCase):
    def play(self, name):
        text = (FOLDER / name).read_text(encoding="utf-8")
        self.assertFalse([cell for cell in json.loads(text)["cells"] if cell.get("outputs") or cell.get("execution_count")], "outputs are committed")
        notebook = nbformat.reads(text, as_version=4)
        with tempfile.TemporaryDirectory() as folder:
            shutil.copy(FOLDER / name, folder)
            played = nbclient.NotebookClient(notebook, timeout=120, resources={"metadata": {"path": folder}}).execute()
        outputs = [output for cell in played.cells if cell.cell_type == "code" for output in cell.outputs]
        self.assertTrue(any("image/svg+xml" in output.get("data", {}) for output in outputs), "no figure")
        self.assertFalse([output for output in outputs if output.output_type == "error"])

    def test_researcher(self):
        self.play("researcher.ipynb")

    def test_analyst(self):
        self.play("analyst.ipynb")

    def test_fl_engineer(self):
        self.play("fl_engineer.ipynb")


if __name__ == "__main__":
    unittest.main()
