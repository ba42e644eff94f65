"""Rules for convolutions and group norms over traced programs: what they match, what not, and that numbers agree."""

from pathlib import Path

import pytest
import torch

from agents.rewrite.agent import RewriteAgent
from tasks.task import Task
from tests.agents.interpreted import run_interpreted
from tests.agents.ruled import elsewhere, outputs_of, ruled, task_of
from tests.agents.small import draw, expected

TIME = {
    "x": (["batch", "length", "dim"], "float32"),
    "w": (["dim", "taps"], "float32"),
    "b": (["dim"], "float32"),
}
SEQUENCE = {"y": (["batch", "length", "dim"], "float32")}
CAUSAL = (
    "xt = F.pad(x.transpose(1, 2), (w.shape[1] - 1, 0))\n"
    "y = F.conv1d(xt, w.unsqueeze(1), b, groups=xt.shape[1])\nreturn F.silu(y).transpose(1, 2).contiguous()"
)
CUT = (
    "y = F.conv1d(x.transpose(1, 2), w.unsqueeze(1), None, padding=w.shape[1] - 1, groups=x.shape[2])\n"
    "return F.silu(y[..., : x.shape[1]] + b[:, None]).transpose(1, 2).contiguous()"
)
IMAGE = ["batch", "channels", "height", "width"]
NORMED = "return F.conv2d(F.silu(F.group_norm(x, 2, g, b, 1e-6)), k, padding=1) + x"


def _sequence(body: str) -> Task:
    return task_of(body, TIME, SEQUENCE, {"batch": 2, "length": 5}, {"dim": 6, "taps": 4})


def _image(body: str, dtype: str = "float32") -> Task:
    inputs = {
        "x": (IMAGE, dtype), "g": (["channels"], dtype), "b": (["channels"], dtype),
        "k": (["channels", "channels", "three", "three"], dtype),
    }  # fmt: skip
    axes = {"batch": 2, "height": 4, "width": 6}
    return task_of(body, inputs, {"y": (IMAGE, dtype)}, axes, {"channels": 8, "three": 3})


SPELLINGS = {
    "depthwise_taps": (_sequence(CAUSAL), _sequence(CUT)),
    "channels_last": (_image(NORMED), _image("return F.conv2d(x, k, padding=1)")),
    "group_norm_by_parts": (_image(NORMED), _image("return F.group_norm(x, 4)")),
}
GONE = {"depthwise_taps": "conv1d", "channels_last": "conv2d(x,", "group_norm_by_parts": "group_norm."}


@pytest.mark.parametrize(("rule", "number"), [(rule, n) for rule in SPELLINGS for n in (0, 1)])
def test_a_rule_leaves_what_the_reference_computes(rule: str, number: int) -> None:
    task = SPELLINGS[rule][number]
    source = ruled(task, rule)
    assert source is not None and GONE[rule] not in source
    more = {"batch": 3, **({"height": 7, "width": 3} if rule != "depthwise_taps" else {"length": 9})}
    for other, seed in ((task, 0), (elsewhere(task, more), 1)):
        inputs = draw(other, seed)
        found = outputs_of(source, inputs)
        torch.testing.assert_close(found, expected(other, inputs), rtol=1e-4, atol=2e-5)
        assert found[0].is_contiguous() or rule != "channels_last"


@pytest.mark.parametrize("task", [_sequence(CAUSAL), _image(NORMED)], ids=["causal", "normed"])
def test_what_stands_around_a_convolution_is_fused(task: Task, tmp_path: Path) -> None:
    candidate = RewriteAgent(task, 0).ask()
    assert candidate is not None and " after the rules " in candidate.strategy
    source = candidate.solution.sources[0].content
    assert "F.silu" not in source and "group_norm(" not in source
    (tmp_path / "candidate.py").write_text(source)
    inputs = draw(task)
    done = run_interpreted([(tmp_path / "candidate.py", [(list(inputs.values()), [])])], tmp_path)
    torch.testing.assert_close(done[0][0], expected(task, inputs), rtol=1e-4, atol=2e-5)


REFUSED = {
    "full": CAUSAL.replace("w.unsqueeze(1), b, groups=xt.shape[1]", "w[:, None].expand(-1, 6, -1), b"),
    "stride": CAUSAL.replace("b, groups", "b, stride=2, groups").replace(
        "(y)", "(y.repeat(1, 1, 2)[..., :5])"
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_other_convolutions_over_time_are_left_to_the_library(name: str) -> None:
    assert ruled(_sequence(REFUSED[name]), "depthwise_taps") is None


def test_grouped_convolutions_and_layer_norms_are_left_alone() -> None:
    task = _image("return F.layer_norm(F.conv2d(x, k[:, :1], padding=1, groups=8), x.shape[-1:])")
    assert ruled(task, "channels_last") is None and ruled(task, "group_norm_by_parts") is None
