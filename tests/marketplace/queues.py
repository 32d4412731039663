"""An SQS and SNS of the tests' own (moto's server, on a free port): where the marketplace sends events to."""

from __future__ import annotations

import json
import logging
from typing import Any

import boto3
from moto.server import ThreadedMotoServer

from tests.limits import until

_session = boto3.session.Session(region_name="us-east-1")


class Queues:
    def __init__(self) -> None:
        logging.getLogger("werkzeug").setLevel(logging.ERROR)
        self._server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
        self._server.start()
        host, port = self._server.get_host_and_port()
        self.url = f"http://{host}:{port}"
        self.sqs, self.sns = self._client("sqs"), self._client("sns")

    def _client(self, name: str) -> Any:
        return _session.client(name, endpoint_url=self.url, aws_access_key_id="a", aws_secret_access_key="b")

    def stop(self) -> None:
        self._server.stop()

    def queue(self, name: str, *event_types: str) -> dict[str, Any]:
        """A notification specification for a queue of this name."""
        return {
            "Destination": self.sqs.create_queue(QueueName=name)["QueueUrl"],
            "Transport": "SQS",
            "Version": "2014-08-15",
            "EventTypes": list(event_types) or ["AssignmentSubmitted"],
        }

    def topic(self, name: str, queue: str, *event_types: str) -> dict[str, Any]:
        """A notification specification for a topic, to which a queue is subscribed."""
        topic = self.sns.create_topic(Name=name)["TopicArn"]
        address = self.sqs.create_queue(QueueName=queue)["QueueUrl"]
        arn = self.sqs.get_queue_attributes(QueueUrl=address, AttributeNames=["QueueArn"])["Attributes"]["QueueArn"]
        self.sns.subscribe(TopicArn=topic, Protocol="sqs", Endpoint=arn, Attributes={"RawMessageDelivery": "true"})
        return {
            "Destination": topic,
            "Transport": "SNS",
            "Version": "2006-05-05",
            "EventTypes": list(event_types) or ["AssignmentSubmitted"],
        }

    def documents(self, name: str, count: int = 1) -> list[dict[str, Any]]:
        """Messages of a queue, as soon as they hold so many events."""
        address = self.sqs.create_queue(QueueName=name)["QueueUrl"]
        found: list[dict[str, Any]] = []

        def are_enough() -> bool:
            answer = self.sqs.receive_message(QueueUrl=address, MaxNumberOfMessages=10)
            for message in answer.get("Messages", []):
                found.append(json.loads(message["Body"]))
                self.sqs.delete_message(QueueUrl=address, ReceiptHandle=message["ReceiptHandle"])
            return sum(len(one["Events"]) for one in found) >= count

        until(are_enough, lambda: f"{count} events in the queue {name}: {found}", every_s=0.05)
        return found

    def events(self, name: str, count: int = 1) -> list[dict[str, str]]:
        return [event for document in self.documents(name, count) for event in document["Events"]]
