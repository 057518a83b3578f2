"""Commands that hand everything after `--` to another program."""

from __future__ import annotations

from typing import Any

import typer.core


class PassingCommand(typer.core.TyperCommand):
    """Keeps what follows `--` out of our own options and arguments: it is `context.args`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse our own part alone."""
        end = args.index("--") if "--" in args else len(args)
        super().parse_args(ctx, args[:end])
        ctx.args = args[end + 1 :]
        return list(ctx.args)

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """Show in the usage line that there may be more."""
        return [*super().collect_usage_pieces(ctx), "[-- CMD...]"]
