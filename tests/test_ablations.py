"""The page of ablations is what its results say, and each result is of the plan that was declared."""

from pathlib import Path

from pipeline.ablation.plan import read_plan
from pipeline.ablation.result import Result
from pipeline.ablation.running import _compared

FOLDER = Path(__file__).parents[1] / "docs" / "results" / "ablations"
PLANS = sorted(FOLDER.glob("*.yaml"))


def test_the_page_shows_the_results_and_they_are_of_their_plans() -> None:
    page = (FOLDER / "ablations.md").read_text()
    assert len(PLANS) >= 3
    for file in PLANS:
        result = Result.model_validate_json(file.with_suffix(".json").read_bytes())
        declared = read_plan(file)
        assert result.page in page
        assert result.plan.contrasts == declared.contrasts and result.plan.seeds == declared.seeds
        assert _compared(result.plan, result.needed) == result.compared
