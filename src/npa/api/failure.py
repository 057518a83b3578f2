"""An exception as one JSON document and an exit code, the same on every surface."""

from __future__ import annotations

from typing import Any

from npa.errors import (
    CapacityError,
    DestroyIncompleteError,
    DestructiveError,
    IdentityError,
    NpaError,
    OwnershipError,
    PreflightError,
    Problem,
    ProviderError,
    QuotaError,
    SourceError,
    SpecError,
    ToolError,
    UnhealthyError,
)

SCHEMA_VERSION = "npa.error/v1"
INTERRUPTED = 130
AGAIN = "run the same command again: it goes on from what is there"
DEBUG = "add `--debug` for the traceback"


def described(error: BaseException) -> tuple[dict[str, Any], int]:
    """Return the JSON document of an error and its exit code."""
    code, word, message, hint = _essence(error)
    body = {"code": word, "message": message, "hint": hint, "problems": _problems(error), **_extra(error)}
    # A cluster that is there and was not proven: its result is the document, and says why it is no success.
    result = getattr(error, "result", None)
    kept = result if isinstance(error, NpaError) and isinstance(result, dict) else {}
    return {**kept, "schema_version": SCHEMA_VERSION, "ok": False, "error": body}, code


def _essence(error: BaseException) -> tuple[int, str, str, str]:
    """Return (exit code, stable word, message, hint)."""
    if isinstance(error, NpaError):
        found = _found(error)
        if found:
            count, where = len(found), "spec" if isinstance(error, SpecError) else "input"
            return error.exit_code, error.code, f"{count} problem{'s' * (count != 1)} in the {where}", ""
        return error.exit_code, error.code, str(error), error.hint
    if isinstance(error, KeyboardInterrupt):
        return INTERRUPTED, "interrupted", "interrupted", AGAIN
    if hasattr(error, "format_message"):  # typer's: the command line could not be understood
        return 2, "usage", *_usage(error)
    if isinstance(error, OSError):
        what = f"{error.filename}: " if error.filename else ""
        return 1, "system", f"{what}{(error.strerror or str(error)).lower()}", DEBUG
    return 1, "unexpected", f"unexpected {type(error).__name__}: {error}", DEBUG


def _usage(error: Any) -> tuple[str, str]:
    message = str(error.format_message()).rstrip(".").replace("Value error, ", "")
    context = getattr(error, "ctx", None)
    path = context.command_path if context is not None else "npa"
    return message[:1].lower() + message[1:], f"see `{path} --help`"


def _problems(error: BaseException) -> list[dict[str, object]]:
    return [
        {
            "at": each.at,
            "line": each.line,
            "column": each.column,
            "message": each.message,
            "hint": each.hint,
            "source": each.source,
            "text": str(each),
        }
        for each in _found(error)
    ]


def _found(error: BaseException) -> tuple[Problem, ...]:
    """Return what an error found wrong with a document; others have problems that are mere text."""
    found = getattr(error, "problems", ())
    return tuple(each for each in found if isinstance(each, Problem))


def _extra(error: BaseException) -> dict[str, Any]:
    match error:
        case DestructiveError():
            return {"steps": list(error.steps)}
        case OwnershipError():
            return {"expected": error.expected, "found": error.found}
        case PreflightError():
            return {"lacks": [{"message": what, "hint": fix} for what, fix in error.lacks]}
        case ToolError():
            return {"program": error.argv[0], "exit_status": error.exit_status}
        case UnhealthyError():
            from npa.health import assess, text

            report = error.report
            return {"report": text.to_dict(report)} if isinstance(report, assess.Report) else {}
    # Errors of the surfaces above say by themselves what else is to be known.
    return getattr(error, "facts", None) or _extra_of_provider(error)


def _extra_of_provider(error: BaseException) -> dict[str, Any]:
    match error:
        case QuotaError():
            return {"shortfalls": list(error.shortfalls), "unreadable": list(error.unreadable)}
        case CapacityError():
            return {"refusals": list(error.refusals)}
        case SourceError() | IdentityError():
            return {"faults": list(error.problems)}
        case ProviderError():
            return {"operation": error.operation, "resource": error.resource}
        case DestroyIncompleteError():
            return {"report": error.report} if isinstance(error.report, dict) else {}
    return {}
