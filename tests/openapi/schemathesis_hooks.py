"""
Runs Schemathesis's built-in checks of accepted and rejected data, except for rules that a schema
cannot express. docs/http-api.md or the OpenAPI document describes each of these rules in prose.
"""

import datetime
import re

import schemathesis
from schemathesis.specs.openapi import checks

# Errors that depend on the idempotency keys and versions that the service has stored.
STATE = {"idempotency_key_reused", "precondition_failed"}

# Rules about a value as a whole, or about any part of free-form JSON.
RULES = (
    "bytes as JSON",
    "levels deep",
    "must not contain the character U+0000",
    "must not use the key",
    "must contain text",
    "this service has no model",
)


# The patterns in the OpenAPI document. Schemathesis also sends the invalid value `0` in these
# headers and treats it as valid.
ETAGS = {
    "If-Match": r'\*|"[1-9][0-9]{0,14}"',
    "If-None-Match": r'\*|(?:W/)?"[^"]*"(?:, *(?:W/)?"[^"]*")*',
}


@schemathesis.check
def valid_data_is_accepted(ctx, response, case):
    if response.status_code in (400, 412) and is_beyond_schema(response.json()):
        return None
    if response.status_code == 400 and has_invalid_etag(case.headers or {}):
        return None
    return checks.positive_data_acceptance(ctx, response, case)


def has_invalid_etag(headers):
    return any(
        name in headers and re.fullmatch(pattern, headers[name]) is None
        for name, pattern in ETAGS.items()
    )


@schemathesis.check
def missing_key_is_rejected(ctx, response, case):
    if has_too_many_wrong_keys(response):
        return None
    return checks.missing_required_header(ctx, response, case)


@schemathesis.check
def wrong_key_is_rejected(ctx, response, case):
    try:
        return checks.ignored_auth(ctx, response, case)
    except Exception as failure:
        # The check sends invalid keys. After many invalid keys, the service rejects the address.
        if "429 Too Many Requests" in str(failure):
            return None
        raise


def has_too_many_wrong_keys(response):
    return response.status_code == 429 and "wrong keys" in response.json()["message"]


def is_beyond_schema(body):
    if body["error"] in STATE:
        return True
    details = body.get("details", [])
    return details != [] and all(
        # A cursor that the service has not issued is invalid, which a schema cannot express.
        detail["field"] == "cursor" or any(rule in detail["message"] for rule in RULES)
        for detail in details
    )


@schemathesis.check
def invalid_data_is_rejected(ctx, response, case):
    # Invalid items of a batch or an import fail individually, and the response lists them.
    if response.status_code in (200, 202) and response.json().get("failedCount", 0) > 0:
        return None
    if response.status_code == 200 and has_other_values_in_filter(case.query or {}):
        return None
    return checks.negative_data_rejection(ctx, response, case)


def has_other_values_in_filter(query):
    """Returns whether a metadata filter has non-string values, which the URL turns into text."""
    metadata = query.get("metadata")
    return isinstance(metadata, dict) and any(
        key != "" and not isinstance(value, str) for key, value in metadata.items()
    )


@schemathesis.check
def created_memories_are_found(ctx, response, case):
    if response.status_code == 404 and has_expired(ctx, case):
        return None
    return checks.ensure_resource_availability(ctx, response, case)


def has_expired(ctx, case):
    parent = ctx.internals.find_parent(case_id=case.id)
    body = parent.body if parent is not None else None
    expires_at = body.get("expiresAt") if isinstance(body, dict) else None
    if expires_at is None:
        return False
    time = datetime.datetime.fromisoformat(expires_at.upper().replace("Z", "+00:00"))
    return time < datetime.datetime.now(datetime.timezone.utc)
