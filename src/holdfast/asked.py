"""What callers give an application, checked: options, calls, names. On the cold path of a hook."""

from __future__ import annotations

from _collections_abc import Iterable, Mapping  # `collections` around it would cost a cold hook a millisecond

from holdfast.model.errors import BadInput
from holdfast.model.request import check_count, check_name, shown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from holdfast.handler import Call
    from holdfast.model.news import News
    from holdfast.model.request import NewJob


def is_plain(job: NewJob) -> bool:
    """Whether one statement stores it."""
    return job.coalesce_key is None and job.flow is None


def news_of(*queues: str) -> News:
    from holdfast.model.news import News  # noqa: PLC0415

    news = News()
    news.queues.update(queues)
    return news


def names(imports: object) -> tuple[str, ...]:
    names = tuple(imports) if isinstance(imports, Iterable) and not isinstance(imports, str) else (None,)
    if all(isinstance(name, str) for name in names):
        return names
    raise BadInput("BAD_OPTION", f'imports is a list of modules, as in imports=["mysite.jobs"], not {shown(imports)}')


def depths(max_depth: object) -> dict[str, int]:
    if not isinstance(max_depth, Mapping | None):
        raise BadInput(
            "BAD_OPTION", f'max_depth goes by queue, as in max_depth={{"images": 1000}}, not {shown(max_depth)}'
        )
    return {
        check_name("a queue of max_depth", queue): check_count("max_depth", most, 1_000_000_000)
        for queue, most in (max_depth or {}).items()
    }


def requests(calls: Iterable[Call]) -> Sequence[NewJob]:
    if not isinstance(calls, Iterable):
        raise BadInput("BAD_OPTION", f"enqueue_many takes a list of calls, not {shown(calls)}")
    from holdfast.handler import Call  # noqa: PLC0415  # whoever has a call has it loaded

    given = list(calls)
    for call in given:
        if not isinstance(call, Call):
            raise BadInput(
                "BAD_OPTION", f'a call is made by a handler, as in thumbnail.call(path="a.png"), not {shown(call)}'
            )
    return Call.new_jobs(given)


def checked(options: Mapping[str, Any]) -> dict[str, Any]:
    """Options as a NewJob takes them: the context as JSON text."""
    given = dict(options)
    if given.get("context") is not None:
        from holdfast.model.envelope import check_context  # noqa: PLC0415

        given["context"] = check_context(given["context"])
    else:
        given.pop("context", None)
    return given
