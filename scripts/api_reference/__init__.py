"""The reference of every public module, class and function, written from the docstrings: `make docs`.

`python -m scripts.api_reference --out api` reads the sources and imports none of them, so that it needs no GPU and none
of the extras. Each package is one page; a name in backticks that is one of the project's is a link.
"""
