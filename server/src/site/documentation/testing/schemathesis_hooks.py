"""What schemathesis must know of the service that JSON Schema cannot state.

Values of valid requests that depend on a grammar (filters), on the clock (expiries), on the syntax of networks (CIDR), on another value (ends of an
interval) or on the collection (its columns and CRSs) are replaced by valid ones. Invalid requests stay as they are.
"""

from __future__ import annotations

import gc
import json
import os
from typing import Any

import schemathesis
from schemathesis.generation.meta import CoveragePhaseData, CoverageScenario

# The collector otherwise walks the modules and the parsed definition thousands of times, and finds little.
gc.freeze()
gc.set_threshold(200_000)

WORLD = json.loads(os.environ["WAYLEAVE_SCHEMATHESIS"])
"""The columns and CRSs of the published dataset, from the test."""

TEXT_FILTERS = ["number > 3", "name LIKE 'Point%' AND half < 4", "S_INTERSECTS(geometry, BBOX(0,0,10,10))"]
JSON_FILTERS = [
    {"op": ">", "args": [{"property": "number"}, 3]},
    {"op": "isNull", "args": [{"property": "name"}]},
]
MOMENTS = ["2025-12-31", "2025-12-31T23:59:59Z", "2025-01-01/2025-12-31", "../2025-12-31", "2025-12-31/.."]


def choose(values: list[Any], seed: object) -> Any:
    """The same value for the same seed in every run: Python's own hash of a text differs by process."""
    return values[sum(map(ord, repr(seed))) % len(values)]


def valid_box(box: list[float], is_web_mercator: bool) -> list[float]:
    """South before north, lower before higher, and west before east where there is no antimeridian."""
    half = len(box) // 2
    low, high = box[:half], box[half:]
    pairs = [sorted(pair) for pair in zip(low, high)]
    if not is_web_mercator and low[0] > high[0]:
        pairs[0] = [low[0], high[0]]
    return [pair[0] for pair in pairs] + [pair[1] for pair in pairs]


def fix_selection(given: dict[str, Any], *, is_body: bool) -> None:
    """Makes the parameters of a selection of features, in a query or in a body, valid for the collection."""
    for name in ("crs", "bbox-crs", "filter-crs"):
        if name in given:
            given[name] = choose(WORLD["crs"], given[name])
    # The cursor is signed by the service.
    given.pop("cursor", None)
    if "filter" in given:
        if given.get("filter-lang") == "cql2-json":
            filter_ = choose(JSON_FILTERS, given["filter"])
            given["filter"] = filter_ if is_body else json.dumps(filter_)
        else:
            given["filter"] = choose(TEXT_FILTERS, given["filter"])
    # A position of the filter may have no place in another CRS.
    given.pop("filter-crs", None)
    if "datetime" in given:
        given["datetime"] = choose(MOMENTS, given["datetime"])
    if "bbox" in given:
        numbers = given["bbox"].split(",") if isinstance(given["bbox"], str) else given["bbox"]
        box = [max(-1e7, min(1e7, float(number))) for number in numbers]
        box = valid_box(box, "3857" in str(given.get("bbox-crs")))
        given["bbox"] = box if is_body else ",".join(map(str, box))
    if "sortby" in given:
        given["sortby"] = [choose(["number", "-name", "half"], given["sortby"])]
    if "properties" in given:
        given["properties"] = [choose(WORLD["columns"], given["properties"])]
    if "columns" in given:
        given["columns"] = [choose(WORLD["columns"], given["columns"])]
    if is_body:
        known = {*WORLD["columns"], *WORLD["parameters"]}
        for name in [name for name in given if name not in known]:
            del given[name]


STYLES: dict[str, list[Any]] = {
    "by": [["number"], ["name", "half"]],
    "color": ["number", "name"],
    "size": ["number", "half"],
    "label": ["name"],
    "classing": ["continuous", "quantiles", "equal", "1,3"],
    "sizing": ["continuous", "quantiles", "equal", "2,5"],
    "colors": ["a:aa3377", "a:aa3377,b:004488"],
}


def fix_style(query: dict[str, Any]) -> None:
    """Makes the columns and classes of a style or of a tile's points valid for the collection."""
    for name, values in STYLES.items():
        if name in query:
            query[name] = choose(values, query[name])


AGGREGATES = {
    "groupby": [["name"], ["interval(number,5)", "name"], ["tile(3)"]],
    "having": ["count > 1", "sum(number) < 100"],
    "sortby": [["-count"], ["sum(number)"]],
}
NOT_OF_AGGREGATES = ["crs", "properties", "ids", "resulttype", "resultType", "count", "columns"]


def fix_aggregate(given: dict[str, Any], *, is_body: bool) -> None:
    """Makes groups, measures and conditions on them valid for the collection and for each other."""
    for name in NOT_OF_AGGREGATES:
        given.pop(name, None)
    for name, values in AGGREGATES.items():
        if name in given:
            given[name] = choose(values, given[name])
    given["measures"] = ["count", "sum(number)"]
    if given.get("f") == "geojson":
        given["groupby"] = ["tile(3)"]
    for name, value in given.items():
        if isinstance(value, list) and not is_body:
            given[name] = ",".join(value)


ORIGINS = ["https://maps.example.org", "https://*.example.org", "http://localhost:5173"]
NETWORKS = ["192.0.2.0/24", "192.0.2.1", "2001:db8::/32"]


def fix_callers(body: dict[str, Any]) -> None:
    """Makes the allowed callers of a key valid."""
    for name, values in (("allowedOrigins", ORIGINS), ("allowedAddresses", NETWORKS)):
        if isinstance(body.get(name), list):
            body[name] = [choose(values, value) for value in body[name]]


FORMATS = {
    "integer": ("decimal-point", "decimal-comma"),
    "number": ("decimal-point", "decimal-comma"),
    "date": ("dd-mm-yyyy", "mm-dd-yyyy", "yyyy-mm-dd"),
    "timestamp": ("dd-mm-yyyy", "mm-dd-yyyy", "yyyy-mm-dd"),
}


def fix_schema(schema: dict[str, Any]) -> None:
    """Names of columns that do not repeat, formats that their types have, and both coordinates."""
    for index, column in enumerate(schema.get("columns", [])):
        column.update({name: f"{name} {index}" for name in ("name", "source") if name in column})
        if column.get("format") not in FORMATS.get(column.get("type"), ()):
            column.pop("format", None)
    if ("longitude" in schema) != ("latitude" in schema):
        schema.pop("longitude", None)
        schema.pop("latitude", None)


def is_upload(case: schemathesis.Case) -> bool:
    return case.path == "/v1/inspect" or (case.path == "/v1/dataset/{table}" and case.method == "PUT")


def fix_upload(options: dict[str, Any]) -> None:
    """An upload has a file, so that it takes none of an inspection; its schema is JSON."""
    options.pop("inspection", None)
    if "schema" in options:
        options["schema"] = '{"columns":[]}'


def is_rejected_part(form: dict[str, Any], problem: dict[str, Any]) -> bool:
    """Whether a part of a form was refused that the form has, and that is not what such a part must be."""
    path = (problem.get("errors") or [{}])[0].get("path", "")
    if path == "inspection":
        return "inspection" in form
    if not path.startswith("schema") or "schema" not in form:
        return False
    try:
        return not isinstance(json.loads(form["schema"])["columns"], list)
    except (ValueError, TypeError, LookupError):
        return True


WRONG_TYPES = 5
"""Schemathesis replaces each value by this many values of other types."""
wrong_values: dict[tuple[Any, ...], list[int]] = {}
"""For a value of a request: its number among all values, and how many values of a wrong type were generated for it."""
MAX_REPETITIONS = 2
violations: dict[tuple[Any, ...], set[str]] = {}
"""The operations that got a violation of a parameter."""


def violated_value(case: schemathesis.Case, data: CoveragePhaseData) -> Any:
    """What an invalid request has at the place of the violation."""
    containers = {"query": case.query, "path": case.path_parameters, "header": case.headers, "body": case.body}
    value: Any = containers.get(data.parameter_location.value) if data.parameter_location else None
    if isinstance(value, dict) and data.parameter in value:
        value = value[data.parameter]
    for part in (data.location or "").split("/")[1:]:
        if isinstance(value, dict) and part in value:
            value = value[part]
    return value


def is_repeated(case: schemathesis.Case, data: CoveragePhaseData) -> bool:
    """Whether operations before got the same violation of the same parameter, such as a `limit` of -1."""
    value = violated_value(case, data)
    violation = (data.scenario, str(data.parameter_location), data.parameter, data.location, data.description, repr(value))
    operations = violations.setdefault(violation, set())
    if len(operations) < MAX_REPETITIONS:
        operations.add(case.operation.label)
    return case.operation.label not in operations


@schemathesis.hook
def filter_case(context: schemathesis.HookContext, case: schemathesis.Case) -> bool:
    """Leaves out violations that repeat those of other operations, and all but one of the five wrong types of a value.

    The types rotate: every type is sent for every fifth value.
    """
    data = case.meta.phase.data if case.meta else None
    if not isinstance(data, CoveragePhaseData) or case.meta.generation.mode.is_positive:
        return True
    if data.scenario == CoverageScenario.INCORRECT_TYPE:
        value = (case.operation.label, data.parameter_location, data.parameter, data.description)
        count = wrong_values.setdefault(value, [len(wrong_values), 0])
        count[1] += 1
        if (count[0] + count[1] - 1) % WRONG_TYPES != 0:
            return False
    return data.parameter is None or not is_repeated(case, data)


@schemathesis.hook
def before_call(context: schemathesis.HookContext, case: schemathesis.Case, kwargs: dict[str, Any]) -> None:
    if case.meta is None or not case.meta.generation.mode.is_positive:
        return
    query, body, path = case.query or {}, case.body, case.path
    if path.startswith("/collections") or path.startswith("/v1/ogc"):
        is_aggregate = path.endswith("/aggregate")
        own = {name: given[name] for given in (query, body) if isinstance(given, dict) for name in AGGREGATES if name in given}
        fix_selection(query, is_body=False)
        fix_style(query)
        if isinstance(body, dict):
            fix_selection(body, is_body=True)
        if is_aggregate:
            given = body if isinstance(body, dict) else query
            given.update(own)
            fix_aggregate(given, is_body=given is body)
    elif "startDate" in query or "endDate" in query:
        # At most 366 days, which do not end before they begin.
        query.update({name: "2026-10-01" for name in ("startDate", "endDate") if name in query})
    if isinstance(body, dict) and isinstance(body.get("expiresAt"), str):
        body["expiresAt"] = "2999-12-31T23:59:59Z"
    if isinstance(body, dict):
        fix_callers(body)
    if isinstance(body, dict) and path == "/v1/dataset/{table}" and isinstance(body.get("columns"), dict):
        # Notes can only be on columns that the dataset has.
        body["columns"] = dict(zip(WORLD["columns"], body["columns"].values()))
    if is_upload(case):
        fix_upload(query)
    if isinstance(body, dict) and path == "/v1/dataset/{table}/schema":
        fix_schema(body)
    if isinstance(body, dict) and path == "/v1/dataset/{table}/source" and "address" in body:
        # Which options an address takes depends on its kind.
        body.update({"address": "https://data.example.org/points.csv", "options": {}, "headers": {}})
        if "every" in body:
            body["every"] = "6h"
    if isinstance(body, dict) and path.endswith("/keys/find"):
        # How secrets begin is a setting.
        body["secret"] = "svc_live_" + "x" * 20
    if isinstance(body, dict) and path.endswith("/credits") and "add" in body:
        # Many large amounts would exceed the max balance.
        body["add"] = min(body["add"], 1000)


@schemathesis.hook
def filter_failure(
    context: schemathesis.HookContext, failure: Exception, case: schemathesis.Case, response: schemathesis.Response
) -> bool:
    """A `limit` above the maximum is not an error: OGC API - Features, Part 1, 7.15.3 (fc-limit-response-1) forbids one.

    Forms with a file cannot be changed before they are sent, so what the definition cannot state about them is left out here.
    """
    if type(failure).__name__ == "RejectedPositiveData" and response.json()["code"] == "assistant-request-invalid":
        # The id of a client is signed by the service.
        return False
    is_form = is_upload(case) and isinstance(case.body, dict)
    if is_form and type(failure).__name__ == "RejectedPositiveData":
        return not is_rejected_part(case.body, response.json())
    # The only pattern of these forms forbids NUL, and some texts that are sent for a violation have none.
    data = case.meta.phase.data if case.meta else None
    about = f"{failure} {getattr(failure, 'message', '')} {getattr(data, 'description', '')}"
    is_about_form = str(getattr(data, "parameter_location", "body")).lower().endswith("body")
    if is_form and is_about_form and "violates `pattern`" in about:
        return any("\0" in value for value in case.body.values() if isinstance(value, str))
    limit = str((case.query or {}).get("limit", ""))
    is_above = limit.isdigit() and int(limit) > WORLD["maxLimit"]
    return not (is_above and type(failure).__name__ == "AcceptedNegativeData")
