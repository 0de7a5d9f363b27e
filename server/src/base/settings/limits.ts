import { integer } from './parsers.ts'
import { setting } from './setting.ts'

/** How much of the service one caller can use. */
export const limitsSettings = {
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
    'Vector tiles a minute for all keys of one owner, besides their other requests. The burst is the same number.',
  ),
  openRate: setting(
    'WAYLEAVE_OPEN_RATE',
    1_200,
    integer(1, 100_000_000),
    'Requests a minute for open datasets from one network address without a key (IPv6: one /64), besides tiles, which have WAYLEAVE_TILE_RATE. The burst is the same number.',
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
  extractRows: setting(
    'WAYLEAVE_EXTRACT_ROWS',
    100_000,
    integer(1, 10_000_000),
    'Max rows of a file of filtered rows. Its rows count against WAYLEAVE_DAILY_FEATURES.',
  ),
  extractBytes: setting(
    'WAYLEAVE_EXTRACT_BYTES',
    50 * 1024 ** 2,
    integer(1024, 4 * 1024 ** 3),
    'Max bytes of the features of a file of filtered rows, as they are stored.',
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
  readerPatience: setting(
    'WAYLEAVE_READER_PATIENCE',
    120,
    integer(1, 86_400),
    'Seconds after which a connection is closed whose reader took nothing of its response, or less than 1 KB a second.',
  ),
  maxEventLoopDelay: setting(
    'WAYLEAVE_MAX_EVENT_LOOP_DELAY',
    1000,
    integer(10, 60_000),
    'Milliseconds of event loop delay past which new requests get 503.',
  ),
} as const
