"""What PROJ's own database knows, as JSON lines on standard output.

    python proj_reference.py list             every CRS of EPSG and ESRI, and every datum transformation to WGS84
    python proj_reference.py reference   for every CRS of standard input, one JSON object a line (see
        `write_reference`), points inside its area, where PROJ puts them, and the texts that PROJ writes of it

make-epsg-list.ts makes the committed list from the first; the tests compare ours with PROJ by the second.
Needs pyproj in the version that scripts/test-run/requirements.txt pins.
"""

import json
import math
import os
import re
import sqlite3
import sys
import warnings
import zlib

import pyproj
from pyproj import CRS, Proj
from pyproj.exceptions import CRSError, ProjError
from pyproj.transformer import Transformer, TransformerGroup

warnings.simplefilter("ignore")

# No grid file is installed or downloaded: only transformations by parameters count.
pyproj.network.set_network_enabled(False)

WGS84 = "EPSG:4326"
DEGREE = math.pi / 180


def database():
    path = os.path.join(pyproj.datadir.get_data_dir(), "proj.db")
    return sqlite3.connect(f"file:{path}?mode=ro", uri=True)


def write(record):
    sys.stdout.write(json.dumps(record, ensure_ascii=False) + "\n")


# --- the list -------------------------------------------------------------------------------------------------


def write_list():
    db = database()
    metadata = dict(db.execute("SELECT key, value FROM metadata"))
    write({"kind": "source", "proj": pyproj.proj_version_str, "epsg": metadata["EPSG.VERSION"],
           "epsgDate": metadata["EPSG.DATE"], "esri": metadata["ESRI.VERSION"]})
    esri_names = {
        (authority, str(code)): name
        for authority, code, name in db.execute(
            "SELECT auth_name, code, alt_name FROM alias_name WHERE source = 'ESRI' "
            "AND table_name IN ('projected_crs', 'geodetic_crs') ORDER BY alt_name DESC")
    }
    rows = db.execute("""
        SELECT auth_name, code, name, kind, deprecated FROM (
          SELECT auth_name, code, name, 'geographic' AS kind, deprecated, type FROM geodetic_crs
          UNION ALL SELECT auth_name, code, name, 'projected', deprecated, '' FROM projected_crs
          UNION ALL SELECT auth_name, code, name, 'compound', deprecated, '' FROM compound_crs)
        WHERE auth_name IN ('EPSG', 'ESRI') AND type <> 'geocentric' AND type <> 'other'
        ORDER BY auth_name, CAST(code AS INTEGER)""").fetchall()
    esri_datums = {
        (authority, str(code)): name
        for authority, code, name in db.execute(
            "SELECT auth_name, code, alt_name FROM alias_name WHERE source = 'ESRI' AND table_name = 'geodetic_datum'")
    }
    datum_of_crs = {
        (authority, str(code)): (datum_authority, str(datum_code))
        for authority, code, datum_authority, datum_code in db.execute(
            "SELECT auth_name, code, datum_auth_name, datum_code FROM geodetic_crs")
    }
    bases = {}
    for authority, number, name, kind, deprecated in rows:
        code = str(number)
        try:
            crs = CRS.from_authority(authority, code)
        except CRSError as error:
            print(f"{authority}:{code} {error}", file=sys.stderr)
            continue
        record = {"kind": kind, "authority": authority, "code": code, "name": name, "deprecated": deprecated,
                  "esriName": esri_names.get((authority, code), "")}
        if kind == "compound":
            record["horizontal"] = ":".join(crs.sub_crs_list[0].to_authority() or ("", ""))
            record["area"] = area_of(crs)
            write(record)
            continue
        horizontal = crs.to_2d() if len(crs.axis_info) > 2 else crs
        base = horizontal.geodetic_crs
        if not is_on_earth(base):
            continue
        base_name = base_authority(db, base, authority, code, kind)
        if base_name not in bases:
            bases[base_name] = transformations(base)
            write({"kind": "base", "base": base_name, "name": base.name, "transformations": bases[base_name]})
        record["base"] = base_name
        if kind == "geographic":
            record["datum"] = datum_name(base)
            record["esriDatum"] = esri_datums.get(datum_of_crs.get((authority, code)), "")
        record["area"] = area_of(crs)
        record["axes"] = len(crs.axis_info)
        record["northingFirst"] = is_northing_first(horizontal)
        record["projjson"] = json.loads(horizontal.to_json())
        points = grid(record["area"] or area_around_origin(horizontal), 5)
        record["points"] = points
        record["native"] = to_native(horizontal, points)
        write(record)


def datum_name(base):
    return re.sub(r" ensemble$", "", base.datum.name if base.datum else "")


def is_on_earth(base):
    """ESRI's list has the Moon and the planets too."""
    return 6.35e6 < base.ellipsoid.semi_major_metre < 6.4e6


def base_authority(db, base, authority, code, kind):
    if kind == "geographic":
        return f"{authority}:{code}"
    row = db.execute("SELECT geodetic_crs_auth_name, geodetic_crs_code FROM projected_crs "
                     "WHERE auth_name = ? AND code = ?", (authority, code)).fetchone()
    if row[0] is None:
        row = base.to_authority() or ("", "")
    return WGS84 if tuple(row) == ("OGC", "CRS84") else f"{row[0]}:{row[1]}"


def area_of(crs):
    if crs.area_of_use is None:
        return None
    west, south, east, north = crs.area_of_use.bounds
    if south < -90:  # PROJ writes -1000 for an extent that EPSG names without bounds
        return None
    return [west, south, east + 360 if east < west else east, north]


def area_around_origin(crs):
    """Some degrees around the origin of a projection, for a CRS whose area is not known."""
    if crs.is_geographic:
        return [-170, -80, 170, 80]
    values = {each.name: each.value * each.unit_conversion_factor / DEGREE
              for each in crs.coordinate_operation.params if "itude" in each.name}
    longitude = next((value for name, value in values.items() if name.startswith("Longitude")), 0)
    latitude = next((value for name, value in values.items() if name.startswith("Latitude")), 0)
    south = min(max(latitude, -80), 70)
    return [longitude - 3, south, longitude + 3, south + 6]


def grid(area, count):
    """Points inside an area; its edge is left out, where rounding of the stated area matters."""
    west, south, east, north = area
    steps = [(i + 0.5) / count for i in range(count)]
    return [[west + (east - west) * u, south + (north - south) * v] for v in steps for u in steps]


def turn(longitude):
    return (longitude + 540) % 360 - 180


def is_northing_first(crs):
    """Whether the authority's order differs from x, y; PROJ's own rule, asked by numbers."""
    if crs.is_geographic:
        return crs.axis_info[0].direction == "north"
    base = crs.geodetic_crs
    west, south, east, north = area_of(crs) or area_around_origin(crs)
    point = native_angles(base, [[(west + east) / 2 + 0.01, (south + north) / 2 + 0.02]])[0]
    try:
        x, y = Transformer.from_crs(base, crs, always_xy=True).transform(*point)
        swapped = base.axis_info[0].direction == "north"
        first, second = Transformer.from_crs(base, crs).transform(*(reversed(point) if swapped else point))
    except ProjError:
        return False
    return (first, second) == (y, x) and x != y


def native_angles(base, points):
    """Longitude and latitude from Greenwich in degrees, as the geographic CRS counts them."""
    meridian = base.prime_meridian.longitude * base.prime_meridian.unit_conversion_factor / DEGREE
    unit = base.axis_info[0].unit_conversion_factor / DEGREE
    return [[turn(x - meridian) / unit, y / unit] for x, y in points]


def to_native(crs, points):
    angles = native_angles(crs.geodetic_crs, points)
    if crs.is_geographic:
        return angles
    try:
        transformer = Transformer.from_crs(crs.geodetic_crs, crs, always_xy=True)
    except ProjError:
        return None
    return finite(transformer.itransform(angles))


def finite(points):
    return [[x, y] if math.isfinite(x) and math.isfinite(y) else None for x, y, *_ in points]


def transformations(base):
    """PROJ's operations to WGS84 that need no grid, in PROJ's order."""
    try:
        group = TransformerGroup(base, WGS84, always_xy=True, allow_ballpark=False)
    except (IndexError, ProjError):
        return []
    records = []
    for transformer in group.transformers:
        parameters = position_vector(transformer.definition)
        if parameters is None or transformer.area_of_use is None:
            continue
        west, south, east, north = transformer.area_of_use.bounds
        area = [west, south, east + 360 if east < west else east, north]
        points = grid(area, 4)
        records.append({
            "name": re.sub(r"axis order change \(2D\) \+ | \+ axis order change \(2D\)", "", transformer.description),
            "accuracy": transformer.accuracy,
            "offshore": "offshore" in transformer.area_of_use.name and "onshore" not in transformer.area_of_use.name,
            "area": area,
            "parameters": parameters,
            "points": points,
            "wgs84": finite(transformer.itransform(native_angles(base, points))),
        })
    return records


def position_vector(definition):
    """The seven parameters (m, arc-seconds, ppm; position vector rotation) of a pipeline, or None.

    Steps between geocentric coordinates are multiplied; Molodensky-Badekas turns about another point than the
    centre of the Earth, which is the same as a turn about the centre and another translation.
    """
    if definition.startswith("proj=noop"):
        return [0.0] * 7
    matrix, offset = [[1, 0, 0], [0, 1, 0], [0, 0, 1]], [0, 0, 0]
    for step in re.split(r"\bstep\b", definition):
        parts = dict((part.split("=", 1) + [""])[:2] for part in step.split())
        name = parts.get("proj")
        if name in (None, "pipeline", "cart", "push", "pop", "unitconvert", "axisswap", "noop", "longlat"):
            continue
        if name not in ("helmert", "molobadekas") or "exact" in parts or "theta" in parts:
            return None
        turned, moved = helmert_step(parts)
        if "inv" in parts:
            turned, moved = inverted(turned, moved)
        matrix, offset = multiply(turned, matrix), add(apply(turned, offset), moved)
    scale = (matrix[0][0] + matrix[1][1] + matrix[2][2]) / 3
    arc_second = DEGREE / 3600
    rotation = [(matrix[2][1] - matrix[1][2]) / 2, (matrix[0][2] - matrix[2][0]) / 2, (matrix[1][0] - matrix[0][1]) / 2]
    return [*offset, *(angle / scale / arc_second for angle in rotation), (scale - 1) * 1e6]


def helmert_step(parts):
    def number(name):
        return float(parts.get(name, 0))

    sign = -1 if parts.get("convention") == "coordinate_frame" else 1
    rx, ry, rz = (sign * number(name) * DEGREE / 3600 for name in ("rx", "ry", "rz"))
    scale = 1 + number("s") * 1e-6
    turned = [[scale * cell for cell in row] for row in ((1, -rz, ry), (rz, 1, -rx), (-ry, rx, 1))]
    pivot = [number("px"), number("py"), number("pz")]
    moved = add([number("x"), number("y"), number("z")], add(pivot, apply(turned, [-one for one in pivot])))
    return turned, moved


def inverted(matrix, offset):
    (a, b, c), (d, e, f), (g, h, i) = matrix
    determinant = a * (e * i - f * h) - b * (d * i - f * g) + c * (d * h - e * g)
    cofactors = ((e * i - f * h, c * h - b * i, b * f - c * e),
                 (f * g - d * i, a * i - c * g, c * d - a * f),
                 (d * h - e * g, b * g - a * h, a * e - b * d))
    inverse = [[cell / determinant for cell in row] for row in cofactors]
    return inverse, [-one for one in apply(inverse, offset)]


def multiply(one, other):
    return [[sum(one[i][k] * other[k][j] for k in range(3)) for j in range(3)] for i in range(3)]


def apply(matrix, vector):
    return [sum(matrix[i][k] * vector[k] for k in range(3)) for i in range(3)]


def add(one, other):
    return [a + b for a, b in zip(one, other)]


# --- the reference for tests ----------------------------------------------------------------------------------


def write_reference(requests):
    """Requests are {name, base, places, texts}: whether to find PROJ's transformations, and whether to write texts.

    They should be sorted by base, the code of the geographic CRS: to find its transformations is expensive, and
    they are kept until the next one comes.
    """
    last_base, transformers = None, []
    for request in requests:
        crs = CRS.from_user_input(request["name"])
        horizontal = crs.sub_crs_list[0] if crs.sub_crs_list else crs
        horizontal = horizontal.to_2d() if len(horizontal.axis_info) > 2 else horizontal
        base = horizontal.geodetic_crs
        points = grid(area_of(crs) or area_around_origin(horizontal), 2)
        native = projected(horizontal, points)
        record = {"name": request["name"], "points": points, "native": native,
                  "northingFirst": is_northing_first(horizontal)}
        if request["places"]:
            if request["base"] != last_base:
                last_base, transformers = request["base"], operations(base)
            record["places"] = places(transformers, base, points)
        if request["texts"]:
            record["texts"] = texts(horizontal, points)
        write(record)


def operations(base):
    try:
        return TransformerGroup(base, WGS84, always_xy=True, allow_ballpark=False).transformers
    except (IndexError, ProjError):
        return []


def places(transformers, base, points):
    """For every point the places that PROJ's transformations give it."""
    angles = native_angles(base, points)
    found = [[] for _ in points]
    for transformer in transformers:
        if transformer.area_of_use is None:
            continue
        west, south, east, north = transformer.area_of_use.bounds
        east = east + 360 if east < west else east
        for i, (x, y) in enumerate(points):
            if south <= y <= north and any(west <= x + turns <= east for turns in (-360, 0, 360)):
                found[i].append(transformer.transform(*angles[i]))
    return found


FORMS = {
    "WKT1_GDAL": lambda crs: crs.to_wkt("WKT1_GDAL"),
    "WKT1_ESRI": lambda crs: crs.to_wkt("WKT1_ESRI"),
    "WKT2_2015": lambda crs: crs.to_wkt("WKT2_2015"),
    "WKT2_2019": lambda crs: crs.to_wkt("WKT2_2019"),
    "PROJJSON": lambda crs: crs.to_json(),
    "PROJ": lambda crs: crs.to_proj4(),
}


def texts(crs, points):
    """All forms in which PROJ can write the CRS, without codes, so that what they define has to be understood.

    WKT 1 and PROJ strings cannot say everything, so they have the points as PROJ reads the text itself.
    """
    written = []
    for form, write_form in FORMS.items():
        try:
            text = write_form(crs)
            if not text:
                continue
            if form == "PROJJSON":
                text = json.dumps(without_ids(json.loads(text)), ensure_ascii=False)
            else:
                text = re.sub(r",\s*(ID|AUTHORITY)\[[^\[\]]*(\[[^\[\]]*\][^\[\]]*)*\]", "", text)
            native = None if says_all(form, crs) else projected(CRS.from_user_input(text), points)
        except (CRSError, ProjError):
            continue
        written.append({"form": form, "text": text, "native": native})
    return written


def says_all(form, crs):
    """Whether a form loses nothing, so that its points are those of the CRS itself."""
    if form in EXACT_FORMS:
        return True
    # WKT 1 has no names for the methods on a sphere: PROJ reads such a text as the method on the ellipsoid.
    operation = crs.coordinate_operation
    is_spherical = operation is not None and "(Spherical)" in operation.method_name
    return "+R_A" in crs.to_proj4() and not is_spherical


EXACT_FORMS = ("WKT2_2015", "WKT2_2019", "PROJJSON")


def projected(crs, points):
    """The points in a CRS, several times faster than by a transformer, which searches the database."""
    if crs.is_geographic:
        return native_angles(crs, points)
    # A PROJ string cannot say everything: Proj takes the latitudes of +R_A for geocentric ones, and the axes of
    # some systems to the south and the west are not written.
    text = crs.to_proj4()
    is_turned = any(axis.direction in ("south", "west") for axis in crs.axis_info[:2])
    if "+R_A" in text or (is_turned and "+axis" not in text):
        return to_native(crs, points)
    projection = Proj(crs, preserve_units=True)
    return finite(projection(x, y) for x, y in points)


def without_ids(value):
    if isinstance(value, dict):
        return {key: without_ids(each) for key, each in value.items() if key not in ("id", "ids")}
    return [without_ids(each) for each in value] if isinstance(value, list) else value


if __name__ == "__main__":
    if sys.argv[1:] == ["list"]:
        write_list()
    elif sys.argv[1:2] == ["reference"]:
        write_reference(json.loads(line) for line in sys.stdin)
    else:
        sys.exit(__doc__)
