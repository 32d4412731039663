"""People with an account at the marketplace, and the worker id of one who is only listed there."""

from __future__ import annotations

from humanexp.recruiters.models import Campaign
from tests.marketplace.server import MarketplaceServer, WorkerClient
from tests.recruitment.studies import Visitor

#: The worker id of a listed submission: it may stand on one page alone.
LISTED_WORKER_ID = "AWORKER1SECRET"


class Worker:
    """A person with an account at the marketplace who takes part here."""

    def __init__(self, marketplace: MarketplaceServer, client: WorkerClient | None = None) -> None:
        self.marketplace = marketplace
        self.client = client or marketplace.worker()
        self.worker_id = self.client.worker_id

    def accept(self, campaign: Campaign, hit_number: int = 1) -> Visitor:
        hit = campaign.hits.get(number=hit_number)
        assignment_id = self.client.accept(hit.hit_id)["assignment_id"]
        return Visitor(campaign, worker_id=self.worker_id, assignment_id=assignment_id, submit_to=self.marketplace.url)

    def do(self, campaign: Campaign, hit_number: int = 1) -> Visitor:
        """Accept, consent, answer everything, submit."""
        visitor = self.accept(campaign, hit_number)
        assert visitor.open().status_code == 201
        self.submit(visitor, visitor.answer_all()["receipt"])
        return visitor

    def submit(self, visitor: Visitor, receipt: str = "nothing") -> None:
        self.client.submit(visitor.person["assignmentId"], receipt=receipt)
