"""Every figure of a store says where it is from, and recordings what rests on assumptions."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner

from tests.sim.sim_worlds import document, ran, scenario
from whitecap.cli import main
from whitecap.engine.errors import InvalidInput
from whitecap.scenarios import SCENARIOS
from whitecap.sim.loading import load_scenario, scenario_of
from whitecap.sim.loading.profiles import profile_named, shipped_profiles
from whitecap.sim.scenario.figures import assumptions_of, figures_of, origins_of
from whitecap.sim.scenario.origin import Basis

PROFILES = shipped_profiles()
FITTED_CONTENTION = {"s3", "s3-dynamodb", "s3-single-driver", "catalog-managed", "s3-express"}


@pytest.mark.parametrize("profile", PROFILES)
def test_every_figure_has_a_source_a_date_and_a_basis(profile: str) -> None:
    figures = figures_of(profile_named(profile))
    assert len(figures) > 25
    for figure in figures:
        assert figure.origin.source
        assert figure.origin.basis is not Basis.GIVEN
        assert figure.origin.date or figure.origin.basis is Basis.DEFINED
        assert figure.assumption or figure.origin.basis is not Basis.ASSUMED


@pytest.mark.parametrize("profile", sorted({*PROFILES} - {"instant"}))
def test_how_commits_of_one_log_compete_is_an_assumption(profile: str) -> None:
    """A commit creates a new key, and nobody has measured how several compete for that."""
    at_key = profile_named(profile).put_if_absent.at_key
    assert at_key is not None
    assert at_key.basis is (Basis.FITTED if profile in FITTED_CONTENTION else Basis.ASSUMED)
    assert "put_if_absent.at_key" in assumptions_of(profile_named(profile))


@pytest.mark.parametrize("profile", PROFILES)
def test_every_figure_can_be_set_by_its_path(profile: str) -> None:
    """As `whitecap stores` prints it, for --set and the axes of a sweep."""
    kept = profile_named(profile)
    shown = {f.path: f.text for f in figures_of(kept)}
    changes: dict[str, Any] = {
        f"store.{figure.path}": "9 ms" for figure in figures_of(kept) if figure.distribution
    }
    changes["table.properties"] = {"delta.enableInCommitTimestamps": "true"}
    store = scenario_of(document(store=profile), changes).store
    changed = {f.path: f.text for f in figures_of(store)}
    assert changed.keys() == shown.keys()
    assert all(
        changed[path.removeprefix("store.")] == "constant 9 ms"
        for path in changes
        if path.startswith("store.")
    )


def test_what_a_scenario_sets_is_no_assumption_of_the_profile_any_more() -> None:
    origins = origins_of(scenario({"store.head.latency": "5 ms"}).store)
    assert origins["set_by_scenario"] == ["head"]
    assert "head" not in origins["assumptions"]
    assert "copy" in origins["assumptions"]


def test_what_a_scenario_sets_may_have_a_source_of_its_own() -> None:
    own = {"latency": "5 ms", "source": "our proxy", "date": "2026-01", "basis": "measured"}
    store = scenario({"store.head": own}).store
    assert store.head.basis is Basis.MEASURED
    assert origins_of(store)["set_by_scenario"] == []


@pytest.mark.parametrize("profile", ["s3", "s3-express"])
def test_that_one_layer_of_waits_stands_for_two_is_an_assumption(profile: str) -> None:
    """hadoop-aws has its own above those of the vendor's library, and hardly ever gives up."""
    said = assumptions_of(profile_named(profile))
    assert "one layer of waits stands for two" in said["client.throttle_retries"]
    assert "1 s" in said["client.backoff_base"]


def test_both_layers_of_hadoop_aws_can_be_given() -> None:
    """As the page of commit protocols has them: ten minutes of refusals are outlived."""
    page = (SCENARIOS.parent / "docs" / "commit-protocols.md").read_text(encoding="utf-8")
    (given,) = re.findall(r"```yaml\n(client:.*?)```", page, re.DOTALL)
    both = scenario({"store": {"profile": "s3", **yaml.safe_load(given)}}).store.client
    assert both.sdk is not None
    own_ms = [both.backoff_base * 2**retry / 2 for retry in range(both.throttle_retries)]
    of_sdk_ms = [both.sdk.backoff_base * 2**attempt / 2 for attempt in range(both.sdk.attempts - 1)]
    assert own_ms[0] == 200
    assert sum(of_sdk_ms) == 15_500
    assert max(own_ms) * 2 < both.backoff_cap
    assert sum(own_ms[:12]) + 12 * sum(of_sdk_ms) > 10 * 60_000


def test_an_assumption_of_one_figure_names_it() -> None:
    by_name = {figure.path: figure.assumption for figure in figures_of(profile_named("s3"))}
    assert by_name["get.latency"] == "that p5 is 15 ms"
    assert by_name["get.per_mib"] is None
    with pytest.raises(InvalidInput, match="there is no figure 'lateness' here"):
        scenario(
            {"store.head": {"latency": "5 ms", "source": "x", "assumption": {"lateness": "y"}}}
        )


def test_words_about_figures_do_not_change_what_a_scenario_is() -> None:
    plain = scenario({"store.head.latency": "5 ms"})
    cited = scenario({"store.head": {"latency": "5 ms", "source": "our proxy", "date": "2026-01"}})
    assert plain.hash == cited.hash != scenario().hash


def test_a_recording_tells_what_its_store_takes_for_granted() -> None:
    manifest = ran(store="azure", duration="2 min").recording.manifest
    assert manifest["store"]["profile"] == "azure"
    assert "each creates a new key" in manifest["store"]["assumptions"]["put_if_absent.at_key"]


# The command -----------------------------------------------------------------------------------


def _said(*arguments: str, code: int = 0) -> str:
    result = CliRunner(env={"COLUMNS": "80"}).invoke(main, ["stores", *arguments])
    assert result.exit_code == code, result.output
    return result.output


def test_the_command_lists_every_profile() -> None:
    said = _said()
    assert all(f"\n{profile} " in said for profile in PROFILES)
    assert max(map(len, said.splitlines())) <= 80


@pytest.mark.parametrize("profile", PROFILES)
def test_the_command_shows_every_figure_with_its_origin(profile: str) -> None:
    said = _said(profile)
    words = " ".join(said.split())
    for figure in figures_of(profile_named(profile)):
        assert figure.name in words
        assert " ".join(figure.origin.source.split()) in words
        assert " ".join((figure.assumption or "").split()) in words
    assert max(map(len, said.splitlines())) <= 80


def test_the_command_prints_numbers_as_json() -> None:
    figures = json.loads(_said("azure", "--json"))["figures"]
    loss = next(f for f in figures if f["path"] == "store.put_if_absent.loss.latency")
    assert loss["mean_ms"] == 278.976
    assert (loss["basis"], loss["date"]) == ("measured", "2025-06")
    assert {p["profile"] for p in json.loads(_said("--json"))["profiles"]} == {*PROFILES}


def test_the_command_knows_no_other_profile_and_names_the_nearest() -> None:
    assert "did you mean 'azure'?" in _said("azur", code=2)


# A profile of one's own ------------------------------------------------------------------------

S3 = (SCENARIOS / "stores" / "s3.yaml").read_text()


@pytest.fixture
def own(tmp_path: Path) -> Path:
    """A scenario whose store is a file beside it."""
    (tmp_path / "mine.yaml").write_text(S3.replace("20.8 ms\n", "33 ms\n", 1))
    text = json.dumps(document(store={"profile": "./mine.yaml", "head": {"latency": "5 ms"}}))
    (tmp_path / "scenario.yaml").write_text(text)
    return tmp_path


def test_a_profile_may_be_a_file_beside_the_scenario(own: Path) -> None:
    store = load_scenario(own / "scenario.yaml").store
    assert store.profile == "mine"
    assert store.put_if_absent.at_key is not None
    assert store.put_if_absent.at_key.success.mean_ms() == 33
    assert store.head.mean_ms() == 5
    assert "33 ms" in _said(str(own / "mine.yaml"))


def test_a_document_holds_the_profile_and_needs_no_file(own: Path) -> None:
    loaded = load_scenario(own / "scenario.yaml")
    (own / "mine.yaml").unlink()
    assert scenario_of(loaded.document).store == loaded.store
    assert scenario_of(loaded.document).hash == loaded.hash


def test_a_file_that_is_set_lies_where_one_works(
    own: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (own / "elsewhere").mkdir()
    (own / "elsewhere" / "other.yaml").write_text(S3)
    monkeypatch.chdir(own / "elsewhere")
    loaded = load_scenario(own / "scenario.yaml", {"store.profile": "other.yaml"})
    assert loaded.store.profile == "other"


def test_a_sweep_may_compare_files(own: Path) -> None:
    (own / "other.yaml").write_text(S3)
    axes = {"store": {name: {"store.profile": f"./{name}.yaml"} for name in ("mine", "other")}}
    text = json.dumps(document(store="s3", sweep={"axes": axes}))
    (own / "scenario.yaml").write_text(text)
    loaded = load_scenario(own / "scenario.yaml")
    (own / "other.yaml").unlink()
    assert scenario_of(loaded.document, cell={"store": "other"}).store.profile == "other"


def test_everything_wrong_with_a_file_is_told_at_its_lines(own: Path) -> None:
    wrong = S3.replace("    date: 2025-06\n", "", 1).replace("share: 0.5\n", "share: 5\n", 1)
    wrong = wrong.replace("  basis: assumed\n", "  basis: guessed\n", 1)
    (own / "mine.yaml").write_text(wrong.replace("page_size", "page_sice"))
    with pytest.raises(InvalidInput) as caught:
        load_scenario(own / "scenario.yaml", {"duration": "soon"})
    said = [str(problem) for problem in caught.value.problems]
    assert all("mine.yaml:" in line for line in said[:-1])
    for expected in (
        "put_if_absent.at_key: 'date' is missing: that of the source, such as 2025-06",
        "'guessed' is none of measured, fitted, published, assumed, defined",
        "(did you mean 'page_size'?)",
        "effect.share: must be at most 1.0, not 5",
    ):
        assert any(expected in line for line in said), said
    assert "duration" in said[-1]


@pytest.mark.parametrize(
    ("name", "expected"),
    [("./nowhere.yaml", "nowhere.yaml: cannot be read"), ("azzure", "did you mean 'azure'?")],
)
def test_a_profile_that_is_not_there_is_told(own: Path, name: str, expected: str) -> None:
    with pytest.raises(InvalidInput, match=expected.replace("?", r"\?")):
        load_scenario(own / "scenario.yaml", {"store.profile": name})


def test_a_scenario_is_no_profile_and_is_told_so_in_one_line() -> None:
    with pytest.raises(InvalidInput) as caught:
        profile_named(str(SCENARIOS / "events.yaml"))
    (problem,) = caught.value.problems
    assert problem.text == "is a scenario, not a store profile: its own is under `store:`"
