"""The command line of `python -m scripts.api_reference`."""

from collections.abc import Sequence
from pathlib import Path

import click
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from scripts.api_reference import __doc__ as about
from scripts.api_reference.links import Links
from scripts.api_reference.reading import PACKAGES, Package, read_package


@click.command(help=about)
@click.option(
    "--out", type=click.Path(path_type=Path, file_okay=False), default=Path("api"), show_default=True
)
def main(out: Path) -> None:
    packages = [read_package(name) for name in PACKAGES]
    write_pages(packages, out)
    modules = sum(len(package.modules) for package in packages)
    click.echo(f"{out / 'index.html'}: {modules} modules of {len(packages)} packages")


def write_pages(packages: Sequence[Package], out: Path) -> None:
    """A page for each package, and one that lists them."""
    # braces of the style sheet stay apart from the template's, and sources hold no HTML that is meant as such
    shelf = Environment(
        loader=FileSystemLoader(Path(__file__).parent), autoescape=True, undefined=StrictUndefined
    )
    template = shelf.get_template("page.html.j2")
    shared = {"links": Links(packages), "packages": [package.name for package in packages], "all": packages}
    out.mkdir(parents=True, exist_ok=True)
    (out / "index.html").write_text(template.render(title="API reference", package=None, **shared))
    for package in packages:
        (out / f"{package.name}.html").write_text(
            template.render(title=package.name, package=package, **shared)
        )
