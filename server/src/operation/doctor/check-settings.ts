import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { isLoopback } from '../../base/loopback.ts'
import { checkMailSettings } from '../../base/mail/mailer.ts'
import type { Config } from '../../base/settings/config.ts'
import { type Check, ok, problem, warning } from './check.ts'

/** Finds settings that are misspelt, or that contradict each other. */
export function checkSettings(config: Config, unknown: string[]): Check[] {
  const checks: Check[] = unknown.map((name) =>
    warning('settings', `There is no setting ${name}; it is ignored.`, 'See docs/settings.md for the names.'),
  )
  try {
    checkMailSettings(config)
  } catch (error) {
    checks.push(problem('settings', (error as Error).message, 'The service does not start like this.'))
  }
  const { baseUrl, host, smtpUrl, mailFrom, databaseUrl, dataDir } = config
  if (smtpUrl && mailFrom.includes('@localhost')) {
    checks.push(
      warning(
        'settings',
        `Mails are sent from ${mailFrom}.`,
        'Set WAYLEAVE_MAIL_FROM: servers refuse such a sender.',
      ),
    )
  }
  if (!baseUrl && !isLoopback(host)) {
    checks.push(
      warning(
        'settings',
        `Links in mails begin with the address ${host}.`,
        'Set WAYLEAVE_BASE_URL to the public address.',
      ),
    )
  }
  if (baseUrl?.startsWith('http:') && !isLoopback(new URL(baseUrl).hostname)) {
    checks.push(
      warning(
        'settings',
        'WAYLEAVE_BASE_URL begins with http:, so keys travel unencrypted.',
        'Serve HTTPS by a proxy.',
      ),
    )
  }
  if (
    databaseUrl &&
    existsSync(join(dataDir, 'wayleave.db')) &&
    !existsSync(join(dataDir, 'database-moved.json'))
  ) {
    checks.push(
      warning(
        'settings',
        'PostgreSQL is used, and the data folder has an SQLite database that was not moved.',
        'Move it with "wayleave database move", or remove wayleave.db if it is of no use.',
      ),
    )
  }
  return checks.length > 0 ? checks : [ok('settings', 'All settings are known and fit together.')]
}

/** If a proxy is not trusted, all its clients appear as one network address and share one rate limit. */
export function checkProxies({ baseUrl, trustedProxies, host }: Config): Check {
  if (trustedProxies.length > 0) return ok('proxies', `Headers of ${trustedProxies.join(', ')} are believed.`)
  if (baseUrl && isLoopback(host) && !isLoopback(new URL(baseUrl).hostname)) {
    return warning(
      'proxies',
      'WAYLEAVE_BASE_URL is public and the service listens on loopback, so a proxy is before it, but none is trusted.',
      'Set WAYLEAVE_TRUSTED_PROXIES to the proxy’s address, or all callers count as one address.',
    )
  }
  return ok('proxies', 'No proxy is trusted.')
}
