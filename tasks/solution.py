"""The official solution file: code, its language, and how it is called and built."""

from enum import StrEnum
from pathlib import PurePosixPath
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from tasks.definition import NonEmpty
from tasks.errors import FieldFault
from tasks.value import OfficialModel


class Language(StrEnum):
    PYTORCH = "pytorch"
    TRITON = "triton"
    CUTE_DSL = "cute_dsl"
    CUTILE = "cutile"
    CUDNN_FRONTEND = "cudnn_frontend"
    CUTLASS = "cutlass"
    CUDNN = "cudnn"
    CUBLAS = "cublas"
    CUDA_CPP = "cuda_cpp"

    @property
    def is_cpp(self) -> bool:
        """Compiled by the C++/CUDA tool chain; the others are imported as Python."""
        return self in (Language.CUTLASS, Language.CUDNN, Language.CUBLAS, Language.CUDA_CPP)


class Hardware(StrEnum):
    B200 = "B200"
    LOCAL = "LOCAL"


_CPP_SUFFIXES = (".cu", ".cpp", ".cc", ".cxx", ".c", ".h", ".hpp", ".cuh")


class SourceFile(OfficialModel):
    path: NonEmpty
    content: NonEmpty

    @model_validator(mode="after")
    def _stays_inside(self) -> Self:
        path = PurePosixPath(self.path)
        if path.is_absolute() or ".." in path.parts:
            raise FieldFault(
                "path", f"{self.path!r} leaves the solution's folder", "use a relative path without `..`"
            )
        return self


class CompileOptions(OfficialModel):
    """Beware: an empty object switches `--use_fast_math` on, and naming ld_flags drops `-lcuda`."""

    cflags: tuple[str, ...] = ()
    cuda_cflags: tuple[str, ...] = ("-O3", "--use_fast_math")
    ld_flags: tuple[str, ...] = ("-lcuda",)


class BuildSpec(OfficialModel):
    languages: tuple[Language, ...]
    target_hardware: Annotated[tuple[Hardware, ...], Field(min_length=1)]
    entry_point: NonEmpty
    """`file::function`."""
    dependencies: tuple[NonEmpty, ...] = ()
    destination_passing_style: bool = True
    """True: `run(*inputs, *outputs)` fills the outputs. False: `run(*inputs)` returns them."""
    binding: Literal["torch"] | None = None
    compile_options: CompileOptions | None = None

    @property
    def entry_file(self) -> str:
        return self.entry_point.split("::")[0]

    @property
    def entry_function(self) -> str:
        return self.entry_point.split("::")[1]

    @property
    def is_cpp(self) -> bool:
        return any(language.is_cpp for language in self.languages)

    @model_validator(mode="after")
    def _entry_point_fits_the_languages(self) -> Self:
        if self.entry_point.count("::") != 1:
            raise FieldFault(
                "entry_point", f"{self.entry_point!r} is not `file::function`", "write it like `main.py::run`"
            )
        cpp = [str(language) for language in self.languages if language.is_cpp]
        python = [str(language) for language in self.languages if not language.is_cpp]
        if cpp and python:
            raise FieldFault("languages", f"mix C++ {cpp} and Python {python}", "keep one of the two kinds")
        suffix = PurePosixPath(self.entry_file).suffix
        if (cpp and suffix not in _CPP_SUFFIXES) or (python and suffix != ".py"):
            wanted = "a C++ or CUDA file" if cpp else "a .py file"
            raise FieldFault(
                "entry_point",
                f"{self.entry_file!r} does not fit the languages {cpp or python}",
                f"name {wanted} or change the languages",
            )
        return self


class Solution(OfficialModel):
    """Field order is the official one, and the order that is written."""

    name: NonEmpty
    definition: NonEmpty
    author: NonEmpty
    spec: BuildSpec
    sources: Annotated[tuple[SourceFile, ...], Field(min_length=1)]
    description: str | None = None

    @model_validator(mode="after")
    def _sources_are_unique_and_hold_the_entry(self) -> Self:
        paths = [source.path for source in self.sources]
        doubled = sorted({path for path in paths if paths.count(path) > 1})
        if doubled:
            raise FieldFault("sources", f"the paths {doubled} occur twice", "give each file its own path")
        if self.spec.entry_file not in paths:
            raise FieldFault(
                "spec.entry_point",
                f"file {self.spec.entry_file!r} is not among the sources {paths}",
                "add the file, or name one that is there",
            )
        return self
