"""Notebooks show tables and maps, with every text escaped and nothing to load."""

from __future__ import annotations

import copy
import pickle
from html.parser import HTMLParser
from pathlib import Path

import pytest
from service import Service

import wayleave
from wayleave._display.map import MAX_POSITIONS, features_svg, world_svg

EVIL = '<script>alert("1")</script><img src=x onerror=alert(1)>&'


class Checker(HTMLParser):
    """Collects tags and text; void and unclosed elements fail."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.open: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.text = ""
        self.feed(html)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.open.append(tag)
        self.attributes += attrs

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


ALLOWED = [
    "circle",
    "details",
    "div",
    "h4",
    "p",
    "path",
    "rect",
    "summary",
    "svg",
    "table",
    "tbody",
    "td",
    "th",
    "thead",
    "title",
    "tr",
]


def check(html: str) -> Checker:
    checker = Checker(html)
    assert set(checker.tags) <= set(ALLOWED)
    assert [name for name, _ in checker.attributes if name.startswith("on") or name in ("src", "href")] == []
    return checker


@pytest.fixture(scope="module")
def evil(service: Service, tmp_path_factory: pytest.TempPathFactory) -> None:
    file = tmp_path_factory.mktemp("evil") / "evil.csv"
    file.write_text('"<b>col</b>",longitude,latitude\n"' + EVIL.replace('"', '""') + '",1,2\n')
    texts = ("--title", EVIL, "--description", EVIL, "--license", EVIL, "--attribution", EVIL)
    service.publish("evil", file, *texts)


def test_a_dataset_shows_its_facts_columns_and_a_map(client: wayleave.Client) -> None:
    places = client["places"]
    shown = check(places._repr_html_())
    for text in ("Places", "200", "population", "integer", "2 credits", "csv, json, geojson"):
        assert text in shown.text
    assert shown.tags.count("svg") == 1
    assert "svg" not in check(client["fruit"]._repr_html_()).tags
    assert repr(places) == "<Dataset 'places': Places, 200 rows, Point, version 2, 2 credits a download>"


def test_lists_show_tables(client: wayleave.Client) -> None:
    datasets = client.datasets()
    shown = check(datasets._repr_html_())
    assert shown.tags.count("tr") == len(datasets) + 1
    assert "places" in shown.text
    lines = repr(datasets).split("\n")
    assert len(lines) == len(datasets) + 1
    assert lines[0].startswith("table")
    assert check(client.archives("places")._repr_html_()).tags.count("tr") == 3


def test_a_page_shows_rows_and_a_map(client: wayleave.Client) -> None:
    shown = check(next(client.items("shapes"))._repr_html_())
    assert "8 of 8 features" in shown.text
    # Two polygons of which one has two parts, lines, a collection: each drawn over the land.
    assert shown.tags.count("path") == 1 + 3 + 4
    assert shown.tags.count("circle") == 4
    many = check(next(client.items("many", limit=5000))._repr_html_())
    assert "and 4,990 more features" in many.text
    assert many.tags.count("circle") <= 2000
    assert check(next(client.items("fruit"))._repr_html_()).tags.count("svg") == 0


@pytest.mark.usefixtures("evil")
def test_texts_of_publishers_are_escaped(client: wayleave.Client) -> None:
    page = next(client.items("evil"))
    for html in (
        client["evil"]._repr_html_(),
        client.datasets()._repr_html_(),
        page._repr_html_(),
    ):
        assert "alert" in check(html).text


def test_a_job_shows_its_report(client: wayleave.Client, folder: Path) -> None:
    (folder / "x.csv").write_text("a\n1\n")
    shown = check(client.publish("reported", folder / "x.csv")._repr_html_())
    assert "done" in shown.text


def test_maps_are_bounded_and_cross_the_antimeridian() -> None:
    assert check(world_svg((170, -10, -170, 10))).tags.count("rect") == 1 + 2
    assert world_svg(None) == ""
    ring = [[i / 1e5, i / 1e5] for i in range(100_000)]
    heavy = [{"geometry": {"type": "Polygon", "coordinates": [ring]}}] * 3000
    assert len(features_svg(heavy)) < MAX_POSITIONS * 30
    odd = [
        {"geometry": None},
        {"geometry": {"type": "Point", "coordinates": []}},
        {"geometry": {"type": "Polygon", "coordinates": []}},
        {"geometry": {"type": "MultiPolygon", "coordinates": [[[]]]}},
        {"geometry": {"type": "MultiLineString", "coordinates": [[]]}},
        {"geometry": {"type": "GeometryCollection", "geometries": []}},
    ]
    assert features_svg(odd) == features_svg([]) == ""
    check(features_svg([{"geometry": {"type": "Point", "coordinates": [5, 50, 7]}}]))


def test_a_dataset_can_be_copied_and_pickled_without_its_client(client: wayleave.Client) -> None:
    places = client["places"]
    for same in (copy.deepcopy(places), pickle.loads(pickle.dumps(places))):
        assert same == places
        with pytest.raises(wayleave.WayleaveError, match=r'client\["places"\]'):
            same.read()
