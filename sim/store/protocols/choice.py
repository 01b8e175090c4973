"""Which protocol is which."""

from __future__ import annotations

from whitecap.sim.scenario.commit_protocol import CommitProtocol
from whitecap.sim.store.coordinator import NewCoordinator
from whitecap.sim.store.protocols.catalog import ByCatalog
from whitecap.sim.store.protocols.conditional_put import ByConditionalPut
from whitecap.sim.store.protocols.dynamodb import ByDynamoDB
from whitecap.sim.store.protocols.rename import ByRename
from whitecap.sim.store.protocols.single_driver import SingleDriver

COORDINATORS: dict[CommitProtocol, NewCoordinator] = {
    CommitProtocol.CONDITIONAL_PUT: ByConditionalPut,
    CommitProtocol.SINGLE_DRIVER: SingleDriver,
    CommitProtocol.DYNAMODB: ByDynamoDB,
    CommitProtocol.RENAME: ByRename,
    CommitProtocol.CATALOG: ByCatalog,
}
