"""Reads exports with geopandas and pandas, and checks KML against its schema.

Takes a JSON array of {format, path, spatial} on standard input and prints an array of the features found in
each file: {properties, geometry}, geometries as GeoJSON.
"""

import datetime
import importlib.util
import json
import math
import pathlib
import sys

import geopandas
import lxml.etree
import numpy
import pandas
import pyogrio
import shapely

KML = "{http://www.opengis.net/kml/2.2}"


def plain(value):
    if value is None or value is pandas.NaT or value is pandas.NA:
        return None
    if isinstance(value, numpy.generic):
        return plain(value.item())
    if isinstance(value, float) and math.isnan(value):
        return None
    if isinstance(value, (datetime.datetime, datetime.date)):
        return value.isoformat()
    if isinstance(value, (list, dict, str, bool, int, float)):
        return value
    return str(value)


def features(frame):
    geometry = frame.active_geometry_name if isinstance(frame, geopandas.GeoDataFrame) else None
    names = [name for name in frame.columns if name != geometry]
    columns = {name: [plain(value) for value in frame[name].astype(object)] for name in names}
    shapes = [None] * len(frame)
    if geometry:
        shapes = [json.loads(shapely.to_geojson(shape)) if shape else None for shape in frame[geometry]]
    return [
        {"properties": {name: columns[name][i] for name in names}, "geometry": shapes[i]} for i in range(len(frame))
    ]


def read_layers(path):
    layers = [name for name, _ in pyogrio.list_layers(path)]
    return [feature for layer in layers for feature in features(geopandas.read_file(path, layer=layer))]


def read_csv(path, spatial):
    frame = pandas.read_csv(path, dtype=str, keep_default_na=False)
    frame = frame.map(lambda text: None if text == "" else text)
    if not spatial:
        return features(frame)
    if "geometry" in frame:
        shapes = geopandas.GeoSeries.from_wkt(frame["geometry"])
    else:
        shapes = geopandas.points_from_xy(frame["longitude"].astype(float), frame["latitude"].astype(float))
        shapes = [None if point.is_empty else point for point in shapes]
    frame = frame.drop(columns=["longitude", "latitude", "geometry"], errors="ignore")
    return features(geopandas.GeoDataFrame(frame, geometry=list(shapes)))


def read_kml(path):
    """Validates strictly against the schema; reads the values from the placemarks' typed data."""
    folder = pathlib.Path(importlib.util.find_spec("fastkml").origin).parent / "schema"
    schema = lxml.etree.XMLSchema(lxml.etree.parse(folder / "ogckml22.xsd"))
    document = lxml.etree.parse(path, lxml.etree.XMLParser(huge_tree=True))
    schema.assertValid(document)
    if b"<![CDATA[" in pathlib.Path(path).read_bytes():
        raise ValueError(f"{path} has CDATA")
    return [
        {
            "properties": {data.get("name"): data.text or "" for data in placemark.iter(f"{KML}SimpleData")},
            "geometry": next((kml_shape(child) for child in placemark if child.tag in KML_SHAPES), None),
        }
        for placemark in document.iter(f"{KML}Placemark")
    ]


def kml_shape(element):
    return KML_SHAPES[element.tag](element)


def kml_positions(element):
    text = element.findtext(f"{KML}coordinates")
    return [[float(number) for number in position.split(",")] for position in text.split()]


def kml_polygon(element):
    rings = element.findall(f"{KML}outerBoundaryIs/{KML}LinearRing")
    rings += element.findall(f"{KML}innerBoundaryIs/{KML}LinearRing")
    return {"type": "Polygon", "coordinates": [kml_positions(ring) for ring in rings]}


KML_SHAPES = {
    f"{KML}Point": lambda element: {"type": "Point", "coordinates": kml_positions(element)[0]},
    f"{KML}LineString": lambda element: {"type": "LineString", "coordinates": kml_positions(element)},
    f"{KML}Polygon": kml_polygon,
    f"{KML}MultiGeometry": lambda element: {
        "type": "GeometryCollection",
        "geometries": [kml_shape(child) for child in element],
    },
}


def read_geoparquet(path, spatial):
    return features(geopandas.read_parquet(path) if spatial else pandas.read_parquet(path))


def read(file_format, path, spatial):
    if file_format == "csv":
        return read_csv(path, spatial)
    if file_format == "kml":
        return read_kml(path)
    if file_format == "geoparquet":
        return read_geoparquet(path, spatial)
    return read_layers(path)


json.dump([read(file["format"], file["path"], file["spatial"]) for file in json.load(sys.stdin)], sys.stdout)
