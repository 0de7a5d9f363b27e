/** Where a bucket is, and under which prefix this installation stores its objects. */
export interface S3Location {
  bucket: string
  /** Empty, or ends with a slash. */
  prefix: string
  region: string
  /** Such as `https://s3.eu-central-1.amazonaws.com`. */
  endpoint: URL
  /** `endpoint/bucket/key` instead of `bucket.endpoint/key`. */
  pathStyle: boolean
}

export interface S3Settings {
  storageUrl: string
  s3Endpoint: string | null
  s3Region: string
  s3PathStyle: boolean | null
}

/** Reads `s3://bucket/prefix`. Returns null if the address has no valid bucket or prefix. */
function parseS3Url(url: string): { bucket: string; prefix: string } | null {
  const match = /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(\/[A-Za-z0-9_./-]*)?$/.exec(url)
  if (!match) return null
  const parts = (match[2] ?? '').split('/').filter((part) => part !== '')
  if (parts.some((part) => part === '.' || part === '..')) return null
  return { bucket: match[1]!, prefix: parts.map((part) => `${part}/`).join('') }
}

export function s3Location({ storageUrl, s3Endpoint, s3Region, s3PathStyle }: S3Settings): S3Location {
  const parsed = parseS3Url(storageUrl)
  if (!parsed) throw new Error(`not the address of a bucket: ${storageUrl}`)
  const endpoint = new URL(s3Endpoint ?? `https://s3.${s3Region}.amazonaws.com`)
  // Other stores than Amazon's rarely have a host name for each bucket.
  return { ...parsed, region: s3Region, endpoint, pathStyle: s3PathStyle ?? s3Endpoint !== null }
}

/** The address of an object, or of the bucket if the key is empty. */
export function objectUrl({ endpoint, bucket, pathStyle }: S3Location, key: string): URL {
  const url = new URL(endpoint)
  const base = url.pathname.replace(/\/+$/, '')
  if (!pathStyle) url.host = `${bucket}.${url.host}`
  url.pathname = `${base}${pathStyle ? `/${bucket}` : ''}/${key.split('/').map(encodeURIComponent).join('/')}`
  return url
}
