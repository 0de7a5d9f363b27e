import { addressList, boolean, integer, text, url } from './parsers.ts'
import { setting } from './setting.ts'

/** Where the service is, and what it says about itself. */
export const instanceSettings = {
  port: setting('WAYLEAVE_PORT', 8080, integer(0, 65535), 'The port to listen on; 0 takes a free one.', {
    flag: true,
  }),
  host: setting('WAYLEAVE_HOST', '127.0.0.1', text(), 'The address to listen on.', { flag: true }),
  baseUrl: setting(
    'WAYLEAVE_BASE_URL',
    null as string | null,
    url('http:', 'https:'),
    'The public address of the service, as users type it. Links in responses and mails begin with it; without it, with the bound address.',
  ),
  trustedProxies: setting(
    'WAYLEAVE_TRUSTED_PROXIES',
    [] as string[],
    addressList(),
    'Addresses or networks of reverse proxies whose X-Forwarded-* and X-Request-Id headers are believed, separated by commas.',
  ),
  title: setting(
    'WAYLEAVE_TITLE',
    'Wayleave',
    text(),
    'The name of the service: in the header of every page, in mails, on its landing pages and in its API definitions.',
  ),
  description: setting(
    'WAYLEAVE_DESCRIPTION',
    'Datasets to explore, to download, and to use in maps and programs.',
    text(),
    'What the service offers, in a sentence: on the start page, on the OGC landing page and in the API definition.',
  ),
  contactName: setting(
    'WAYLEAVE_CONTACT_NAME',
    null as string | null,
    text(),
    'Who runs the service: the contact on the OGC landing page, together with WAYLEAVE_CONTACT_URL.',
  ),
  contactUrl: setting(
    'WAYLEAVE_CONTACT_URL',
    null as string | null,
    url('http:', 'https:', 'mailto:'),
    'Where people can ask for add-ons and credits; named in every 402 and 403 response.',
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
  basemap: setting(
    'WAYLEAVE_BASEMAP',
    null as string | null,
    url('http:', 'https:'),
    'The background of maps in the console: the address of a MapLibre style, or of a PMTiles file (its path ends with .pmtiles). Everything that the style loads has to come from the origin of this address. Without it, maps have a plain background that the service brings along.',
  ),
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
} as const
