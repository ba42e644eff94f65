"""The command line: light to start, JSON alone on stdout, codes that mean something."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

import guard.judge
import guard.session
import pipeline.prepare
from guard.errors import GuardBroken
from pipeline.cli import main
from pipeline.settings import PREFIX
from tasks.solution_file import write_solution
from tests.fakes.judge import fake_judge
from tests.fakes.task import candidate, doubling_task

ROOT = Path(__file__).parents[2]
HEAVY = ("torch", "numpy", "scipy", "optuna", "triton", "pynvml", "cupy", "pyarrow")
COMMANDS = (
    "tasks", "show", "lint", "evaluate", "search", "resume", "submit", "verify", "doctor", "data",
    "score", "snapshot", "reproduce", "regress", "desk", "ingest", "query", "compare", "audit", "guard",
)  # fmt: skip


class NoSession:
    """Holds nothing."""

    def __init__(self, *_: object, **__: object) -> None: ...
    def __enter__(self) -> "NoSession":
        return self

    def __exit__(self, *_: object) -> None: ...
    def begin(self) -> None: ...


@pytest.fixture
def problem(tmp_path, monkeypatch) -> Path:
    """A problem's folder, a fake guard over it, and a working directory of its own."""
    task = doubling_task()
    folder = tmp_path / "doubling"
    folder.mkdir()
    (folder / "definition.json").write_text(task.definition.model_dump_json())
    lines = "".join(workload.model_dump_json() + "\n" for workload in task.workloads)
    (folder / "workload.jsonl").write_text(lines)
    monkeypatch.chdir(tmp_path)
    for variable in list(__import__("os").environ):
        if variable.startswith(PREFIX):
            monkeypatch.delenv(variable)
    monkeypatch.setattr(guard.session, "Session", NoSession)
    monkeypatch.setattr(
        guard.judge, "judge",
        lambda task, candidate, protocol, session, progress=None: fake_judge(task, candidate, protocol),
    )  # fmt: skip
    monkeypatch.setattr(pipeline.prepare, "cpu_share", lambda task, *_: task)
    return folder


def solution_file(folder: Path, behaviour: str, definition: str = "doubling") -> Path:
    solution = candidate(behaviour).solution.model_copy(update={"definition": definition})
    file = folder.parent / "solution.json"
    file.write_text(write_solution(solution))
    return file


def run(*arguments: object):
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


@pytest.mark.parametrize("line", [["--help"], *([command, "--help"] for command in COMMANDS)])
def test_help_imports_nothing_heavy_and_shows_an_example(line):
    audit = (
        "import sys\nfrom pipeline.cli import main\n"
        f"try: main({line!r})\nexcept SystemExit as left: code = left.code\n"
        f"sys.exit(repr([m for m in {HEAVY!r} if m in sys.modules]) if code == 0 else code)"
    )
    done = subprocess.run([sys.executable, "-c", audit], cwd=ROOT, capture_output=True, text=True)
    assert done.stderr.strip() == "[]"
    assert line == ["--help"] or f"kernelarc {line[0]}" in done.stdout


def test_it_runs_as_a_module_where_nothing_is_installed(tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "pipeline", "tasks", "--json"], cwd=ROOT, capture_output=True, text=True
    )
    listed = json.loads(done.stdout)
    assert {"name": "l2_decoder", "subset": "L2", "source": "shipped"}.items() <= {
        key: value for task in listed if task["name"] == "l2_decoder" for key, value in task.items()
    }.items()
    assert set(listed[0]) == {"name", "subset", "source", "workloads"}


def test_show_resolves_every_axis(problem):
    shown = json.loads(run("show", problem, "--json").stdout)
    assert [workload["axes"] for workload in shown["workloads"]] == [{"n": 4}, {"n": 8}]
    assert shown["definition"]["name"] == "doubling"
    assert isinstance(shown["findings"], list)


def test_an_accepted_solution_exits_0_and_says_what_was_found(problem):
    result = run(
        "evaluate", problem, "--device", "cpu", "--solution", solution_file(problem, "accepted 2"), "--json"
    )
    said = json.loads(result.stdout)
    assert result.exit_code == 0
    assert (said["status"], said["reason"]) == ("accepted", None)
    assert set(said) >= {"status", "reason", "task", "solution_digest", "workloads", "environment"}
    assert said["workloads"][0] == {
        "uuid": "workload-4", "axes": {"n": 4}, "status": "PASSED", "max_absolute_error": 0.0,
        "max_relative_error": 0.0, "latency_ms": 2.0, "timer": "wall", "busy_ms": None, "flags": [],
    }  # fmt: skip


def test_a_rejected_solution_exits_1_with_its_reason(problem):
    file = solution_file(problem, "rejected mutation")
    result = run("evaluate", problem, "--device", "cpu", "--solution", file, "--json")
    assert result.exit_code == 1
    assert json.loads(result.stdout)["reason"]["code"] == "mutation"


def test_a_solution_for_another_definition_is_bad_input(problem):
    file = solution_file(problem, "accepted 1", definition="tripling")
    result = run("evaluate", problem, "--device", "cpu", "--solution", file)
    assert result.exit_code == 2
    assert "definition" in result.stderr and "tripling" in result.stderr


def test_a_broken_guard_exits_3_and_blames_nobody(problem):
    file = solution_file(problem, "broken")
    result = run("evaluate", problem, "--device", "cpu", "--solution", file)
    assert result.exit_code == 3
    assert result.stdout == "" and "no judgement was possible" in result.stderr


def test_traces_are_official_lines(problem, tmp_path):
    from tasks.trace_file import read_traces

    file = solution_file(problem, "accepted 2")
    run("evaluate", problem, "--device", "cpu", "--solution", file, "--traces", tmp_path / "t.jsonl")
    traces = read_traces(tmp_path / "t.jsonl")
    assert [trace.evaluation.performance.latency_ms for trace in traces] == [2.0, 2.0]


def test_a_gpu_that_is_not_there_is_the_machines_fault(problem, monkeypatch):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    result = run("evaluate", problem, "--device", "cuda")
    assert result.exit_code == 3
    assert "CUDA_VISIBLE_DEVICES hides them" in result.stderr


def test_a_misspelt_setting_in_a_file_is_bad_input(problem):
    Path("kernelarc.toml").write_text("buget = 3\n")
    result = run("evaluate", problem)
    assert result.exit_code == 2
    assert "perhaps budget" in result.stderr


def test_an_unknown_agent_is_bad_input_and_the_agents_are_named(problem):
    result = run("search", problem, "--device", "cpu", "--agents", "oracle")
    assert result.exit_code == 2
    assert "reference" in result.stderr


def test_verify_names_what_does_not_hold_and_exits_1(problem, tmp_path):
    (tmp_path / "half").mkdir()
    (tmp_path / "half" / "evidence.json").write_text("{}")
    result = run("verify", tmp_path / "half", "--json")
    assert result.exit_code == 1
    assert json.loads(result.stdout)["discrepancies"]


def test_bad_input_is_one_line_before_anything_is_prepared(problem, tmp_path, monkeypatch):
    """Nothing is said of shrinking, and no folder of a run is left, where a file that was named cannot be used."""
    monkeypatch.setattr(pipeline.prepare, "cpu_share", lambda task: task.model_copy(update={"workloads": ()}))
    (tmp_path / "folder").mkdir()
    (tmp_path / "plain").write_text("words")
    lines = (
        (("evaluate", problem, "--solution", "nowhere.json"), "nowhere.json: does not exist"),
        (("evaluate", problem, "--solution", "folder"), "folder: is a folder without solution.json"),
        (("compare", problem, "nowhere.json", "reference"), "nowhere.json: does not exist"),
        (("search", problem, "--warm-start", "nowhere"), "nowhere `--warm-start`: cannot be read"),
        (("search", problem, "--runs", "plain"), "plain `--runs`: cannot be written to"),
        (("submit", problem, "--out", "plain"), "plain `--out`: cannot be written to"),
        (("tasks", "--data", "plain"), "plain `--data`: is neither a folder nor a parquet file"),
        (("verify", "folder"), "folder: holds nothing of a submission"),
        (("search", problem, "--warm-start", "folder"), "folder `--warm-start`: holds no landscape"),
        (("search", problem, "--warm-start", "pipe"), "pipe `--warm-start`: cannot be read (it is no file)"),
        (("search", problem, "--warm-start", "old"), "old/journal.jsonl `line 1: command`: is no header"),
        (("replay", "old"), "old/journal.jsonl `line 1: command`: is no header"),
        (("resume", "old"), "old/journal.jsonl `line 1: command`: is no header"),
        (("search", problem, "--model-command", '"a'), "`--model-command`: should be a command as a shell"),
        (("search", problem, "--model-command", "/no/such"), "`--model-command`: '/no/such' is no program"),
        (
            ("compare", problem, "reference", "reference", "--lock-clocks", "fast"),
            "`--lock-clocks`: no clocks",
        ),
        (
            ("compare", problem, "reference", "reference", "--out", "folder"),
            "folder `--out`: is no place for",
        ),
        (("doctor", "--data", "nowhere"), "nowhere `--data`: does not exist"),
        (("conclusions", "--runs", "plain"), "plain `--runs`: is no folder"),
        (("conclusions", "--blackboard", ""), "`--blackboard`: names nothing"),
        (("board", "--submissions", "plain"), "plain `--submissions`: is no folder"),
        (("worker", "nonsense"), "`SCHEDULER`: 'tcp://nonsense' is no scheduler"),
        (("ingest", "plain"), "plain: is neither a folder nor a .json or .jsonl file"),
        (("guard", "merge", "pipe"), "pipe: cannot be read (it is no file)"),
        (("desk", "drift", "--ledger", "bytes"), "bytes: is not UTF-8 at byte 0"),
        (("ablate", "plan.yaml"), "plan.yaml `line 1`: is not valid YAML: expected"),
        (("sol", "l1_rmsnorm", "--hardware", "plan.yaml"), "plan.yaml `line 1`: is not valid YAML: expected"),
    )
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "old").mkdir()
    (tmp_path / "old" / "journal.jsonl").write_text('{"version": 1}\n')
    (tmp_path / "bytes").write_bytes(b"\xff\n")
    (tmp_path / "plan.yaml").write_text("a: [1")
    for line, says in lines:
        judging = line[0] in ("evaluate", "search", "submit", "compare")
        result = run(*line, *(("--device", "cpu") if judging else ()))
        assert (result.exit_code, result.stdout) == (2, ""), result.stderr
        (sentence,) = result.stderr.splitlines()
        assert sentence.startswith(f"kernelarc: {says}") and "; " in sentence
    assert not (tmp_path / "runs").exists()


@pytest.mark.parametrize(
    ("field", "value"),
    [("max_atol", -1), ("max_rtol", -0.1), ("required_matched_ratio", -1), ("max_error_cap", -1)],
)
def test_a_tolerance_below_zero_loads_and_is_refused_by_name_when_it_should_judge(problem, field, value):
    file = problem / "workload.jsonl"
    second = json.loads(file.read_text().splitlines()[1])
    second["tolerance"][field] = value
    file.write_text(file.read_text().splitlines()[0] + "\n" + json.dumps(second) + "\n")
    assert run("show", problem).exit_code == 0 and run("lint", problem).exit_code == 0
    for command in ("evaluate", "search", "submit"):
        result = run(command, problem, "--device", "cpu")
        assert result.exit_code == 2
        assert f"workload.jsonl `line 2: tolerance.{field}`: is {value}" in result.stderr
        assert result.stderr.endswith("; give at least 0\n")


def test_a_task_without_outputs_loads_and_is_refused_when_it_should_judge(problem):
    file = problem / "definition.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), "outputs": {}}))
    assert run("show", problem).exit_code == 0
    result = run("evaluate", problem, "--device", "cpu")
    assert result.exit_code == 2 and "definition.json `outputs`: is empty" in result.stderr


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (("--agents", ""), "`--agents`: names no agent; name some of reference, compile, library"),
        (("--agents", ","), "`--agents`: names no agent; name some of"),
        (("--model", "m", "--base-url", "not a url"), "`--base-url`: should be http://"),
        (("--model", "m", "--base-url", "ftp://host/v1"), "`--base-url`: should be http://"),
        (("--model", "m", "--base-url", "localhost:8000"), "`--base-url`: should be http://"),
        (("--model", "m", "--base-url", "http://host:99999999"), "`--base-url`: should be http://"),
        (("--model", "m", "--agents", "reference"), "`--model`: is of a language model, which is not among"),
        (("--base-url", "http://host/v1"), "`--base-url`: is of a language model, and none is named"),
        (("--price-in", "3"), "`--price-in`: is of a language model, and none is named"),
        (("--model", ""), "`--model`: something should stand there"),
        (("--runs", ""), "`--runs`: something should stand there"),
        (("--patience", "-1"), "not -1; the default is to go on to the budget's end"),
        (("--memory", "top:x"), "`--memory`: should be none, fifo"),
    ],
)
def test_an_option_that_would_be_dropped_or_fail_later_is_bad_input(problem, tmp_path, options, says):
    for command in ("search", "submit"):
        result = run(command, problem, "--device", "cpu", *options)
        assert result.exit_code == 2 and says in result.stderr, result.stderr
    assert not (tmp_path / "runs").exists()


def test_resuming_what_is_no_run_is_bad_input(problem, tmp_path):
    assert run("resume", tmp_path).exit_code == 2


def test_ctrl_c_leaves_a_run_that_resumes_to_the_end(problem, monkeypatch):
    judged = []

    def stopped(task, candidate, protocol, session, progress=None):
        judged.append(candidate.digest)
        if len(judged) == 2:
            raise KeyboardInterrupt
        return fake_judge(task, candidate, protocol)

    monkeypatch.setattr(guard.judge, "judge", stopped)
    monkeypatch.setattr(pipeline.judging, "cross_compiler", lambda *_: lambda candidate, targets: ((), None))
    result = run("search", problem, "--device", "cpu", "--budget", 2)
    assert result.exit_code == 130
    again = result.stderr.split("`")[1].split()
    assert again[:2] == ["kernelarc", "resume"]
    result = run(*again[1:], "--json")
    assert result.exit_code == 0
    assert len(judged) == 3
    assert len(json.loads(result.stdout)["accepted"]) == 2


def test_a_guard_that_breaks_in_a_search_exits_3_and_says_the_way_on(problem, monkeypatch):
    def broken(*_: object) -> None:
        raise GuardBroken("the driver hangs")

    monkeypatch.setattr(guard.judge, "judge", broken)
    result = run("search", problem, "--device", "cpu", "--budget", 3)
    assert result.exit_code == 3
    assert "kernelarc resume runs/" in result.stderr


def test_the_doctor_finds_this_machines_memory_and_sandbox(problem):
    found = {finding["name"]: finding for finding in json.loads(run("doctor", "--json").stdout)}
    assert found["memory"]["found"].endswith("free")
    assert found["sandbox"]["state"] in ("has", "lacks")
    assert all(finding["cost"] for finding in found.values() if finding["state"] == "lacks")


@pytest.mark.parametrize("line", [[], ["data"]])
def test_a_bare_command_shows_its_help_as_it_is(line):
    """Not as one squeezed sentence; and nothing was asked, so the code says bad input."""
    done = run(*line)
    assert done.exit_code == 2 and "\nCommands:\n  " in done.stderr and "kernelarc: Usage" not in done.stderr


def test_a_wrong_budget_names_what_it_would_be_by_itself(problem):
    done = run("search", problem, "--budget", "0")
    assert done.exit_code == 2 and "the default is 8 on a CPU and 60 on a GPU" in done.stderr


def test_lint_takes_a_tasks_name_and_says_what_is_nearest_to_a_wrong_one():
    found = run("lint", "l1_rmsnorm")
    assert found.exit_code == 0 and "[no-error-cap]" in found.stdout
    wrong = run("lint", "l1_rmsnor")
    assert wrong.exit_code == 2 and "did you mean l1_rmsnorm" in wrong.stderr
    missing = run("lint", "nowhere.json")
    assert missing.exit_code == 2 and "nowhere.json: does not exist" in missing.stderr
