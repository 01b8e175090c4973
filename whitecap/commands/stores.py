"""`whitecap stores`: the profiles of object stores, with where each figure is from."""

from __future__ import annotations

import click

from whitecap.options.common import json_option


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

    if profile is not None:
        store = profile_named(profile)
        print_json(store_document(store)) if as_json else show_profile(store)
        return
    listed = [profile_named(name) for name in shipped_profiles()]
    if as_json:
        print_json({"profiles": [store_document(store) for store in listed]})
    else:
        show_profiles(listed)
