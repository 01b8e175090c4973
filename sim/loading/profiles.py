"""Store profiles: those that are shipped and a user's own, each perhaps based on another.

A scenario names a shipped profile (`s3`), or a file (`./mine.yaml`), relative to its own. A file is
read once, when the scenario is: its document then holds the profile itself, so that whoever is
given the document (a worker, a recording, a replay) needs no file.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pydantic import ValidationError

from whitecap.engine.errors import InvalidInput, Problem, nearest
from whitecap.scenarios import SCENARIOS
from whitecap.sim.loading.overriding import merged, store_in_full
from whitecap.sim.quantities.units import shown
from whitecap.sim.scenario.model import Document
from whitecap.sim.scenario.origin import origins_lacking
from whitecap.sim.scenario.problems import problems_of
from whitecap.sim.scenario.store import StoreSection
from whitecap.sim.scenario.yaml.text import YamlText, read_shipped, read_yaml

STORES = SCENARIOS / "stores"

STAND_IN = "instant"
"""The profile that is checked in place of a wrong one, so that other problems are found too."""


def shipped_profiles() -> list[str]:
    """The names of the profiles that come with Whitecap."""
    return sorted(path.stem for path in STORES.glob("*.yaml"))


def is_file_name(profile: Any) -> bool:
    """Whether a profile is given as a file: names of shipped ones have no slash and no ending."""
    return isinstance(profile, str) and ("/" in profile or profile.endswith((".yaml", ".yml")))


def profile_named(profile: str) -> StoreSection:
    """A shipped profile or a user's file. Raises `InvalidInput`."""
    if is_file_name(profile):
        return _checked(read_yaml(Path(profile)))[0]
    require_shipped(profile)
    return _checked(read_shipped(STORES / f"{profile}.yaml"))[0]


def require_shipped(profile: str, place: str = "") -> None:
    """Raises `InvalidInput` unless there is a shipped profile of that name."""
    if profile not in shipped_profiles():
        raise InvalidInput([_no_such(profile, place)])


def check_profile(text: str) -> StoreSection:
    """A profile from its text. Raises `InvalidInput`."""
    return _checked(YamlText(text, "profile"))[0]


def _checked(text: YamlText) -> tuple[StoreSection, Document]:
    """A profile and its document. Raises `InvalidInput` with everything that is wrong."""
    if not isinstance(text.last_given, dict):
        said = "is not a store profile: it needs keys with values, such as `put_if_absent:`"
        raise InvalidInput([Problem(text.name, said)])
    if "writers" in text.last_given:
        said = "is a scenario, not a store profile: its own is under `store:`"
        raise InvalidInput([Problem(text.name, said)])
    problems = list(text.repeated_keys)
    document = {"profile": Path(text.name).stem, **_with_base(text, problems)}
    problems += [Problem(text.where(at), said) for at, said in origins_lacking(document)]
    try:
        store = StoreSection.model_validate(document)
    except ValidationError as error:
        raise InvalidInput([*problems_of(error, StoreSection, text), *problems]) from None
    if problems:
        raise InvalidInput(problems)
    return store, document


def with_profiles(value: Any, folder: Path, problems: list[Problem]) -> Any:
    """A document, or changes of one, with profiles in place of the files that it names.

    Wherever a store is named: in `store`, and among the dotted paths that a sweep sets.
    """
    match value:
        case dict():
            return {key: _with_profile(key, part, folder, problems) for key, part in value.items()}
        case list():
            return [with_profiles(part, folder, problems) for part in value]
        case _:
            return value


def _with_profile(key: Any, value: Any, folder: Path, problems: list[Problem]) -> Any:
    match key, value:
        case "store", str() if is_file_name(value):
            return {"profile": _read(value, folder, problems)}
        case "store", {"profile": str() as profile} if is_file_name(profile):
            return {**value, "profile": _read(profile, folder, problems)}
        case "store.profile", str() if is_file_name(value):
            return _read(value, folder, problems)
    return with_profiles(value, folder, problems)


def _read(profile: str, folder: Path, problems: list[Problem]) -> Any:
    try:
        return _checked(read_yaml(folder / profile))[1]
    except InvalidInput as error:
        problems += [problem for problem in error.problems if problem not in problems]
        return STAND_IN


def filled_in(given: Any, text: YamlText, problems: list[Problem]) -> Any:
    """A scenario's `store` with its profile in place of the profile's name."""
    overrides = store_in_full(given)
    if not isinstance(overrides, dict):
        return given
    base = _profile(overrides.get("profile"), text, problems)
    rest = {key: part for key, part in overrides.items() if key != "profile"}
    return merged(base, rest)


def _profile(given: Any, text: YamlText, problems: list[Problem]) -> Document:
    if isinstance(given, dict) and isinstance(given.get("profile"), str):
        return given
    name = str(given)
    if name not in shipped_profiles():
        problems.append(_no_such(name, text.where(("store", "profile"))))
        name = STAND_IN
    return {**_with_base(read_shipped(STORES / f"{name}.yaml"), problems), "profile": name}


def _with_base(text: YamlText, problems: list[Problem]) -> Document:
    """A profile's content, on top of the shipped one that it is `based_on`, if it is."""
    own: Document = dict(text.last_given)
    base = own.pop("based_on", None)
    if base is None:
        return own
    if base not in shipped_profiles():
        problems.append(_no_such(str(base), text.where(("based_on",))))
        base = STAND_IN
    whole: Document = merged(_with_base(read_shipped(STORES / f"{base}.yaml"), problems), own)
    return whole


def _no_such(name: str, place: str) -> Problem:
    names = shipped_profiles()
    said = f"no store profile {shown(name)}: there are {', '.join(names)}"
    return Problem(place, f"{said}, and files of your own (mine.yaml)", nearest(name, names))
