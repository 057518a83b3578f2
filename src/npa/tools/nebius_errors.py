"""The SDK's exceptions as ours, where they are born."""

from __future__ import annotations

from npa.errors import (
    ProviderDeniedError,
    ProviderError,
    ProviderNotFoundError,
    ProviderTransientError,
    ProviderUnknownError,
)

_DENIED = frozenset({"UNAUTHENTICATED", "PERMISSION_DENIED"})
_TRANSIENT = frozenset({"UNAVAILABLE", "DEADLINE_EXCEEDED", "RESOURCE_EXHAUSTED", "ABORTED", "CANCELLED"})
SIGN_IN = "sign in with `nebius profile create`, or choose a profile with NPA_NEBIUS_PROFILE"
AGAIN = "run the same command again"


def translate(error: BaseException, operation: str, resource: str) -> ProviderError:
    """Return our error for one of the SDK's.

    `resource` is the id that was asked for by `get` or `delete`, and empty for everything else: only a
    NOT_FOUND whose details name exactly this id says that it is not there.
    """
    from nebius.aio.service_error import RequestError

    if isinstance(error, RequestError):
        code = error.status.code.name
        return _by_code(code, _missing(error) == {resource}, operation, resource, f"{code}: {error.status}")
    detail = f"{type(error).__name__}: {error}"
    if isinstance(error, TimeoutError):
        return ProviderTransientError(operation, resource=resource, detail=detail, hint=AGAIN)
    if _is_sign_in(error):
        return ProviderDeniedError(operation, resource=resource, detail=detail, hint=SIGN_IN)
    return ProviderUnknownError(operation, resource=resource, detail=detail, hint=AGAIN)


def _by_code(code: str, exact: bool, operation: str, resource: str, detail: str) -> ProviderError:
    if code == "NOT_FOUND" and resource and exact:
        return ProviderNotFoundError(operation, resource=resource, detail=detail)
    if code in _DENIED:
        return ProviderDeniedError(operation, resource=resource, detail=detail, hint=SIGN_IN)
    if code in _TRANSIENT:
        return ProviderTransientError(operation, resource=resource, detail=detail, hint=AGAIN)
    return ProviderUnknownError(operation, resource=resource, detail=detail, hint=AGAIN)


def _missing(error: BaseException) -> set[str]:
    """Return the ids that the structured details of an answer say are not there."""
    found: set[str] = set()
    status = getattr(error, "status", None)
    for each in getattr(status, "service_errors", ()):
        details = each.details
        if details is not None and details.field == "resource_not_found":
            found.add(details.value.resource_id)
    return found


def _is_sign_in(error: BaseException) -> bool:
    from nebius.aio.cli_config import ConfigError
    from nebius.aio.token.static import NoTokenInEnvError

    return isinstance(error, ConfigError | NoTokenInEnvError | OSError)
