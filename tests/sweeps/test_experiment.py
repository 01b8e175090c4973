"""A sweep as data: axes, cells, names, and a directory that remembers what it is for."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from tests.refusals import require_each_once, require_refused
from tests.sweeps.sweep_scenario import SCENARIO, write_scenario
from whitecap.cli import main
from whitecap.engine.errors import InvalidInput
from whitecap.sim.loading import load_scenario
from whitecap.sim.recording.dataset.local import LocalPlace
from whitecap.sim.scenario.cells import cell_name
from whitecap.sim.sweeps.experiment import load_experiment
from whitecap.sim.sweeps.opening import open_place


def test_cells_are_every_combination_in_the_files_order(tmp_path: Path) -> None:
    experiment = load_experiment(write_scenario(tmp_path))
    assert [cell.name for cell in experiment.cells] == [
        "unpartitioned__Serializable", "unpartitioned__WriteSerializable",
        "by-date__Serializable", "by-date__WriteSerializable",
    ]  # fmt: skip
    table = experiment.cells[1].scenario.table
    assert table is not None
    assert table.partition_by == []
    assert table.isolation == "WriteSerializable"


def test_replication_r_has_the_same_seed_in_every_cell(tmp_path: Path) -> None:
    experiment = load_experiment(write_scenario(tmp_path), seed=77, replications=3)
    runs = list(experiment.runs("out"))
    assert {(run.replication, run.seed) for run in runs} == {(0, 77), (1, 77), (2, 77)}
    assert [run.replication for run in runs[:5]] == [0, 0, 0, 0, 1]


def test_quick_axes_are_added_and_own_axes_can_be_left_out(tmp_path: Path) -> None:
    experiment = load_experiment(
        write_scenario(tmp_path),
        quick_axes={"writers.corrector.count": [1, 4], "table.partition_by": [[], ["date"]]},
        only={"isolation": ["Serializable"]},
    )
    assert [cell.name for cell in experiment.cells] == [
        "Serializable__1__none", "Serializable__1__date",
        "Serializable__4__none", "Serializable__4__date",
    ]  # fmt: skip
    last = experiment.cells[-1].scenario
    assert last.writers["corrector"].count == 4
    assert last.table is not None
    assert last.table.partition_by == ["date"]


def test_a_label_may_be_given_as_the_number_that_it_is() -> None:
    experiment = load_experiment(Path("scenarios/events.yaml"), only={"writers": [12]})
    assert experiment.axes.keys() == {"writers"}
    assert [cell.name for cell in experiment.cells] == ["12"]


@pytest.mark.parametrize(
    ("only", "message"),
    [
        ({"isolaton": []}, "no axis 'isolaton'.*did you mean 'isolation'"),
        ({"isolation": ["Serialisable"]}, "axis 'isolation': there is no label 'Serialisable'"),
    ],
)
def test_an_axis_or_label_that_is_not_there_is_refused(
    tmp_path: Path, only: dict[str, list[str]], message: str
) -> None:
    with pytest.raises(InvalidInput, match=message):
        load_experiment(write_scenario(tmp_path), only=only)


def test_a_wrong_value_on_a_quick_axis_is_told_with_its_cell(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"store = s4.*no store profile 's4'"):
        load_experiment(write_scenario(tmp_path), quick_axes={"store": ["s3", "s4"]})


def test_two_axes_that_set_the_same_parameter_are_refused(tmp_path: Path) -> None:
    path = write_scenario(tmp_path)
    with pytest.raises(InvalidInput, match=r"'partitioning' and 'table.partition_by'.*both set"):
        load_experiment(path, quick_axes={"table.partition_by": [[], ["date"]]})
    with pytest.raises(InvalidInput, match=r"both set table\.partition_by"):
        load_experiment(path, quick_axes={"table": [{}]})


def test_a_value_twice_on_an_axis_and_no_replication_at_all_are_refused(tmp_path: Path) -> None:
    path = write_scenario(tmp_path)
    with pytest.raises(InvalidInput, match="has 2 more than once"):
        load_experiment(path, quick_axes={"writers.loader.count": [2, 3, 2]})
    with pytest.raises(InvalidInput, match="0 is not between 1 and 1,000"):
        load_experiment(path, replications=0)


def test_all_that_is_wrong_with_what_is_asked_is_told_at_once(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput) as refused:
        load_experiment(
            write_scenario(tmp_path),
            quick_axes={"writers.loder.count": [2, 3, 2], "seed": [1]},
            only={"isolaton": []},
            replications=0,
            objective=["job_succes_rate >= 9 %"],
        )
    require_each_once(
        refused.value,
        "0 is not between 1 and 1,000",
        "has 2 more than once",
        "did you mean 'isolation'?",
        "there is no writer 'loder'",
        "did you mean 'job_success_rate'?",
    )


def test_options_of_a_sweep_hide_nothing_from_each_other(tmp_path: Path) -> None:
    options = ("--set", "table.isolation", "--set", "seed", "--axis", "isolaton")
    limits = ("--until", "conflict_rat +- 1 point", "--max-replications", "3")
    engine = ("--engine", "processes", "--master", "local[2]")
    path = str(write_scenario(tmp_path))
    result = CliRunner().invoke(main, ["sweep", path, *options, *limits, *engine])
    require_refused(
        result,
        "--set table.isolation: is not PATH=V1,V2,...",
        "--set seed: is not PATH=V1,V2,...",
        "did you mean 'isolation'?",
        "did you mean 'conflict_rate'?",
        "master",
    )


def test_a_scenario_without_axes_cannot_be_swept(tmp_path: Path) -> None:
    plain = SCENARIO.split("sweep:")[0]
    with pytest.raises(InvalidInput, match=r"has no sweep: .* --set .*\(axes="):
        load_experiment(write_scenario(tmp_path, plain))
    experiment = load_experiment(write_scenario(tmp_path, plain), quick_axes={"store": ["s3"]})
    assert [cell.name for cell in experiment.cells] == ["s3"]


def test_names_of_cells_can_be_typed_and_two_cells_never_share_one(tmp_path: Path) -> None:
    assert cell_name({"a": "by date & country", "b": "=x=", "c": "…"}) == "by-date-country__x__none"
    text = SCENARIO.replace("by date:", '"unpartitioned ":')
    with pytest.raises(InvalidInput, match="are both 'unpartitioned__Serializable'"):
        load_experiment(write_scenario(tmp_path, text))


def test_each_cell_lies_in_the_directory_as_a_scenario_of_its_own(tmp_path: Path) -> None:
    experiment = load_experiment(write_scenario(tmp_path))
    open_place(experiment, LocalPlace(tmp_path / "out"))
    for cell in experiment.cells:
        alone = load_scenario(tmp_path / "out" / "cells" / f"{cell.name}.yaml")
        assert alone.hash == cell.scenario.hash
        assert alone.sweep is None


def test_a_changed_definition_is_refused_and_what_differs_is_told(tmp_path: Path) -> None:
    out = tmp_path / "out"
    open_place(load_experiment(write_scenario(tmp_path)), LocalPlace(out))
    before = (out / "sweep.json").read_bytes()
    changed = SCENARIO.replace("duration: 8 min", "duration: 20 min").replace("count: 2 ", "")
    changed = changed.replace("seed: 5", "seed: 6").replace("by date:", "by day:")
    with pytest.raises(InvalidInput) as caught:
        open_place(
            load_experiment(write_scenario(tmp_path, changed), replications=1), LocalPlace(out)
        )
    message = str(caught.value)
    assert 'scenario.duration: was "8 min", is now "20 min"' in message
    assert "replications: was 2, is now 1" in message
    assert "seed: was 5, is now 6" in message
    assert "axes.partitioning.by date: was" in message
    assert "axes.partitioning.by day: was not there" in message
    assert all(problem.place for problem in caught.value.problems), "what to do is no problem"
    assert (out / "sweep.json").read_bytes() == before


def test_the_same_definition_is_accepted_again(tmp_path: Path) -> None:
    experiment = load_experiment(write_scenario(tmp_path))
    open_place(experiment, LocalPlace(tmp_path / "out"))
    open_place(experiment, LocalPlace(tmp_path / "out"))


def test_results_of_other_code_are_not_mixed_in(tmp_path: Path) -> None:
    experiment = load_experiment(write_scenario(tmp_path))
    open_place(experiment, LocalPlace(tmp_path / "out"))
    file = tmp_path / "out" / "sweep.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | {"code_version": "0.0.9"}))
    with pytest.raises(InvalidInput, match=r'code_version: was "0.0.9"'):
        open_place(experiment, LocalPlace(tmp_path / "out"))


def test_a_directory_with_something_else_in_it_is_left_alone(tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    (out / "thesis.txt").write_text("years of work")
    with pytest.raises(InvalidInput, match="is no sweep's directory"):
        open_place(load_experiment(write_scenario(tmp_path)), LocalPlace(out))
    assert [path.name for path in out.iterdir()] == ["thesis.txt"]


def test_a_place_that_ran_full_before_the_sweep_began_is_begun_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    experiment = load_experiment(write_scenario(tmp_path))
    place = LocalPlace(tmp_path / "out")
    replace, calls = Path.replace, iter([1, 1])

    def full(file: Path, target: Path) -> Path:
        if next(calls, None):
            return replace(file, target)
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(Path, "replace", full)
        with pytest.raises(OSError, match="No space"):
            open_place(experiment, place)
    left = {path.name for path in place.path.rglob("*") if path.is_file()}
    assert left == {f"{cell.name}.yaml" for cell in experiment.cells[:2]}
    (place.path / "cells" / ".x.yaml.part").touch()  # of one that was killed
    open_place(experiment, place)
    assert place.read("sweep.json") is not None


@pytest.mark.parametrize("name", ["notes.txt", "cells", "cells/notes.txt", "cells/deep/x.yaml"])
def test_what_no_sweep_leaves_is_left_alone(name: str, tmp_path: Path) -> None:
    experiment = load_experiment(write_scenario(tmp_path))
    file = tmp_path / "out" / name
    file.parent.mkdir(parents=True)
    file.write_text("mine")
    with pytest.raises(InvalidInput, match="is no sweep's directory"):
        open_place(experiment, LocalPlace(tmp_path / "out"))


def test_labels_that_no_file_can_be_called_by_are_refused_before_the_work(tmp_path: Path) -> None:
    file = write_scenario(tmp_path)
    file.write_text(file.read_text().replace("by date:", f"{240 * 'x'}:"))
    with pytest.raises(InvalidInput, match=r":\d+ sweep.axes: shorten labels, .* has \d+ bytes"):
        load_experiment(file)


def test_what_an_axis_sets_wrongly_is_told_with_its_path_at_its_line(tmp_path: Path) -> None:
    file = write_scenario(tmp_path)
    set_right = "{table.partition_by: [date]}"
    wrong = "{table.isolaton: Serializable, store.profil: s3, writers.loadr.count: 2}"
    text = file.read_text().replace(set_right, wrong)
    file.write_text(text)
    line = text[: text.index(wrong)].count("\n") + 1
    with pytest.raises(InvalidInput) as raised:
        load_experiment(file)
    said = {problem.place.partition("): ")[2]: problem.nearest for problem in raised.value.problems}
    assert said == {
        f"{file}:{line} table.isolaton": "isolation",
        f"{file}:{line} store.profil": "profile",
        f"{file}:{line} writers.loadr.count": "loader",
    }


def test_labels_that_python_takes_for_one_are_not_given_twice(tmp_path: Path) -> None:
    file = write_scenario(tmp_path)
    text = file.read_text().replace("by date:", "yes:").replace("unpartitioned:", "1.0:")
    file.write_text(text)
    with pytest.raises(InvalidInput) as raised:
        load_experiment(file)
    said = [str(problem) for problem in raised.value.problems]
    assert any("is the same key as 1.0 on line " in each for each in said), said
    assert not any("given twice" in each for each in said)


def test_a_misspelt_measure_hides_no_misspelt_writer(tmp_path: Path) -> None:
    file = write_scenario(tmp_path)
    file.write_text(file.read_text() + "objective: job_sucess_rate of loadr >= 50 %\n")
    with pytest.raises(InvalidInput) as raised:
        load_experiment(file)
    assert [each.nearest for each in raised.value.problems] == ["job_success_rate", "loader"]
