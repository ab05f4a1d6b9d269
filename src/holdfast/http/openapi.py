"""The OpenAPI 3.1 document, made from the routing table."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

import holdfast
from holdfast.http.answers import ProblemView
from holdfast.http.problems import MEDIA_TYPE
from holdfast.http.table import Entry

PATH = "/openapi.json"
_REFERENCE = "#/components/schemas/{model}"
_ALWAYS = (400, 421, 500, 503)  # what every route may refuse with
_REASONS = {
    400: "Something in the request cannot be",
    403: "Made by a page of another site",
    404: "No such job, batch, schedule or group",
    408: "The body did not arrive in time",
    409: "Clashes with what is stored",
    413: "The body or a payload is too large",
    415: "The body is not declared as JSON",
    421: "Made for another host name",
    429: "The queue is full; try again after the time in Retry-After",
    500: "Failed here; the id in the answer stands in the log",
    503: "The store is away, or too many wait; try again after the time in Retry-After",
    507: "The disk is full",
}


def document(table: Iterable[Entry]) -> dict[str, Any]:
    """Every route of the table, its shapes and its refusals."""
    table = tuple(table)
    paths: dict[str, dict[str, Any]] = {}
    for entry in table:
        paths.setdefault(path_of(entry), {})[entry.method.lower()] = _operation(entry)
    paths[PATH] = {"get": _own_operation()}
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Holdfast",
            "version": holdfast.__version__,
            "description": "Durable background jobs. Errors are RFC 9457 problem details with a stable `code`.",
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "paths": paths,
        "components": {"schemas": _schemas(table)},
    }


def path_of(entry: Entry) -> str:
    """The path as OpenAPI writes it."""
    return re.sub(r"{(\w+):\w+}", r"{\1}", entry.path)


def _operation(entry: Entry) -> dict[str, Any]:
    operation: dict[str, Any] = {
        "operationId": entry.name,
        "summary": entry.summary,
        "tags": [entry.section],
        "parameters": [*_path_parameters(entry), *_query_parameters(entry)],
        "responses": _responses(entry),
    }
    if entry.body is not None:
        one = _reference(entry.body)
        many = {"type": "array", "items": one, "maxItems": entry.most}
        content: dict[str, Any] = {"schema": one if entry.most == 1 else {"oneOf": [one, many]}}
        if entry.example is not None:
            content["example"] = entry.example
        operation["requestBody"] = {"required": entry.body_required, "content": {"application/json": content}}
    return operation


def _responses(entry: Entry) -> dict[str, Any]:
    content: dict[str, Any] = {}
    if entry.answer is not None:
        one = _reference(entry.answer)
        content["schema"] = one if entry.most == 1 else {"oneOf": [one, {"type": "array", "items": one}]}
    else:
        content["schema"] = {"type": "string"}
    if entry.answer_example is not None:
        content["example"] = entry.answer_example
    responses: dict[str, Any] = {str(entry.status): {"description": "Done", "content": {entry.media_type: content}}}
    refusals = {*_ALWAYS, *entry.problems, *((507,) if entry.method == "POST" else ())}
    for status in sorted(refusals):
        responses[str(status)] = {
            "description": _REASONS[status],
            "content": {MEDIA_TYPE: {"schema": _reference(ProblemView)}},
        }
    return responses


def _path_parameters(entry: Entry) -> list[dict[str, Any]]:
    return [
        {"name": name, "in": "path", "required": True, "schema": {"type": "string"}}
        for name in re.findall(r"{(\w+)}", path_of(entry))
    ]


def _query_parameters(entry: Entry) -> list[dict[str, Any]]:
    if entry.query is None:
        return []
    schema = entry.query.model_json_schema(ref_template=_REFERENCE)
    return [
        {"name": name, "in": "query", "required": False, "schema": field}
        | ({"description": field["description"]} if "description" in field else {})
        for name, field in schema.get("properties", {}).items()
    ]


def _schemas(table: tuple[Entry, ...]) -> dict[str, Any]:
    used: set[type[BaseModel]] = {ProblemView}
    for entry in table:
        used |= {shape for shape in (entry.body, entry.answer, entry.query) if shape is not None}
    ordered = sorted(used, key=lambda shape: shape.__name__)
    _, definitions = models_json_schema([(shape, "validation") for shape in ordered], ref_template=_REFERENCE)
    queries = {entry.query.__name__ for entry in table if entry.query is not None}
    return {name: schema for name, schema in sorted(definitions["$defs"].items()) if name not in queries}


def _reference(shape: type[BaseModel]) -> dict[str, str]:
    return {"$ref": _REFERENCE.format(model=shape.__name__)}


def _own_operation() -> dict[str, Any]:
    return {
        "operationId": "openapi",
        "summary": "This document",
        "tags": ["pages"],
        "responses": {"200": {"description": "Done", "content": {"application/json": {"schema": {"type": "object"}}}}},
    }
