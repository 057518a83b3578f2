"""Answers the API server before it takes an object in: what is wrong with it, or nothing."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from aiohttp import web

from npa.operator.runtime.metrics import Metrics
from npa.render.objects import Object, dig

_LOG = logging.getLogger(__name__)
PATH = "/validate"
LARGEST = 8 * 1024 * 1024  # bytes of a review: the old and the new object


@dataclass(frozen=True, slots=True)
class Asked:
    """What somebody wants to do to an object."""

    operation: str  # CREATE, UPDATE, DELETE
    new: Object | None
    old: Object | None
    user: str


@dataclass(frozen=True, slots=True)
class Verdict:
    """What is wrong with it; and what is only worth saying, which `kubectl` shows."""

    problems: Sequence[str] = ()
    warnings: Sequence[str] = ()


Review = Callable[[Asked], Verdict]


def handler(review: Review, metrics: Metrics) -> Callable[[web.Request], Any]:
    """Return the handler of admission reviews. What it cannot tell it refuses, and says that it could not."""

    async def answer(request: web.Request) -> web.Response:
        try:
            document = await request.json()
            asked = request_of(document)
        except (ValueError, TypeError, KeyError) as error:
            return web.json_response({"error": f"no AdmissionReview: {error}"}, status=400)
        try:
            verdict = await asyncio.to_thread(review, asked)
        except Exception as error:
            _LOG.exception("review of %s", dig(asked.new or asked.old or {}, "metadata", "name"))
            verdict = Verdict([f"the operator failed to check it: {type(error).__name__}: {error}"])
        kind = str(dig(document, "request", "kind", "kind"))
        metrics.reviews.labels(kind, str(not verdict.problems).lower()).inc()
        return web.json_response(response(document, verdict))

    return answer


def request_of(document: Mapping[str, Any]) -> Asked:
    """Return what an AdmissionReview asks."""
    request = document["request"]
    return Asked(
        str(request["operation"]),
        request.get("object"),
        request.get("oldObject"),
        str(dig(request, "userInfo", "username") or ""),
    )


def response(document: Mapping[str, Any], verdict: Verdict) -> dict[str, Any]:
    """Return the AdmissionReview that answers another."""
    answer: dict[str, Any] = {"uid": document["request"]["uid"], "allowed": not verdict.problems}
    if verdict.problems:
        answer["status"] = {"code": 422, "reason": "Invalid", "message": "\n".join(verdict.problems)}
    if verdict.warnings:
        answer["warnings"] = [each[:250] for each in verdict.warnings]
    return {"apiVersion": document["apiVersion"], "kind": "AdmissionReview", "response": answer}
