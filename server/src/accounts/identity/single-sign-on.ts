import { normalEmail } from '../../base/email.ts'
import type { Origin } from '../../base/events/events.ts'
import { Problem } from '../../base/problem.ts'
import { type Config, SettingError } from '../../base/settings/config.ts'
import type { Entry, SignIn } from './sign-in.ts'
import type { SignOnProvider, SignOnRequest } from './sign-on-provider.ts'

export interface SingleSignOnOptions {
  provider: SignOnProvider
  signIn: SignIn
  baseUrl: () => string
  /** The domains of mail addresses that may sign in; empty for all. */
  domains: readonly string[]
}

/** Sign-in by a provider that the operator trusts to have verified mail addresses. */
export class SingleSignOn {
  readonly #options: SingleSignOnOptions

  constructor(options: SingleSignOnOptions) {
    this.#options = options
  }

  start(): Promise<{ url: string; request: SignOnRequest }> {
    return this.#options.provider.start(this.#redirectUri())
  }

  /** Only an address that the provider has verified identifies a user: anybody can claim another one. */
  async finish(query: string, request: SignOnRequest, origin: Origin): Promise<Entry> {
    const { provider, signIn } = this.#options
    const identity = await provider.finish(this.#redirectUri(), query, request)
    const email = identity.email === undefined ? null : normalEmail(identity.email)
    if (email === null) {
      throw new Problem('sign-on-failed', 'The provider names no mail address of the user.')
    }
    if (!identity.isEmailVerified) {
      throw new Problem('sign-on-failed', 'The provider has not verified the mail address of the user.')
    }
    if (!this.#isAllowed(email)) {
      throw new Problem(
        'sign-on-failed',
        'Mail addresses of this domain cannot sign in by single sign-on here.',
      )
    }
    return signIn.enterBySignOn({ ...identity, email }, origin)
  }

  #isAllowed(email: string): boolean {
    const { domains } = this.#options
    const domain = email.slice(email.lastIndexOf('@') + 1)
    return domains.length === 0 || domains.includes(domain)
  }

  /** A page of the console; made from our own address, never from that of a request. */
  #redirectUri(): string {
    return `${this.#options.baseUrl()}/sign-in`
  }
}

/** The settings of the provider; null if sign-in is by mail only. */
export function signOnSettingsOf({
  signIn,
  oidcIssuer: issuer,
  oidcClientId: clientId,
  oidcClientSecret: clientSecret,
}: Config): { issuer: string; clientId: string; clientSecret: string | null } | null {
  if (signIn === 'link') return null
  if (issuer === null || clientId === null) {
    throw new SettingError(
      `WAYLEAVE_SIGN_IN is "${signIn}": set WAYLEAVE_OIDC_ISSUER and WAYLEAVE_OIDC_CLIENT_ID too.`,
    )
  }
  return { issuer, clientId, clientSecret }
}
