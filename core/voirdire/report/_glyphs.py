"""An interval as a line of a few millimetres, for the cell of a table."""

from __future__ import annotations

import math

from markupsafe import Markup

_WIDTH, _HEIGHT = 84.0, 12.0


def interval_glyph(low: float, high: float, value: float, threshold: float) -> Markup:
    """An inline SVG from 0 to 1: base line, tick at the threshold, interval, dot at the value.

    It repeats what stands beside it in figures, so it is hidden from screen readers.
    """
    if not all(map(math.isfinite, (low, high, value))):
        return Markup()
    parts = [
        _line(0, 1, "var(--rule)", 1),
        f'<path d="M{_x(threshold):.1f} 1V11" stroke="var(--muted)" stroke-width="1"/>',
        _line(low, high, "currentColor", 2.4),
        f'<circle cx="{_x(value):.1f}" cy="{_HEIGHT / 2:g}" r="2.6" fill="currentColor"/>',
    ]
    return Markup(  # noqa: S704 - made of numbers only
        f'<svg class="glyph" viewBox="0 0 {_WIDTH:g} {_HEIGHT:g}" aria-hidden="true" '
        f'focusable="false">{"".join(parts)}</svg>'
    )


def _x(value: float) -> float:
    """Place on the line; what lies below 0 or above 1 stays at the end."""
    return 3 + min(max(value, 0.0), 1.0) * (_WIDTH - 6)


def _line(low: float, high: float, colour: str, width: float) -> str:
    middle = _HEIGHT / 2
    return (
        f'<path d="M{_x(low):.1f} {middle:g}H{_x(high):.1f}" stroke="{colour}" '
        f'stroke-width="{width:g}"/>'
    )
