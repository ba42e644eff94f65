"""Settings: four layers, read once, every fault named with file, key and mend."""

import os
from pathlib import Path

import pytest

from pipeline.settings import Settings, read_settings
from tasks.errors import TaskError


def test_without_anything_the_defaults_hold(tmp_path):
    assert read_settings({}, {}, tmp_path) == Settings()
    assert (Settings().budget_on("cpu"), Settings().budget_on("cuda")) == (8, 60)


def test_the_command_line_beats_the_environment_beats_the_file(tmp_path):
    (tmp_path / "kernelarc.toml").write_text('seed = 1\nbudget = 1\nprecision = "strict"\n')
    settings = read_settings({"seed": 3}, {"KERNELARC_SEED": "2", "KERNELARC_BUDGET": "2"}, tmp_path)
    assert (settings.seed, settings.budget, settings.precision) == (3, 2, "strict")


def test_an_option_that_was_not_given_covers_nothing(tmp_path):
    assert read_settings({"seed": None}, {"KERNELARC_SEED": "2"}, tmp_path).seed == 2


def test_yaml_says_the_same_as_toml(tmp_path):
    (tmp_path / "kernelarc.yaml").write_text("agents: [library, template]\nhost_memory_gib: 4\n")
    settings = read_settings({}, {}, tmp_path)
    assert (settings.agents, settings.host_memory_gib) == (("library", "template"), 4.0)


def test_lists_may_be_written_as_one_text(tmp_path):
    settings = read_settings({"agents": "a, b"}, {"KERNELARC_DATA": "/x:/y"}, tmp_path)
    assert (settings.agents, settings.data) == (("a", "b"), (Path("/x"), Path("/y")))


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("buget: 3\n", "`buget`: no such setting; perhaps budget"),
        ("budget: 0\n", "`budget`: input should be greater than or equal to 1, not 0"),
        ("budget: many\n", "`budget`: input should be a valid integer"),
        ("evaluation_limit_s: .nan\n", "`evaluation_limit_s`"),
        ("precision: sloppy\n", "`precision`: input should be 'strict', 'reference' or 'tolerance'"),
        ("[1, 2]\n", "holds no keys"),
        ("a: [1\n", "`line 2`: is not valid YAML: expected ',' or ']'"),
        ("device: cpu\nruns: [a\nx: }\n", "`line 3`: is not valid YAML"),
        ("seed: " + "9" * 5000, "is not valid YAML: exceeds the limit"),
        ("runs: 2026-02-31\n", "is not valid YAML"),
        ("budget: true\n", "`budget`: no setting is a yes or a no, not true"),
        ("host_memory_gib: yes\n", "`host_memory_gib`: no setting is a yes or a no"),
        ("seed: false\n", "`seed`: no setting is a yes or a no, not false"),
        ("agents: []\n", "`agents`: names no agent"),
        ("agents: 3\n", "`agents`: input should be a valid tuple"),
        ("base_url: ftp://host\n", "`base_url`: should be http://"),
        ("memory: top:x\n", "`memory`: should be none"),
        ("patience: 0\n", "the default is to go on to the budget's end"),
    ],
)
def test_a_fault_in_the_file_is_one_sentence_with_file_and_key(tmp_path, text, says):
    (tmp_path / "kernelarc.yaml").write_text(text)
    with pytest.raises(TaskError) as caught:
        read_settings({}, {}, tmp_path)
    assert str(tmp_path / "kernelarc.yaml") in str(caught.value)
    assert says in str(caught.value)


@pytest.mark.parametrize("field", [name for name in Settings.model_fields])
def test_no_setting_takes_a_yes_for_a_value(tmp_path, field):
    (tmp_path / "kernelarc.toml").write_text(f"{field} = true\n")
    with pytest.raises(TaskError, match=f"kernelarc.toml `{field}`"):
        read_settings({}, {}, tmp_path)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("seed 1\n", "`line 1`: is not valid TOML: expected '='"),
        ("seed = 1\nruns = [", "`last line`: is not valid TOML"),
        ("seed = " + "9" * 5000, "is not valid TOML: exceeds the limit"),
    ],
)
def test_a_toml_file_that_does_not_parse_is_named_with_its_line(tmp_path, text, says):
    (tmp_path / "kernelarc.toml").write_text(text)
    with pytest.raises(TaskError) as caught:
        read_settings({}, {}, tmp_path)
    assert says in str(caught.value) and caught.value.mend


def test_a_model_in_a_file_is_for_the_runs_that_let_it_take_part(tmp_path):
    (tmp_path / "kernelarc.toml").write_text('model = "m"\nbase_url = "http://h/v1"\n')
    assert read_settings({"agents": "reference"}, {}, tmp_path).agents == ("reference",)


def test_a_fault_in_the_environment_names_the_variable(tmp_path):
    with pytest.raises(TaskError, match=r"environment `KERNELARC_BUDGET`.*valid integer"):
        read_settings({}, {"KERNELARC_BUDGET": "lots"}, tmp_path)


def test_a_misspelt_variable_is_named_and_a_foreign_one_is_left_alone(tmp_path):
    with pytest.raises(TaskError, match=r"KERNELARC_BUGDET.*perhaps KERNELARC_BUDGET"):
        read_settings({}, {"KERNELARC_BUGDET": "3"}, tmp_path)
    assert read_settings({}, {"KERNELARC_HOME_PAGE": "x"}, tmp_path) == Settings()


def test_a_fault_on_the_command_line_names_the_option(tmp_path):
    with pytest.raises(TaskError, match="`--seed`: input should be greater than or equal to 0"):
        read_settings({"seed": -1}, {}, tmp_path)


def test_two_settings_files_are_one_too_many(tmp_path):
    (tmp_path / "kernelarc.toml").write_text("seed = 1\n")
    (tmp_path / "kernelarc.yaml").write_text("seed: 2\n")
    with pytest.raises(TaskError, match="keep one"):
        read_settings({}, {}, tmp_path)


def test_a_settings_file_that_is_a_folder_is_bad_input(tmp_path):
    (tmp_path / "kernelarc.toml").mkdir()
    with pytest.raises(TaskError, match="cannot be read"):
        read_settings({}, {}, tmp_path)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[" * 5000, "nests too deeply"),
        ('runs: "\\0"', "no path holds a zero byte"),
        ('data: [a, "b\\0"]', "no path holds a zero byte"),
    ],
)
def test_a_hostile_file_is_one_sentence_too(tmp_path, text, says):
    (tmp_path / "kernelarc.yaml").write_text(text)
    with pytest.raises(TaskError, match=says):
        read_settings({}, {}, tmp_path)


def test_a_settings_file_that_is_a_pipe_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "kernelarc.toml")
    with pytest.raises(TaskError, match="it is no file"):
        read_settings({}, {}, tmp_path)
