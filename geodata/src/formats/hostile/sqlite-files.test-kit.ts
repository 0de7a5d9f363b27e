import { symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { quoteName, quoteText } from '../../quote-sql.ts'
import type { Canary, HostileFile } from './hostile-file.test-kit.ts'

const POINT = `x'0001E6100000000000000000F03F0000000000004940000000000000F03F00000000000049407C01000000000000000000F03F0000000000004940FE'`

/** An ordinary file with the layer `pois`, whose only row has the name `own`. */
const ORDINARY = {
  spatialite: `CREATE TABLE spatial_ref_sys (srid INTEGER PRIMARY KEY, auth_name TEXT, auth_srid INTEGER, srtext TEXT);
    INSERT INTO spatial_ref_sys VALUES (4326, 'epsg', 4326, '');
    CREATE TABLE geometry_columns (f_table_name TEXT, f_geometry_column TEXT, geometry_type INTEGER,
      coord_dimension INTEGER, srid INTEGER, spatial_index_enabled INTEGER);
    CREATE TABLE pois (id INTEGER PRIMARY KEY, name TEXT, geometry BLOB);
    INSERT INTO pois VALUES (1, 'own', ${POINT});`,
  geopackage: `CREATE TABLE gpkg_contents (table_name TEXT, data_type TEXT);
    CREATE TABLE pois (id INTEGER PRIMARY KEY, name TEXT); INSERT INTO pois VALUES (1, 'own');`,
}
type Dialect = keyof typeof ORDINARY

const LISTED = {
  spatialite: (table: string) =>
    `INSERT INTO geometry_columns VALUES ('${table}', 'geometry', 1, 2, 4326, 0);`,
  geopackage: (table: string) => `INSERT INTO gpkg_contents VALUES ('${table}', 'attributes');`,
}

interface Content {
  /** Statements that any SQLite executes. */
  sql?: string
  /** Texts for sqlite_master, which are written without being executed. */
  schema?: string[]
  /** Texts that replace those of tables and indexes in sqlite_master, by their names. */
  replaced?: { [name: string]: string }
  /** The layer that the file lists; `pois` by default. */
  listed?: string
}

function database(
  { folder }: Canary,
  dialect: Dialect,
  { sql = '', schema = [], replaced = {}, listed = 'pois' }: Content,
): string {
  const path = join(folder, dialect === 'spatialite' ? 'a.sqlite' : 'a.gpkg')
  const connection = new DatabaseSync(path)
  connection.enableDefensive(false)
  connection.exec('PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF')
  connection.exec(ORDINARY[dialect] + LISTED[dialect](listed) + sql)
  connection.exec('PRAGMA writable_schema = ON')
  const insert = connection.prepare(
    'INSERT INTO sqlite_master (type, name, tbl_name, rootpage, sql) VALUES (?, ?, ?, 0, ?)',
  )
  for (const text of schema) {
    const [, type = 'table', name = 'leak', table] =
      /(table|view|trigger)\s+(\w+)(?: AFTER INSERT ON (\w+))?/i.exec(text) ?? []
    insert.run(type.toLowerCase(), name, table ?? name, text)
  }
  const replace = connection.prepare('UPDATE sqlite_master SET sql = ? WHERE name = ?')
  for (const [name, text] of Object.entries(replaced)) replace.run(text, name)
  connection.close()
  return path
}

/** The virtual tables of SQLite, of its extensions and of SpatiaLite, with arguments that name the canary. */
function modules({ canaryFile }: Pick<Canary, 'canaryFile'>): { [module: string]: string } {
  const file = quoteText(canaryFile)
  return {
    VirtualText: `${file}, 'UTF-8', 0, POINT, NONE, ':'`,
    VirtualShape: `${file}, 'UTF-8', 4326`,
    VirtualDbf: `${file}, 'UTF-8'`,
    VirtualOGR: `${file}, 0, 'signing_keys'`,
    VirtualXL: `${file}, 0, 0`,
    VirtualNetwork: quoteText('pois'),
    VirtualRouting: quoteText('pois'),
    VirtualFDO: 'pois',
    VirtualGPKG: 'pois',
    VirtualBBox: `pois, ${file}`,
    VirtualGeoJSON: `${file}, 4326`,
    VirtualXPath: file,
    VirtualSpatialIndex: '',
    VirtualElementary: '',
    VirtualKNN: '',
    VirtualKNN2: '',
    fts3: 'a',
    fts4: 'a',
    fts4aux: 'pois',
    fts3tokenize: '',
    fts5: 'a',
    fts5vocab: `pois, row`,
    rtree: 'id, a, b',
    rtree_i32: 'id, a, b',
    geopoly: '',
    csv: `filename=${file}`,
    vsv: `filename=${file}`,
    zipfile: file,
    fsdir: file,
    lines: file,
    dbstat: '',
    sqlite_dbpage: '',
    sqlite_dbdata: '',
    sqlite_stmt: '',
    json_each: file,
    json_tree: file,
    generate_series: '',
    unionvtab: `"SELECT ${canaryFile}"`,
    swarmvtab: `"SELECT ${canaryFile}"`,
    spellfix1: '',
    transitive_closure: '',
    carray: '',
    completion: '',
    bytecode: '',
    tables_used: '',
    no_such_module: file,
  }
}

const MODULES = Object.keys(modules({ canaryFile: '' }))
const virtualTable = (canary: Canary, module: string, name = 'leak') =>
  `CREATE VIRTUAL TABLE ${name} USING ${module}(${modules(canary)[module]})`
const VIRTUAL = (module: string) => ({ refused: new RegExp(`virtual table .*of the module ${module}\\.`) })

/** Each module as a chosen layer, as a listed layer, and behind a view that is listed or chosen. */
function moduleFiles(module: string): HostileFile[] {
  const expected = VIRTUAL(module)
  const view = 'CREATE VIEW seen AS SELECT *, NULL AS geometry FROM "LEAK" LIMIT 1'
  const nested = 'CREATE VIEW outermost AS SELECT * FROM [seen]'
  return [
    {
      name: `SpatiaLite, layer of ${module}`,
      format: 'spatialite',
      make: (canary) => database(canary, 'spatialite', { schema: [virtualTable(canary, module)] }),
      options: { layer: 'leak' },
      expected,
    },
    {
      name: `SpatiaLite, listed view of ${module}`,
      format: 'spatialite',
      make: (canary) =>
        database(canary, 'spatialite', { schema: [virtualTable(canary, module), view], listed: 'seen' }),
      expected,
    },
    {
      name: `GeoPackage, listed layer of ${module}`,
      format: 'geopackage',
      make: (canary) =>
        database(canary, 'geopackage', { schema: [virtualTable(canary, module)], listed: 'leak' }),
      expected,
    },
    {
      name: `GeoPackage, view of a view of ${module}`,
      format: 'geopackage',
      make: (canary) =>
        database(canary, 'geopackage', {
          schema: [virtualTable(canary, module), view, nested],
          listed: 'outermost',
        }),
      expected,
    },
  ]
}

/** Views that need no table of the file. */
const VIEWS: [name: string, select: (canary: Canary) => string, expected: HostileFile['expected']][] = [
  ...[
    'dbstat',
    'pragma_database_list',
    'pragma_compile_options',
    'sqlite_dbpage',
    'fts3tokenize',
    'bytecode',
  ].map((table): (typeof VIEWS)[number] => [
    `the table ${table}`,
    () => `SELECT * FROM ${table}`,
    { refused: /uses the table|no such table|unsafe use of virtual table/ },
  ]),
  [
    'the number of rows of dbstat',
    () => `SELECT count(*) FROM dbstat`,
    { refused: /unsafe use of virtual table/ },
  ],
  [
    'a recursive query',
    () => 'WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT * FROM n',
    { refused: /recursive query/ },
  ],
  ...[
    'readfile',
    'BlobFromFile',
    'XB_LoadXML',
    'load_extension',
    'ImportDBF',
    'edit',
    'eval',
    'fts3_tokenizer',
  ].map((name): (typeof VIEWS)[number] => [
    `the function ${name}`,
    ({ canaryFile }) => `SELECT ${name}(${quoteText(canaryFile)}) AS x`,
    { refused: /uses the function|no such function|unsafe use/ },
  ]),
  [
    'writefile',
    ({ folder }) => `SELECT writefile(${quoteText(join(folder, 'x'))}, 'x')`,
    { refused: /no such function/ },
  ],
  ['the version of SQLite', () => 'SELECT sqlite_source_id() AS x', { refused: /uses the function/ }],
  ['another database', () => 'SELECT * FROM other.signing_keys', { refused: /cannot be read/ }],
  ['JSON and its own rows', () => `SELECT name, value FROM pois, json_each('[1]')`, 'own-rows'],
]

function viewFiles([name, select, expected]: (typeof VIEWS)[number]): HostileFile[] {
  return (['spatialite', 'geopackage'] as const).map((dialect) => ({
    name: `${dialect}, view with ${name}`,
    format: dialect,
    make: (canary) =>
      database(canary, dialect, { schema: [`CREATE VIEW seen AS ${select(canary)}`], listed: 'pois' }),
    options: dialect === 'spatialite' ? { layer: 'seen' } : undefined,
    // SQLite refuses the whole file if a view names another database.
    expected: dialect === 'spatialite' || name === 'another database' ? expected : 'own-rows',
  }))
}

/** Parts of the schema that reading a table does not use, and texts that are not a schema. */
const PARTS: [name: string, content: (canary: Canary) => Content, expected: HostileFile['expected']][] = [
  [
    'all modules beside its layer',
    (canary) => ({ schema: MODULES.map((module) => virtualTable(canary, module, `leak_${module}`)) }),
    'own-rows',
  ],
  [
    'a trigger',
    ({ canaryFile }) => ({
      schema: [
        `CREATE TRIGGER t AFTER INSERT ON pois BEGIN SELECT load_extension(${quoteText(canaryFile)}); END`,
      ],
    }),
    'own-rows',
  ],
  [
    'a default value',
    ({ canaryFile }) => ({ sql: `ALTER TABLE pois ADD COLUMN x DEFAULT ${quoteText(canaryFile)};` }),
    'own-rows',
  ],
  ['a generated column', () => ({ sql: `ALTER TABLE pois ADD COLUMN x AS (upper(name));` }), 'own-rows'],
  [
    'ATTACH as its schema',
    ({ canaryFile }) => ({ schema: [`ATTACH ${quoteText(canaryFile)} AS other`] }),
    { refused: /entry in its schema|cannot be read/ },
  ],
  [
    'a second statement in its schema',
    ({ canaryFile }) => ({ schema: [`CREATE TABLE x (a); ATTACH ${quoteText(canaryFile)} AS other`] }),
    'own-rows',
  ],
  [
    'a virtual table that is listed under another name',
    // Its row in sqlite_master gets the name in the comment.
    (canary) => ({
      schema: [virtualTable(canary, 'dbstat').replace('CREATE', 'CREATE /* TABLE other */')],
      listed: 'other',
    }),
    { refused: /cannot be read/ },
  ],
  [
    'a virtual table between comments',
    (canary) => ({
      schema: [virtualTable(canary, 'dbstat').replace('TABLE leak', '/* x */ TABLE leak -- y\n')],
      listed: 'leak',
    }),
    VIRTUAL('dbstat'),
  ],
]

/** Expressions in definitions, which name functions that SQLite or SpatiaLite may have; SQLite refuses some. */
const EXPRESSIONS: [name: string, entry: string, text: (call: string) => string, isUsed: boolean][] = [
  ['generated column', 'strange', (call) => `CREATE TABLE strange (name TEXT, x AS (${call}))`, true],
  ['stored column', 'strange', (call) => `CREATE TABLE strange (name TEXT, x AS (${call}) STORED)`, true],
  ['default', 'strange', (call) => `CREATE TABLE strange (name TEXT, x DEFAULT (${call}))`, false],
  ['check', 'strange', (call) => `CREATE TABLE strange (name TEXT, CHECK (${call}))`, false],
  ['index', 'names', (call) => `CREATE INDEX names ON strange (name, ${call})`, true],
]
const STRANGE = `CREATE TABLE strange (name TEXT, x); INSERT INTO strange VALUES ('own', 1);
  CREATE INDEX names ON strange (name, upper(name));`

function expressionFiles([name, entry, text, isUsed]: (typeof EXPRESSIONS)[number]): HostileFile[] {
  return ['upper', 'load_extension', 'readfile', 'fts3_tokenizer'].map((call) => ({
    name: `GeoPackage, ${call} in the ${name}`,
    format: 'geopackage',
    make: (canary) => {
      const replaced = { [entry]: text(`${call}(${quoteText(canary.canaryFile)})`) }
      return database(canary, 'geopackage', { sql: STRANGE, replaced, listed: 'strange' })
    },
    expected:
      isUsed && /load|fts3/.test(call) ? { refused: /unsafe use of|cannot be read: malformed/ } : 'own-rows',
  }))
}

/** The tables that describe the file are virtual tables, or views of one. */
const DESCRIPTIONS: HostileFile[] = [
  ['spatialite', 'geometry_columns'],
  ['spatialite', 'spatial_ref_sys'],
  ['geopackage', 'gpkg_contents'],
].flatMap(([dialect, table]) =>
  ['VirtualText', 'dbstat'].flatMap((module) =>
    [true, false].map((isView) => ({
      name: `${dialect}, ${table} is a ${isView ? 'view of a ' : ''}table of ${module}`,
      format: dialect!,
      make: (canary: Canary) =>
        database(canary, dialect as Dialect, {
          sql: `ALTER TABLE ${table} RENAME TO ordinary;`,
          schema: isView
            ? [virtualTable(canary, module), `CREATE VIEW ${table} AS SELECT * FROM leak`]
            : [virtualTable(canary, module, table)],
        }),
      expected: VIRTUAL(module),
    })),
  ),
)

/** A log beside the file that is a link to the canary. */
const LINKED_LOGS: HostileFile[] = ['-wal', '-journal'].map((suffix) => ({
  name: `GeoPackage, ${suffix} that is a link`,
  format: 'geopackage',
  make: (canary) => {
    const path = database(canary, 'geopackage', {})
    symlinkSync(canary.canaryFile, path + suffix)
    return path
  },
  expected: 'own-rows',
}))

/** The names of SQLite files are identifiers in SQL too. */
const ODD_LAYER: HostileFile = {
  name: 'SpatiaLite, layer whose name is SQL',
  format: 'spatialite',
  make: (canary) =>
    database(canary, 'spatialite', {
      sql: `CREATE TABLE ${quoteName(`x" UNION SELECT * FROM pois; ATTACH '${canary.canaryFile}' AS "y`)} (name TEXT);`,
    }),
  options: { layer: 'x" UNION SELECT * FROM pois --' },
  expected: { refused: /has no layer/ },
}

export const SQLITE_FILES: HostileFile[] = [
  ...MODULES.flatMap(moduleFiles),
  ...VIEWS.flatMap(viewFiles),
  ...PARTS.flatMap(([name, content, expected]) =>
    (['spatialite', 'geopackage'] as const).map((dialect) => ({
      name: `${dialect} with ${name}`,
      format: dialect,
      make: (canary: Canary) => database(canary, dialect, content(canary)),
      expected,
    })),
  ),
  ...EXPRESSIONS.flatMap(expressionFiles),
  ...DESCRIPTIONS,
  ...LINKED_LOGS,
  ODD_LAYER,
]
