import json
from pathlib import Path

from tiled.product import tiled_product

SETTINGS = json.loads((Path(__file__).parent / "tiles.json").read_text())


def run(A, B):
    return tiled_product(A, B, SETTINGS["rows"])
