import { boolean, choice, integer, text, url } from './parsers.ts'
import { setting } from './setting.ts'

/** Where files are stored, and how a node caches and sends them. */
export const storageSettings = {
  storageUrl: setting(
    'WAYLEAVE_STORAGE_URL',
    null as string | null,
    text(
      /^(s3:\/\/[a-z0-9][a-z0-9.-]{1,61}[a-z0-9](\/[A-Za-z0-9_-][A-Za-z0-9_.-]*)*\/?|file:\/\/\/.+)$/,
      'an address such as s3://bucket/prefix or file:///folder',
    ),
    'Where snapshots, exports and uploads are stored: a bucket of an S3-compatible store (s3://bucket/prefix) or a folder (file:///folder). Without it, the data folder. Credentials of a bucket are those of the AWS tools: AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, the files in ~/.aws, or the role of the machine.',
  ),
  s3Endpoint: setting(
    'WAYLEAVE_S3_ENDPOINT',
    null as string | null,
    url('http:', 'https:'),
    'The address of an S3-compatible store. Without it, that of Amazon S3 in WAYLEAVE_S3_REGION.',
  ),
  s3PublicEndpoint: setting(
    'WAYLEAVE_S3_PUBLIC_ENDPOINT',
    null as string | null,
    url('http:', 'https:'),
    'The address of the store for clients, if they reach it by another one than the service. Used with WAYLEAVE_DOWNLOADS=redirect.',
  ),
  s3Region: setting(
    'WAYLEAVE_S3_REGION',
    'us-east-1',
    text(/^[a-z0-9-]{1,40}$/, 'the name of a region'),
    'The region of the bucket.',
  ),
  s3PathStyle: setting(
    'WAYLEAVE_S3_PATH_STYLE',
    null as boolean | null,
    boolean(),
    'Name the bucket in the path instead of the host name. Without it, true if WAYLEAVE_S3_ENDPOINT is set.',
  ),
  cacheBytes: setting(
    'WAYLEAVE_CACHE_BYTES',
    20 * 1024 ** 3,
    integer(64 * 1024 ** 2, Number.MAX_SAFE_INTEGER),
    'With a bucket: bytes of it that are kept in the folder "cache" of the data folder. What was used least recently is removed first; files that were used in the last two minutes stay, even above this limit.',
  ),
  downloads: setting(
    'WAYLEAVE_DOWNLOADS',
    'stream' as 'stream' | 'redirect' | 'accel',
    choice('stream', 'redirect', 'accel'),
    'How files are downloaded. `stream` sends them through the service. With a bucket, `redirect` charges and then redirects the client to a signed address of the store. With a folder, `accel` charges and then lets nginx send the file (X-Accel-Redirect), to clients that come through WAYLEAVE_TRUSTED_PROXIES; nginx needs the location of docs/operating.md.',
  ),
  downloadLinkSeconds: setting(
    'WAYLEAVE_DOWNLOAD_LINK_SECONDS',
    300,
    integer(10, 3600),
    'Seconds for which the signed address of a redirected download is valid. A transfer that has begun may take longer.',
  ),
} as const
