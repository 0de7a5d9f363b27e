import { isLoopback } from '../loopback.ts'
import { choice, type Parse, text, textList } from './parsers.ts'
import { setting } from './setting.ts'

/** How users sign in. */
export const signOnSettings = {
  signIn: setting(
    'WAYLEAVE_SIGN_IN',
    'link' as 'link' | 'oidc' | 'both',
    choice('link', 'oidc', 'both'),
    'How users sign in: by a mailed link or code ("link"), by single sign-on with OpenID Connect ("oidc"), or as they choose ("both").',
  ),
  oidcIssuer: setting(
    'WAYLEAVE_OIDC_ISSUER',
    null as string | null,
    issuer(),
    'The issuer of the provider of single sign-on, exactly as its metadata has it (https://login.example.org). Register the address of this service with /sign-in at its end as the redirect URI there.',
  ),
  oidcClientId: setting(
    'WAYLEAVE_OIDC_CLIENT_ID',
    null as string | null,
    text(),
    'The client id of this service at the provider.',
  ),
  oidcClientSecret: setting(
    'WAYLEAVE_OIDC_CLIENT_SECRET',
    null as string | null,
    text(),
    'The client secret of this service at the provider. Without it, the service is a public client.',
    { secret: true },
  ),
  oidcDomains: setting(
    'WAYLEAVE_OIDC_DOMAINS',
    [] as string[],
    textList(),
    'The domains of mail addresses that may sign in by single sign-on, separated by commas; subdomains are not included. Without it, any verified address may.',
  ),
} as const

/** Not shortened: issuers with and without a slash at their end are different. */
function issuer(): Parse<string> {
  return (raw) => {
    if (typeof raw === 'string' && URL.canParse(raw)) {
      const { protocol, hostname } = new URL(raw)
      if (protocol === 'https:' || (protocol === 'http:' && isLoopback(hostname))) return { value: raw }
    }
    return { expected: 'an address that begins with https://, or with http:// on loopback' }
  }
}
