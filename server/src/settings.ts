import { ADD_ONS, type AddOn } from '@wayleave/contract/add-ons'
import {
  addressList,
  boolean,
  choice,
  daysOrForever,
  emailList,
  integer,
  type Parse,
  text,
  textList,
  url,
} from './setting-parsers.ts'

/** Slightly less than the longest string that V8 can hold, because a GeoJSON feature is parsed as one. */
const MAX_TEXT_BYTES = 500 * 1024 ** 2

/** One row of the table of settings. `--help`, docs/settings.md and the parser are all made from it. */
export interface Setting<T> {
  /** The name of the environment variable; the settings file and flags use the setting's own name. */
  variable: string
  default: T
  help: string
  parse: Parse<T>
  /** Also available as a flag of `wayleave serve`. */
  flag?: true
  /** The value is never printed in a message. */
  secret?: true
}

function setting<T>(
  variable: string,
  defaultValue: T,
  parse: Parse<T>,
  help: string,
  extra: { flag?: true; secret?: true } = {},
): Setting<T> {
  return { variable, default: defaultValue, parse, help, ...extra }
}

export const settings = {
  port: setting('WAYLEAVE_PORT', 8080, integer(0, 65535), 'The port to listen on; 0 takes a free one.', {
    flag: true,
  }),
  host: setting('WAYLEAVE_HOST', '127.0.0.1', text(), 'The address to listen on.', { flag: true }),
  dataDir: setting(
    'WAYLEAVE_DATA_DIR',
    './data',
    text(),
    'The folder for the control database (SQLite), the snapshots and the outbox.',
    { flag: true },
  ),
  allowReadableDataDir: setting(
    'WAYLEAVE_ALLOW_READABLE_DATA_DIR',
    false,
    boolean(),
    'Start even if other users of the machine have access to the data folder.',
  ),
  secretKey: setting(
    'WAYLEAVE_SECRET_KEY',
    null as string | null,
    text(/^.{32,512}$/, 'at least 32 characters'),
    'Encrypts the signing keys in the control database: at least 32 random characters, the same on every node ("openssl rand -base64 32"). Without it they are stored as they are.',
    { secret: true },
  ),
  baseUrl: setting(
    'WAYLEAVE_BASE_URL',
    null as string | null,
    url('http:', 'https:'),
    'The public address of the service, as users type it. Links in responses and mails begin with it; without it, with the bound address.',
  ),
  databaseUrl: setting(
    'WAYLEAVE_DATABASE_URL',
    null as string | null,
    url('postgres:', 'postgresql:'),
    'A PostgreSQL database for the control plane (postgres://…). Without it, SQLite in the data folder.',
    { secret: true },
  ),
  databaseTimeout: setting(
    'WAYLEAVE_DATABASE_TIMEOUT',
    10,
    integer(1, 600),
    'Seconds after which a statement on PostgreSQL has failed, also if the connection is dead without a sign.',
  ),
  maxClockSkew: setting(
    'WAYLEAVE_MAX_CLOCK_SKEW',
    300,
    integer(1, 31_536_000),
    'Seconds that the clock of the machine may differ from that of PostgreSQL, or be behind the last run. Beyond that the server does not start.',
  ),
  acceptClock: setting(
    'WAYLEAVE_ACCEPT_CLOCK',
    false,
    boolean(),
    'Believe the clock of the machine whatever the last run says. For one start, after a clock was set right.',
  ),
  minFreeBytes: setting(
    'WAYLEAVE_MIN_FREE_BYTES',
    100 * 1024 ** 2,
    integer(0, Number.MAX_SAFE_INTEGER),
    'Bytes that must be free on the disk of the data folder; with less, /ready responds 503.',
  ),
  redisUrl: setting(
    'WAYLEAVE_REDIS_URL',
    null as string | null,
    url('redis:', 'rediss:'),
    'A Redis server that holds the rate limits of all nodes. Without it, and while it is away, each process counts for itself.',
    { secret: true },
  ),
  smtpUrl: setting(
    'WAYLEAVE_SMTP_URL',
    null as string | null,
    url('smtp:', 'smtps:'),
    'The mail server (smtp://user:password@host:587). Without it, mails are written to the outbox folder.',
    { secret: true },
  ),
  smtpAllowPlain: setting(
    'WAYLEAVE_SMTP_ALLOW_PLAIN',
    false,
    boolean(),
    'Send mail without TLS if the mail server does not offer STARTTLS. Passwords and sign-in links are then readable on the way. Without it, only a mail server on loopback may do without TLS.',
  ),
  mailFrom: setting(
    'WAYLEAVE_MAIL_FROM',
    'Wayleave <no-reply@localhost>',
    text(),
    'The sender of every mail.',
  ),
  allowOutbox: setting(
    'WAYLEAVE_ALLOW_OUTBOX',
    false,
    boolean(),
    'Start without a mail server even when listening beyond loopback; mails are then written to the outbox folder.',
  ),
  admins: setting(
    'WAYLEAVE_ADMINS',
    [] as string[],
    emailList(),
    'Mail addresses of the platform administrators, separated by commas.',
  ),
  signUp: setting(
    'WAYLEAVE_SIGN_UP',
    'open' as 'open' | 'invite',
    choice('open', 'invite'),
    'Who may sign up: "open" (anyone; an organization of their own is made) or "invite" (only invited addresses).',
  ),
  newOrganizationAddOns: setting(
    'WAYLEAVE_NEW_ORGANIZATION_ADD_ONS',
    [] as AddOn[],
    textList(...ADD_ONS),
    'Add-ons that a new organization begins with, separated by commas.',
  ),
  newOrganizationCredits: setting(
    'WAYLEAVE_NEW_ORGANIZATION_CREDITS',
    0,
    integer(0, 1_000_000_000),
    'Credits that a new organization begins with.',
  ),
  contactUrl: setting(
    'WAYLEAVE_CONTACT_URL',
    null as string | null,
    url('http:', 'https:', 'mailto:'),
    'Where people can ask for add-ons and credits; named in every 402 and 403 response.',
  ),
  title: setting(
    'WAYLEAVE_TITLE',
    'Wayleave',
    text(),
    'The name of the service: the title of its landing page and of its API definitions.',
  ),
  description: setting(
    'WAYLEAVE_DESCRIPTION',
    'Datasets as collections of features, by OGC API - Features.',
    text(),
    'What the service offers: the description on its OGC landing page and in its API definition.',
  ),
  contactName: setting(
    'WAYLEAVE_CONTACT_NAME',
    null as string | null,
    text(),
    'Who runs the service: the contact on the OGC landing page, together with WAYLEAVE_CONTACT_URL.',
  ),
  termsUrl: setting(
    'WAYLEAVE_TERMS_URL',
    null as string | null,
    url('http:', 'https:'),
    'The address of the terms of use; linked on the OGC landing page and in the API definitions.',
  ),
  license: setting(
    'WAYLEAVE_LICENSE',
    null as string | null,
    text(),
    'The license of the data as a whole, as a name or an address, for the OGC landing page and the API definitions. Each dataset can have its own.',
  ),
  keyLiteral: setting(
    'WAYLEAVE_KEY_LITERAL',
    'svc',
    text(/^[a-z][a-z0-9]{0,9}$/, 'one to ten lower-case letters and digits'),
    'The first part of every key secret.',
  ),
  keyEnv: setting(
    'WAYLEAVE_KEY_ENV',
    'live',
    text(/^[a-z][a-z0-9]{0,15}$/, 'one to sixteen lower-case letters and digits'),
    'The environment label in every key secret.',
  ),
  keyInUrl: setting(
    'WAYLEAVE_KEY_IN_URL',
    false,
    boolean(),
    'Accept a key as the query parameter "api_key" too. Addresses end up in logs and histories: off by default.',
  ),
  keysPerUser: setting('WAYLEAVE_KEYS_PER_USER', 25, integer(1, 100_000), 'Personal keys a user may hold.'),
  keysPerOrganization: setting(
    'WAYLEAVE_KEYS_PER_ORGANIZATION',
    100,
    integer(1, 100_000),
    'Keys an organization may hold.',
  ),
  keyRate: setting('WAYLEAVE_KEY_RATE', 6_000, integer(1, 100_000_000), 'Requests a minute for one key.'),
  keyBurst: setting(
    'WAYLEAVE_KEY_BURST',
    null as number | null,
    integer(1, 100_000_000),
    'Requests one key may make at once. Without it: 600, or the figure of WAYLEAVE_KEY_RATE if that is set.',
  ),
  ownerRate: setting(
    'WAYLEAVE_OWNER_RATE',
    null as number | null,
    integer(1, 100_000_000),
    'Requests a minute for all keys of one user, or all of one organization, together; keys with a rate of their own and platform keys do not count. Without it, the figure of WAYLEAVE_KEY_RATE.',
  ),
  ownerBurst: setting(
    'WAYLEAVE_OWNER_BURST',
    null as number | null,
    integer(1, 100_000_000),
    'Requests that all keys of one owner may make at once. Without it, that of a key, or the figure of WAYLEAVE_OWNER_RATE if that is set.',
  ),
  tileRate: setting(
    'WAYLEAVE_TILE_RATE',
    6_000,
    integer(1, 100_000_000),
    'Vector tiles a minute for all keys of one owner, besides their other requests. So many may also be fetched at once.',
  ),
  tiles: setting(
    'WAYLEAVE_TILES',
    true,
    boolean(),
    'Build the vector tiles of every version that is published. Without it they are built when they are first asked for, or by `wayleave tiles`.',
  ),
  tileMaxZoom: setting(
    'WAYLEAVE_TILE_MAX_ZOOM',
    14,
    integer(0, 16),
    'The deepest zoom for which vector tiles are built. Data that needs less gets less; maps enlarge the deepest tiles.',
  ),
  userRate: setting(
    'WAYLEAVE_USER_RATE',
    120,
    integer(1, 100_000_000),
    'Requests a minute for one signed-in user on the management endpoints.',
  ),
  addressRate: setting(
    'WAYLEAVE_ADDRESS_RATE',
    120,
    integer(1, 100_000_000),
    'Requests a minute from one network address without credentials (IPv6: one /64).',
  ),
  signInRate: setting(
    'WAYLEAVE_SIGN_IN_RATE',
    5,
    integer(1, 100_000),
    'Sign-in mails to one mail address in 15 minutes.',
  ),
  signInAddressRate: setting(
    'WAYLEAVE_SIGN_IN_ADDRESS_RATE',
    60,
    integer(1, 1_000_000),
    'Sign-in mails asked for from one network address in 15 minutes.',
  ),
  csvFormulas: setting(
    'WAYLEAVE_CSV_FORMULAS',
    'keep' as 'keep' | 'escape',
    choice('keep', 'escape'),
    'Texts that spreadsheets execute (they begin with =, +, -, @, a tab or a carriage return) in CSV pages and downloads: `keep` writes them as they are published; `escape` puts an apostrophe before them. Numbers are never changed.',
  ),
  dailyFeatures: setting(
    'WAYLEAVE_DAILY_FEATURES',
    null as number | null,
    integer(1, Number.MAX_SAFE_INTEGER),
    'Features that all keys of one user, or all of one organization, may together page through in a day over OGC API - Features; a platform key counts alone. Without it, there is no limit.',
  ),
  querySeconds: setting(
    'WAYLEAVE_QUERY_SECONDS',
    20,
    integer(1, 600),
    'How long the selection of features by a filter, an order or a box may take, in seconds.',
  ),
  queryMemory: setting(
    'WAYLEAVE_QUERY_MEMORY',
    512,
    integer(192, 65_536),
    'The memory of each process that runs database queries for filters, in megabytes. There are two to four such processes, depending on the cores.',
  ),
  maxPageBytes: setting(
    'WAYLEAVE_MAX_PAGE_BYTES',
    16 * 1024 ** 2,
    integer(1024, 256 * 1024 ** 2),
    'The largest page of features, in bytes of its features as they are stored. A page with more has fewer features and a link to the next page.',
  ),
  keepVersions: setting(
    'WAYLEAVE_KEEP_VERSIONS',
    null as number | null,
    integer(1, 1_000_000),
    'How many versions of a dataset are kept. Without it, all.',
  ),
  trashDays: setting(
    'WAYLEAVE_TRASH_DAYS',
    7,
    integer(0, 3650),
    'Days for which the files of removed datasets and versions stay in the trash before they are deleted.',
  ),
  keepEventDays: setting(
    'WAYLEAVE_KEEP_EVENT_DAYS',
    730 as number | null,
    daysOrForever(1),
    'Days for which events of the audit log are kept, or "forever".',
  ),
  keepUsageDays: setting(
    'WAYLEAVE_KEEP_USAGE_DAYS',
    800 as number | null,
    daysOrForever(367),
    'Days for which usage by key and day is kept, or "forever". Reports reach back 366 days.',
  ),
  keepDeadKeyDays: setting(
    'WAYLEAVE_KEEP_DEAD_KEY_DAYS',
    400 as number | null,
    daysOrForever(1),
    'Days for which the records of revoked and of expired keys are kept, or "forever".',
  ),
  keepRevocationDays: setting(
    'WAYLEAVE_KEEP_REVOCATION_DAYS',
    800 as number | null,
    daysOrForever(1),
    'Days for which hashes of revoked secrets are kept in the database, or "forever". A backup older than this should not be restored.',
  ),
  keepExportDays: setting(
    'WAYLEAVE_KEEP_EXPORT_DAYS',
    90 as number | null,
    daysOrForever(1),
    'Days after which an export that was not downloaded is deleted, or "forever". It is built again on demand.',
  ),
  keepMailDays: setting(
    'WAYLEAVE_KEEP_MAIL_DAYS',
    30 as number | null,
    daysOrForever(1),
    'Days for which mails stay in the outbox folder, or "forever".',
  ),
  maxUploadBytes: setting(
    'WAYLEAVE_MAX_UPLOAD_BYTES',
    4 * 1024 ** 3,
    integer(1, Number.MAX_SAFE_INTEGER),
    'The largest file that may be published, in bytes, also when it is unpacked.',
  ),
  maxFeatureBytes: setting(
    'WAYLEAVE_MAX_FEATURE_BYTES',
    64 * 1024 ** 2,
    integer(1024, MAX_TEXT_BYTES),
    'The largest single feature or row that may be published, in bytes of its file.',
  ),
  publishMemory: setting(
    'WAYLEAVE_PUBLISH_MEMORY',
    null as number | null,
    integer(512, 10_000_000),
    'Megabytes of memory that the compilation of one file may use. Without it, half of the memory of the machine or the container, for uploads divided by WAYLEAVE_PUBLISH_JOBS, and at least 800.',
  ),
  publishJobs: setting(
    'WAYLEAVE_PUBLISH_JOBS',
    2,
    integer(1, 64),
    'Uploads that a server publishes at the same time. Uploads of the same table are published one after the other.',
  ),
  publishSeconds: setting(
    'WAYLEAVE_PUBLISH_SECONDS',
    14_400,
    integer(1, 604_800),
    'Seconds after which the compilation of a file is ended and the file refused.',
  ),
  readSeconds: setting(
    'WAYLEAVE_READ_SECONDS',
    120,
    integer(1, 86_400),
    'Seconds for which the compilation may wait for the next rows of a GeoPackage before the file is refused. A view in it may take long to compute, or may have no end.',
  ),
  maxRows: setting(
    'WAYLEAVE_MAX_ROWS',
    50_000_000,
    integer(1, 2_000_000_000),
    'The most rows a dataset may have.',
  ),
  maxColumns: setting(
    'WAYLEAVE_MAX_COLUMNS',
    1000,
    integer(1, 10_000),
    'The most columns a dataset may have.',
  ),
  maxNesting: setting(
    'WAYLEAVE_MAX_NESTING',
    64,
    integer(1, 1000),
    'How deep a nested value in a published file may be.',
  ),
  maxExpansion: setting(
    'WAYLEAVE_MAX_EXPANSION',
    200,
    integer(2, 100_000),
    'How many times larger than itself a compressed file may unpack.',
  ),
  gdal: setting(
    'WAYLEAVE_GDAL',
    'ogr2ogr',
    text(),
    'GDAL’s program ogr2ogr, by name or path, which reads GML, MapInfo, File Geodatabase, SpatiaLite and .xls files. "off" refuses these formats.',
  ),
  gdalSeconds: setting(
    'WAYLEAVE_GDAL_SECONDS',
    600,
    integer(1, 86_400),
    'Seconds after which ogr2ogr is ended and the file refused.',
  ),
  gdalMegabytes: setting(
    'WAYLEAVE_GDAL_MEGABYTES',
    4096,
    integer(256, 1_048_576),
    'The address space that ogr2ogr may use, in megabytes.',
  ),
  crs: setting(
    'WAYLEAVE_CRS',
    [] as string[],
    textList(),
    'EPSG codes that OGC API - Features offers beside CRS84, 4326 and 3857, separated by commas.',
  ),
  trustedProxies: setting(
    'WAYLEAVE_TRUSTED_PROXIES',
    [] as string[],
    addressList(),
    'Addresses or networks of reverse proxies whose X-Forwarded-* and X-Request-Id headers are believed, separated by commas.',
  ),
  metricsToken: setting(
    'WAYLEAVE_METRICS_TOKEN',
    null as string | null,
    text(),
    'A Bearer token that may read /metrics from beyond loopback.',
    { secret: true },
  ),
  logLevel: setting(
    'WAYLEAVE_LOG_LEVEL',
    'info' as 'debug' | 'info' | 'warn' | 'error' | 'silent',
    choice('debug', 'info', 'warn', 'error', 'silent'),
    'How much is logged.',
  ),
  logFormat: setting(
    'WAYLEAVE_LOG_FORMAT',
    'auto' as 'auto' | 'json' | 'text',
    choice('auto', 'json', 'text'),
    'How log lines are written: `json` for programs, `text` for people, `auto` for text on a terminal and JSON elsewhere.',
  ),
  accessLog: setting(
    'WAYLEAVE_ACCESS_LOG',
    null as string | null,
    text(),
    'A file to which a line for each request is written in the common log format, beside the log on standard error.',
  ),
  verifyRate: setting(
    'WAYLEAVE_VERIFY_RATE',
    64,
    integer(1, 100_000),
    'Megabytes a second that the background verification of published files reads at most.',
  ),
  readerPatience: setting(
    'WAYLEAVE_READER_PATIENCE',
    120,
    integer(1, 86_400),
    'Seconds after which a connection is closed whose reader took nothing of its response, or less than 1 KB a second.',
  ),
  socketTransport: setting(
    'WAYLEAVE_SOCKET_TRANSPORT',
    true,
    boolean(),
    'Send pages of features that are ready in memory straight to the socket. Off, every response goes through Fastify: slower, and easier to debug.',
  ),
  maxConnections: setting(
    'WAYLEAVE_MAX_CONNECTIONS',
    null as number | null,
    integer(1, 1_000_000),
    'Connections that may be open at once; further ones are closed at once. Without it: 10000, or what the limit of open files (ulimit -n) has room for, which no setting exceeds.',
  ),
  maxConnectionsPerAddress: setting(
    'WAYLEAVE_MAX_CONNECTIONS_PER_ADDRESS',
    null as number | null,
    integer(1, 1_000_000),
    'Connections that one network address (IPv6: one /64) may have open at once; trusted proxies are exempt. Without it, a quarter of all.',
  ),
  drainSeconds: setting(
    'WAYLEAVE_DRAIN_SECONDS',
    1,
    integer(0, 3600),
    'Seconds for which a server that was told to stop by SIGTERM still takes requests, while /ready responds 503, so that a load balancer can send them elsewhere.',
  ),
  maxEventLoopDelay: setting(
    'WAYLEAVE_MAX_EVENT_LOOP_DELAY',
    1000,
    integer(10, 60_000),
    'Milliseconds of event loop delay past which new requests get 503.',
  ),
} as const
