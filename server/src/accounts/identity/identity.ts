import { randomBytes } from 'node:crypto'
import { domainToASCII } from 'node:url'
import type { Logger } from 'pino'
import type { Clock } from '../../base/clock.ts'
import type { Changes } from '../../base/database/changes/changes.ts'
import type { ControlDatabase } from '../../base/database/open.ts'
import { newId } from '../../base/id.ts'
import type { Limiter, Rate } from '../../base/limits/limiter.ts'
import type { Mailer } from '../../base/mail/mail.ts'
import { DemoMailer, openMailer } from '../../base/mail/mailer.ts'
import { type Config, isLocalDemo } from '../../base/settings/config.ts'
import type { Refusals } from '../access/refusals.ts'
import type { StartingGrant } from '../organizations/organizations.ts'
import { AccessTokens } from './access-tokens.ts'
import { installationSecret } from './installation-secret-store.ts'
import { KeyCipher, usedSecret } from './key-cipher.ts'
import { Sessions } from './sessions.ts'
import { SignIn } from './sign-in.ts'
import { SigningKeys } from './signing-keys.ts'
import { SingleSignOn, signOnSettingsOf } from './single-sign-on.ts'

export interface Identity {
  signIn: SignIn
  /** Whether users may sign in by mailed links and codes. */
  offersMails: boolean
  /** Null if it is not offered. */
  singleSignOn: SingleSignOn | null
  sessions: Sessions
  accessTokens: AccessTokens
  signingKeys: SigningKeys
  mailer: Mailer
  /** Only in demo mode on loopback. */
  demoMailer: DemoMailer | null
  close(): Promise<void>
}

export interface IdentityDeps {
  config: Config
  database: ControlDatabase
  changes: Changes
  clock: Clock
  log: Logger
  limiter: Limiter
  baseUrl: () => string
  starting: StartingGrant
  serving: boolean
  refusals: Refusals
}

/** Max mails per quarter of an hour, to or from one address. */
export function mailRate(count: number): Rate {
  return { requests: count, burst: count, windowSeconds: 15 * 60 }
}

export async function openIdentity(parts: IdentityDeps): Promise<Identity> {
  const { config, database, changes, clock, log, limiter, baseUrl, starting } = parts
  const inner = openMailer(parts)
  const demoMailer = isLocalDemo(config) ? new DemoMailer(inner) : null
  const mailer = demoMailer ?? inner
  const signingKeys = new SigningKeys(database, changes, clock, new KeyCipher(config.secretKey))
  if (parts.serving) await signingKeys.encryptStored()
  // Without a public URL, nodes that listen on different addresses still have the same issuer.
  const installation = await installationSecret(database.db, 'installation-id', () => newId('node'))
  const issuer = config.baseUrl ?? `urn:wayleave:${installation}`
  const successorSecret = await installationSecret(database.db, 'refresh-successor', () =>
    randomBytes(32).toString('base64url'),
  )
  const secret = usedSecret(successorSecret, 'refresh-successor', config.secretKey)
  const sessions = new Sessions({ database, changes, clock, secret })
  const signIn = new SignIn({
    database,
    clock,
    log,
    limiter,
    sessions,
    mailer,
    baseUrl,
    mailRate: mailRate(config.signInRate),
    signUp: config.signUp,
    administrators: new Set(config.admins),
    starting,
    refusals: parts.refusals,
  })
  const singleSignOn = await openSingleSignOn(parts, signIn)
  return {
    signIn,
    offersMails: config.signIn !== 'oidc',
    singleSignOn,
    sessions,
    accessTokens: new AccessTokens({
      keys: signingKeys,
      issuer,
      clock,
      isLive: (id) => sessions.isLive(id),
      onlyOrganization: (userId) => sessions.onlyOrganization(userId),
    }),
    signingKeys,
    mailer,
    demoMailer,
    close: async () => {
      await signIn.close()
      await mailer.close()
    },
  }
}

/** The library of OpenID Connect is only loaded if it is used. */
async function openSingleSignOn(
  { config, clock, log, baseUrl }: IdentityDeps,
  signIn: SignIn,
): Promise<SingleSignOn | null> {
  const settings = signOnSettingsOf(config)
  if (settings === null) return null
  const { SignOnProvider } = await import('./sign-on-provider.ts')
  return new SingleSignOn({
    provider: new SignOnProvider({ ...settings, clock, log }),
    signIn,
    baseUrl,
    domains: config.oidcDomains.map((domain) => domainToASCII(domain.toLowerCase())),
  })
}
