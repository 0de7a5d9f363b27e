/**
 * The layout as rules about imports: which workspace, which folder and which kind of file may import what.
 * `npm run layout` checks it, as part of `npm test` and `npm run check`. Files with JSX cannot be parsed here;
 * biome.json has the same rules for the console.
 */

/** The workspaces that each workspace may import. */
const workspaces = {
  contract: [],
  geodata: ['contract'],
  query: ['geodata'],
  demo: ['geodata'],
  'client-js': [],
  console: ['client-js', 'contract'],
  server: ['contract', 'geodata', 'query', 'demo'],
  bench: ['contract', 'geodata', 'demo', 'client-js', 'server', 'scripts'],
  drills: ['scripts'],
  scripts: [],
}

/**
 * Folders in dependency order, bottom first: a folder imports only folders that stand before it. The lists of the
 * folders that have an order inside follow by their paths.
 */
export const folders = {
  'geodata/src': [
    'bytes',
    'sandbox',
    'predicates',
    'geometry',
    'crs',
    'formats',
    'pack',
    'snapshot',
    'threads',
    'columns',
    'compile',
    'exports',
    'tiles',
    'entry',
  ],
  'geodata/src/formats': [
    'reading',
    'zip',
    'parts',
    'csv',
    'geojson',
    'json',
    'shapefile',
    'esrijson',
    'topojson',
    'flatgeobuf',
    'sqlite',
    'geopackage',
    'spatialite',
    'gdal',
    'gpx',
    'kml',
    'spreadsheet',
    'arrow',
    'parquet',
    'pgcopy',
  ],
  'geodata/src/compile': ['checksums', 'values', 'stage', 'merge', 'columns', 'revise'],
  'geodata/src/exports': [
    'geometry',
    'encoding',
    'zip',
    'csv',
    'kml',
    'flatgeobuf',
    'geopackage',
    'shapefile',
    'changes',
  ],
  'geodata/src/tiles': ['shapes', 'encode', 'archive', 'build', 'selected'],
  'query/src': [
    'work',
    'cql2',
    'plan',
    'features',
    'positions',
    'by-tree',
    'by-codes',
    'by-duckdb',
    'page',
    'count',
    'facets',
    'aggregate',
  ],
  'query/src/cql2': ['parse', 'evaluate', 'check'],
  'query/src/aggregate': ['columns', 'geometries', 'groups', 'places', 'measures', 'result'],
  'server/src': [
    'base',
    'http',
    'accounts',
    'data',
    'site',
    'ogc',
    'assistants',
    'operation',
    'assembly',
    'command',
  ],
  'server/src/base': [
    'settings',
    'concurrency',
    'threads',
    'locks',
    'database',
    'caching',
    'storage',
    'events',
    'limits',
    'mail',
    'outside',
    'tracing',
  ],
  'server/src/http': ['pages', 'observability', 'hooks', 'sockets'],
  'server/src/accounts': [
    'users',
    'access',
    'idempotency',
    'keys',
    'usage',
    'credits',
    'organizations',
    'billing',
    'access-requests',
    'identity',
    'webhooks',
    'notices',
    'request-log',
    'administration',
  ],
  'server/src/data': [
    'jobs',
    'blobs',
    'catalog',
    'grants',
    'installation',
    'downloads',
    'publishing',
    'sources',
    'retention',
  ],
  'server/src/site': ['styles', 'documentation', 'reference', 'clients', 'basemap', 'console', 'discovery'],
  'server/src/ogc': [
    'request',
    'write',
    'html',
    'items',
    'facets',
    'aggregate',
    'extract',
    'tiles',
    'documents',
    'records',
  ],
  'server/src/operation': ['verification', 'backup', 'housekeeping', 'readiness', 'doctor', 'dashboard'],
  'server/src/command': ['output', 'completion', 'demo', 'accounts', 'datasets', 'operate'],
}

/** Folders whose own files are below their folders (`false`) or above them (`true`): they import none, or are not imported. */
const ownFiles = { 'geodata/src/formats': true, 'server/src': true, 'server/src/base': false }

/** Code that is never part of the running service or of a published client. */
const development = String.raw`\.test(-kit)?\.tsx?$|/(testing|test|scripts)/|^(scripts|bench|drills)/|(^|/)test-[^/]*\.ts$|-arbitrary\.ts$|-fixture\.ts$|(^|[/.])config\.(ts|js|mjs)$`

/** Tests may read the whole repository. */
const tests = String.raw`\.test\.tsx?$|/test/`

const anyOf = (names) => `(${names.join('|')})`

function workspaceRules() {
  const all = Object.keys(workspaces)
  return Object.entries(workspaces).map(([name, allowed]) => ({
    name: `workspace ${name}`,
    comment: allowed.length ? `It imports only ${allowed.join(' and ')}.` : 'It imports no other workspace.',
    severity: 'error',
    // What only tests use may start what `npm test` makes.
    from: { path: `^${name}/`, pathNot: [tests, '^server/src/testing/'] },
    to: { path: `^${anyOf(all.filter((other) => other !== name && !allowed.includes(other)))}/` },
  }))
}

/** The order of the folders of one folder. */
function folderRules([root, names]) {
  return [
    ...names.slice(0, -1).map((folder, index) => ({
      name: `${root} ${folder}`,
      comment: 'A folder imports only folders that stand before it in the list of this configuration.',
      severity: 'error',
      from: { path: `^${root}/${folder}/`, pathNot: development },
      to: { path: `^${root}/${anyOf(names.slice(index + 1))}/` },
    })),
    {
      name: `${root} folders`,
      comment: 'Every folder has its place in the list of this configuration.',
      severity: 'error',
      from: { path: `^${root}/[^/]+/`, pathNot: [`^${root}/${anyOf(names)}/`, development] },
      to: {},
    },
  ]
}

/** The files beside the folders of one folder. */
function ownFileRule([root, areAbove]) {
  const own = `^${root}/[^/]+\\.ts$`
  const folder = `^${root}/[^/]+/`
  return {
    name: `${root} own files`,
    comment: `The files beside the folders ${areAbove ? 'are imported by none of them' : 'import none of them'}.`,
    severity: 'error',
    from: { path: areAbove ? folder : own, pathNot: development },
    to: { path: areAbove ? own : folder },
  }
}

export default {
  forbidden: [
    {
      name: 'no circles',
      comment: 'Move what both files need into a third one, or pass it as an argument.',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    ...workspaceRules(),
    ...Object.entries(folders).flatMap(folderRules),
    ...Object.entries(ownFiles).map(ownFileRule),
    {
      name: 'databases of others',
      comment: 'Files of others are opened with UntrustedDatabase, which executes nothing of them.',
      severity: 'error',
      from: {
        path: '^geodata/src/formats/',
        pathNot: ['^geodata/src/formats/sqlite/untrusted-database\\.ts$', development],
      },
      to: { path: '^(node:)?sqlite$' },
    },
    {
      name: 'fastify',
      comment:
        'Only routes, what checks their callers and reads their forms, what sends their replies, accounts/access/, http/ and ogc/ know Fastify. Rules are functions of their arguments.',
      severity: 'error',
      from: {
        path: '^server/src/',
        pathNot: [
          '(^|[/-])(routes|replies)\\.ts$',
          '^server/src/data/publishing/(publishers|upload-jobs/receive-form)\\.ts$',
          '^server/src/(accounts/access|http|ogc)/',
          development,
        ],
      },
      to: { path: '(^|/)node_modules/(fastify|@fastify/[^/]+)/' },
    },
    {
      name: 'sql',
      comment:
        'Only stores and base/database/ know SQL. A file lock uses SQLite and stores no rows; a source may be a database of others.',
      severity: 'error',
      from: {
        path: '^server/src/',
        pathNot: [
          '(^|[/-])store\\.ts$',
          '^server/src/base/database/',
          '^server/src/base/locks/file-lock\\.ts$',
          '^server/src/data/sources/fetch/(fetch-postgres|postgres-connection)\\.ts$',
          development,
        ],
      },
      to: { path: '(^|/)node_modules/(kysely|pg)/|^(node:)?sqlite$' },
    },
    {
      name: 'no development code',
      comment: 'What runs in production imports neither tests nor their fixtures.',
      severity: 'error',
      from: { pathNot: development },
      to: { path: development, pathNot: '(^|/)node_modules/|^server/src/base/settings/config\\.ts$' },
    },
    {
      name: 'no development dependency',
      comment: 'It is not installed in production. Types are: nothing needs them at run time.',
      severity: 'error',
      from: { path: '^(contract|geodata|query|server|client-js|console|demo)/', pathNot: development },
      to: {
        dependencyTypes: ['npm-dev'],
        dependencyTypesNot: ['type-only'],
        pathNot: '(^|/)node_modules/@types/',
      },
    },
    {
      name: 'no undeclared dependency',
      comment: 'Declare the package in the package.json of the workspace.',
      severity: 'error',
      from: { path: '^(contract|geodata|query|server|client-js|console|demo|bench|drills|scripts)/' },
      to: { dependencyTypes: ['npm-no-pkg', 'npm-unknown'] },
    },
    {
      name: 'no unresolvable import',
      severity: 'error',
      from: { path: '^(contract|geodata|query|server|client-js|demo|bench|drills|scripts)/' },
      // A package of types alone, found as @types/topojson-specification.
      to: { couldNotResolve: true, pathNot: '^topojson-specification$' },
    },
  ],
  options: {
    parser: 'swc',
    tsPreCompilationDeps: true,
    combinedDependencies: true,
    doNotFollow: { path: '(^|/)node_modules/' },
    exclude: { path: '\\.tsx$|^(client-js|console)/dist/|/test-data/' },
    enhancedResolveOptions: {
      extensions: ['.ts', '.tsx', '.mjs', '.js', '.json'],
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'default', 'types'],
    },
  },
}
