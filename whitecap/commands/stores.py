"""`whitecap stores`: the profiles of object stores, with where each figure is from."""

from __future__ import annotations

import click

from whitecap.options.common import json_option
from whitecap.options.mistakes import gathered_with_options


@click.command()
@click.argument("profile", required=False)
@json_option
def stores(profile: str | None, as_json: bool) -> None:
    """List the store profiles, or show every figure of PROFILE and where it is from.

    PROFILE is a name from the list or a file of your own (./mine.yaml). A scenario chooses one
    with `store:`. Figures that rest on an assumption are marked; any can be changed or swept, such
    as store.put_if_absent.at_key.success.
    """
    from whitecap.sim.loading.profiles import profile_named, shipped_profiles
    from whitecap.terminal.as_json import print_json
    from whitecap.terminal.stores import show_profile, show_profiles, store_document

    with gathered_with_options():
        names = shipped_profiles() if profile is None else [profile]
        listed = [profile_named(name) for name in names]
    if profile is not None:
        print_json(store_document(listed[0])) if as_json else show_profile(listed[0])
        return
    if as_json:
        print_json({"profiles": [store_document(store) for store in listed]})
    else:
        show_profiles(listed)
