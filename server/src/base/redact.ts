/** An API key, whatever its literal and its label. */
const KEY = String.raw`\b[a-z][a-z0-9]{0,9}_[a-z][a-z0-9]{0,15}_[0-9A-Za-z]{32}\b`
const KEYS = new RegExp(KEY, 'g')
/** The password in a URL such as `postgres://user:password@host`. */
const PASSWORD = String.raw`(?<=:\/\/[^\s/:@"]*:)[^\s/@"]+(?=@)`
const PASSWORDS = new RegExp(PASSWORD, 'g')

/**
 * Everything that has the form of one of our secrets: a key, a sign-in or refresh token (after a telling
 * name), a JWT, credentials in a URL.
 */
const SECRETS = new RegExp(
  [
    KEY,
    String.raw`(?<![\w-])eyJ[\w-]+\.[\w-]+\.[\w-]+`,
    PASSWORD,
    String.raw`(?<=(?:token|secret|authorization|api_key|cookie)["=:\s]{1,4})[\w.+/=-]{6,}`,
    String.raw`(?<=code["=:\s]{1,4})\d{6}\b`,
  ].join('|'),
  'gi',
)

/** For log lines. Code never logs a secret on purpose; this is the safety net. */
export function redactSecrets(line: string): string {
  return line.replace(SECRETS, '[redacted]')
}

/** For responses, which repeat what a client has sent: a key may have been sent in the wrong place. */
export function redactKeys(text: string): string {
  return text.replace(KEYS, '[redacted]')
}

/** For messages of the command line, which repeat arguments. */
export function redactPasswords(text: string): string {
  return text.replace(PASSWORDS, '[redacted]')
}
