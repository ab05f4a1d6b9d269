"""Which columns of a table there is room for. What tells rows apart is not cut for one more figure."""

from __future__ import annotations

from itertools import pairwise, takewhile
from typing import TYPE_CHECKING

from rich.cells import cell_len

from holdfast.cli.render import rich_text

if TYPE_CHECKING:
    from collections.abc import Sequence

_GAP = 2  # between two columns
_ENOUGH = 24  # of a name, where fewer letters tell it from the others


def fitted(
    heads: Sequence[str], rows: Sequence[Sequence[object]], width: int, *, names: Sequence[str], spare: Sequence[str]
) -> dict[int, int]:
    """Place -> width of each column that is shown. Those in `spare` go, the first of them first, until each of `names`
    has what tells its rows apart; the room that is left belongs to the names.
    """
    texts = [[rich_text(row[place]).plain for row in rows] for place in range(len(heads))]
    whole = [max(map(cell_len, (head, *cells))) for head, cells in zip(heads, texts, strict=True)]
    widths = {
        place: max(len(head), min(whole[place], _telling(texts[place]))) if head in names else whole[place]
        for place, head in enumerate(heads)
    }
    for head in spare:
        if _total(widths) <= width:
            break
        del widths[heads.index(head)]
    _share(widths, whole, width, [heads.index(name) for name in names])
    return widths


def _share(widths: dict[int, int], whole: Sequence[int], width: int, names: Sequence[int]) -> None:
    """Give the names the room that is left, up to their whole length and the rest to the last; or take what lacks."""
    left = width - _total(widths)
    for place in names:
        more = min(max(left, 0), whole[place] - widths[place])
        widths[place], left = widths[place] + more, left - more
    widths[names[-1]] += max(left, 0)
    for _ in range(-left):
        longest = max(names, key=lambda place: widths[place])
        widths[longest] = max(1, widths[longest] - 1)


def _total(widths: dict[int, int]) -> int:
    return sum(widths.values()) + _GAP * (len(widths) - 1)


def _telling(names: Sequence[str]) -> int:
    """The least width in which names that differ still do, cut with a dot in the last place."""
    different = sorted(set(names))
    longest = max(map(len, different), default=0)
    alike = max((_common(one, other) for one, other in pairwise(different)), default=0)
    return min(longest, max(_ENOUGH, alike + 2))


def _common(one: str, other: str) -> int:
    """How many letters two names begin with alike."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))
