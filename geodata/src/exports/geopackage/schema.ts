import type { DatabaseSync } from 'node:sqlite'
import type { Column } from '../../feature.ts'
import { quoteName } from '../../quote-sql.ts'
import type { Manifest } from '../../snapshot/manifest.ts'
import type { ExportOptions } from '../export-options.ts'
import { layerType } from '../geometry/layer-type.ts'
import type { IntegerSize } from '../integer-ranges.ts'

const GEOMETRY_COLUMN = 'geom'

/** `GPKG` in ASCII, and the version 1.3 of the specification. */
const APPLICATION_ID = 0x47504b47
const VERSION = 10300

const WGS84 =
  'GEOGCS["WGS 84",DATUM["WGS_1984",SPHEROID["WGS 84",6378137,298.257223563,AUTHORITY["EPSG","7030"]],' +
  'AUTHORITY["EPSG","6326"]],PRIMEM["Greenwich",0,AUTHORITY["EPSG","8901"]],' +
  'UNIT["degree",0.0174532925199433,AUTHORITY["EPSG","9122"]],AUTHORITY["EPSG","4326"]]'

/** The tables that every GeoPackage has (clauses 1.1.2, 1.1.3, 2.1 and 2.3 of the specification). */
const BASE = `
PRAGMA application_id = ${APPLICATION_ID};
PRAGMA user_version = ${VERSION};
CREATE TABLE gpkg_spatial_ref_sys (
  srs_name TEXT NOT NULL, srs_id INTEGER NOT NULL PRIMARY KEY, organization TEXT NOT NULL,
  organization_coordsys_id INTEGER NOT NULL, definition TEXT NOT NULL, description TEXT
);
INSERT INTO gpkg_spatial_ref_sys VALUES
  ('WGS 84 geodetic', 4326, 'EPSG', 4326, '${WGS84}', 'longitude and latitude in degrees'),
  ('Undefined cartesian SRS', -1, 'NONE', -1, 'undefined', 'undefined cartesian coordinate reference system'),
  ('Undefined geographic SRS', 0, 'NONE', 0, 'undefined', 'undefined geographic coordinate reference system');
CREATE TABLE gpkg_contents (
  table_name TEXT NOT NULL PRIMARY KEY, data_type TEXT NOT NULL, identifier TEXT UNIQUE,
  description TEXT DEFAULT '', last_change DATETIME NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ','now')),
  min_x DOUBLE, min_y DOUBLE, max_x DOUBLE, max_y DOUBLE, srs_id INTEGER,
  CONSTRAINT fk_gc_r_srs_id FOREIGN KEY (srs_id) REFERENCES gpkg_spatial_ref_sys(srs_id)
);
CREATE TABLE gpkg_geometry_columns (
  table_name TEXT NOT NULL, column_name TEXT NOT NULL, geometry_type_name TEXT NOT NULL,
  srs_id INTEGER NOT NULL, z TINYINT NOT NULL, m TINYINT NOT NULL,
  CONSTRAINT pk_geom_cols PRIMARY KEY (table_name, column_name),
  CONSTRAINT uk_gc_table_name UNIQUE (table_name),
  CONSTRAINT fk_gc_tn FOREIGN KEY (table_name) REFERENCES gpkg_contents(table_name),
  CONSTRAINT fk_gc_srs FOREIGN KEY (srs_id) REFERENCES gpkg_spatial_ref_sys (srs_id)
);
CREATE TABLE gpkg_extensions (
  table_name TEXT, column_name TEXT, extension_name TEXT NOT NULL, definition TEXT NOT NULL, scope TEXT NOT NULL,
  CONSTRAINT ge_tce UNIQUE (table_name, column_name, extension_name)
);
`

export interface TableNames {
  id: string
  geometry: string | null
  columns: string[]
}

/** The id and geometry columns are renamed if a column of the dataset has the same name. */
export function tableNames({ columns, geometryType }: Manifest): TableNames {
  const usedNames = new Set(columns.map(({ name }) => name.toLowerCase()))
  const free = (name: string) => {
    let freeName = name
    for (let n = 1; usedNames.has(freeName); n++) freeName = `${name}_${n}`
    return freeName
  }
  return {
    id: free('fid'),
    geometry: geometryType === null ? null : free(GEOMETRY_COLUMN),
    columns: columns.map(({ name }) => name),
  }
}

export function createTables(
  database: DatabaseSync,
  manifest: Manifest,
  names: TableNames,
  sizes: (IntegerSize | null)[],
  { table, title, description, attribution, license, updatedAt }: ExportOptions,
): void {
  database.exec(BASE)
  const type = layerType(manifest).type?.toUpperCase()
  const definitions = [
    `${quoteName(names.id)} INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL`,
    ...(names.geometry ? [`${quoteName(names.geometry)} ${type}`] : []),
    ...manifest.columns.map(
      (column, i) => `${quoteName(column.name)} ${columnType(column, sizes[i] ?? null)}`,
    ),
  ]
  database.exec(`CREATE TABLE ${quoteName(table)} (${definitions.join(', ')})`)
  const about = [description, attribution, license].filter(Boolean).join('\n\n')
  const changed = new Date(updatedAt ?? 0).toISOString()
  const spatial = names.geometry !== null
  database
    .prepare('INSERT INTO gpkg_contents VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)')
    .run(
      table,
      spatial ? 'features' : 'attributes',
      title || table,
      about,
      changed,
      ...(manifest.bbox ?? [null, null, null, null]),
      spatial ? 4326 : null,
    )
  if (!names.geometry || !type) return
  database
    .prepare('INSERT INTO gpkg_geometry_columns VALUES (?, ?, ?, 4326, ?, 0)')
    .run(table, names.geometry, type, manifest.hasZ ? 2 : 0)
  database
    .prepare('INSERT INTO gpkg_extensions VALUES (?, ?, ?, ?, ?)')
    .run(
      table,
      names.geometry,
      'gpkg_rtree_index',
      'http://www.geopackage.org/spec120/#extension_rtree',
      'write-only',
    )
}

function columnType({ type }: Column, size: IntegerSize | null): string {
  switch (type) {
    case 'boolean':
      return 'BOOLEAN'
    case 'integer':
      return size === 'larger' ? 'TEXT' : 'INTEGER'
    case 'number':
      return 'DOUBLE'
    case 'date':
      return 'DATE'
    case 'timestamp':
      return 'DATETIME'
    case 'text':
    case 'json':
      return 'TEXT'
  }
}

/** The triggers of the R-tree extension (annex F.3), which update the index when the file is edited. */
export function createTriggers(database: DatabaseSync, table: string, names: TableNames): void {
  if (!names.geometry) return
  const rtree = quoteName(`rtree_${table}_${names.geometry}`)
  const trigger = (suffix: string) => quoteName(`rtree_${table}_${names.geometry}_${suffix}`)
  const [t, id, geom] = [quoteName(table), quoteName(names.id), quoteName(names.geometry)]
  const full = `(NEW.${geom} NOTNULL AND NOT ST_IsEmpty(NEW.${geom}))`
  const bare = `(NEW.${geom} ISNULL OR ST_IsEmpty(NEW.${geom}))`
  const insert =
    `INSERT OR REPLACE INTO ${rtree} VALUES (NEW.${id}, ST_MinX(NEW.${geom}), ST_MaxX(NEW.${geom}), ` +
    `ST_MinY(NEW.${geom}), ST_MaxY(NEW.${geom}));`
  const remove = `DELETE FROM ${rtree} WHERE id = OLD.${id};`
  database.exec(`
CREATE TRIGGER ${trigger('insert')} AFTER INSERT ON ${t} WHEN ${full} BEGIN ${insert} END;
CREATE TRIGGER ${trigger('update1')} AFTER UPDATE OF ${geom} ON ${t}
  WHEN OLD.${id} = NEW.${id} AND ${full} BEGIN ${insert} END;
CREATE TRIGGER ${trigger('update2')} AFTER UPDATE OF ${geom} ON ${t}
  WHEN OLD.${id} = NEW.${id} AND ${bare} BEGIN ${remove} END;
CREATE TRIGGER ${trigger('update3')} AFTER UPDATE ON ${t}
  WHEN OLD.${id} != NEW.${id} AND ${full} BEGIN ${remove} ${insert} END;
CREATE TRIGGER ${trigger('update4')} AFTER UPDATE ON ${t}
  WHEN OLD.${id} != NEW.${id} AND ${bare} BEGIN DELETE FROM ${rtree} WHERE id IN (OLD.${id}, NEW.${id}); END;
CREATE TRIGGER ${trigger('delete')} AFTER DELETE ON ${t} WHEN OLD.${geom} NOT NULL BEGIN ${remove} END;
`)
}
