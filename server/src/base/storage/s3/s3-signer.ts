import { AwsV4Signer } from 'aws4fetch'

export interface S3Credentials {
  accessKeyId: string
  secretAccessKey: string
  sessionToken?: string | undefined
}

export type CredentialSource = () => Promise<S3Credentials>

/** Signs requests by Signature Version 4. Derived keys are cached, because they are valid for a day. */
export class S3Signer {
  readonly #credentials: CredentialSource
  readonly #region: string
  readonly #cache = new Map<string, ArrayBuffer>()

  constructor(region: string, credentials: CredentialSource) {
    this.#region = region
    this.#credentials = credentials
  }

  /** The headers to send with a request, the given ones included. */
  async headersOf(
    method: string,
    url: URL,
    headers: Record<string, string>,
  ): Promise<Record<string, string>> {
    const signed = await new AwsV4Signer({
      method,
      url: url.href,
      headers,
      ...(await this.#options()),
    }).sign()
    return Object.fromEntries(signed.headers)
  }

  /** The same URL with a signature that is valid for `seconds`. */
  async signedUrl(url: URL, seconds: number): Promise<string> {
    const limited = new URL(url)
    limited.searchParams.set('X-Amz-Expires', String(seconds))
    const options = { ...(await this.#options()), signQuery: true }
    return (await new AwsV4Signer({ method: 'GET', url: limited.href, ...options }).sign()).url.href
  }

  async #options() {
    const { accessKeyId, secretAccessKey, sessionToken } = await this.#credentials()
    // A few entries per day, region and key.
    if (this.#cache.size > 100) this.#cache.clear()
    return {
      accessKeyId,
      secretAccessKey,
      ...(sessionToken ? { sessionToken } : {}),
      service: 's3',
      region: this.#region,
      cache: this.#cache,
    }
  }
}
