import { existsSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { isLoopback } from '../loopback.ts'
import type { Setting } from './setting.ts'
import { settings } from './settings.ts'

/** The settings that the program uses, each with its parsed value. */
export type Config = {
  -readonly [Name in keyof typeof settings]: (typeof settings)[Name] extends Setting<infer T> ? T : never
} & {
  /** Demo mode: demo data, and the sign-in link shown in the console on loopback. Set by `--demo` only. */
  demo: boolean
}

/** An invalid setting: the command line prints the message and exits with code 2. */
export class SettingError extends Error {
  override name = 'SettingError'
}

/** The administrator of a demo on loopback, unless `admins` names others. */
export const DEMO_ADMINISTRATOR = 'admin@example.org'

/** The burst that belongs to the default of `keyRate`. */
const STANDARD_BURST = 600

export interface SettingSources {
  flags?: Record<string, unknown>
  /** The options that have other names than their settings, for messages. */
  flagNames?: Record<string, string>
  environment?: Record<string, string | undefined>
  /** The settings file; if absent, `wayleave.json` in the working directory, if it exists. */
  file?: string | null
}

/** Flags take precedence over variables, variables over the file, and the file over the default. */
export function readConfig(sources: SettingSources = {}): Config {
  const environment = sources.environment ?? process.env
  const flags = sources.flags ?? {}
  const file = readSettingsFile(sources.file === undefined ? environment['WAYLEAVE_CONFIG'] : sources.file)
  const config: Record<string, unknown> = { demo: flags['demo'] === true }
  for (const [name, row] of Object.entries(settings) as [keyof typeof settings, Setting<unknown>][]) {
    const [value, where]: [unknown, string] =
      flags[name] !== undefined
        ? [flags[name], sources.flagNames?.[name] ?? flagOf(name)]
        : environment[row.variable] !== undefined && environment[row.variable] !== ''
          ? [environment[row.variable], row.variable]
          : [file.values[name], `${name} in ${file.path}`]
    config[name] = value === undefined ? row.default : parseSetting(row, value, where)
  }
  const parsed = config as Config
  if (parsed.keyBurst === null) {
    parsed.keyBurst = parsed.keyRate === settings.keyRate.default ? STANDARD_BURST : parsed.keyRate
  }
  parsed.ownerBurst ??= parsed.ownerRate ?? parsed.keyBurst
  parsed.ownerRate ??= parsed.keyRate
  if (isLocalDemo(parsed) && parsed.admins.length === 0) parsed.admins = [DEMO_ADMINISTRATOR]
  parsed.dataDir = resolve(parsed.dataDir)
  return parsed
}

/** Whether the service is a demo on this machine alone: mails are shown in the console instead of being sent. */
export function isLocalDemo({ demo, host }: Pick<Config, 'demo' | 'host'>): boolean {
  return demo && isLoopback(host)
}

/** `WAYLEAVE_…` variables that match no setting: probably misspelt, so the server warns at start. */
export function unknownVariables(environment: Record<string, string | undefined> = process.env): string[] {
  const variables = new Set<string>(Object.values(settings).map((row) => row.variable))
  const others = /^WAYLEAVE_(CONFIG|API_KEY|TEST_.*)$/
  return Object.keys(environment).filter(
    (name) => name.startsWith('WAYLEAVE_') && !variables.has(name) && !others.test(name),
  )
}

/**
 * Whether traces are wanted, by the variables of OpenTelemetry: an address to send them to, or an exporter. The
 * library reads the other `OTEL_…` variables by itself.
 */
export function isTracingWanted(environment: Record<string, string | undefined> = process.env): boolean {
  if (environment['OTEL_SDK_DISABLED']?.toLowerCase() === 'true') return false
  const exporter = environment['OTEL_TRACES_EXPORTER']
  if (exporter) return exporter === 'otlp'
  return Boolean(
    environment['OTEL_EXPORTER_OTLP_ENDPOINT'] || environment['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT'],
  )
}

/** Whether npm or npx started this process. */
export function isStartedByNpm(environment: Record<string, string | undefined> = process.env): boolean {
  return environment['npm_execpath'] !== undefined || environment['npm_lifecycle_event'] !== undefined
}

export function flagOf(name: string): string {
  return `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`
}

function parseSetting(row: Setting<unknown>, value: unknown, where: string): unknown {
  const result = row.parse(value)
  if ('expected' in result) {
    const shown = row.secret ? 'the value' : JSON.stringify(value)
    throw new SettingError(`${where}: ${shown} is not ${result.expected}.`)
  }
  return result.value
}

function readSettingsFile(configuredPath: string | null | undefined): {
  path: string
  values: Record<string, unknown>
} {
  const path = configuredPath ?? 'wayleave.json'
  if (configuredPath === null || (configuredPath === undefined && !existsSync(path)))
    return { path, values: {} }
  let values: unknown
  try {
    values = JSON.parse(readFileSync(path, 'utf8'))
  } catch (error) {
    throw new SettingError(`The settings file ${path} cannot be read: ${(error as Error).message}.`)
  }
  if (typeof values !== 'object' || values === null || Array.isArray(values)) {
    throw new SettingError(`The settings file ${path} is not a JSON object.`)
  }
  for (const name of Object.keys(values)) {
    if (!Object.hasOwn(settings, name))
      throw new SettingError(`${path}: there is no setting named "${name}".`)
  }
  return { path, values: values as Record<string, unknown> }
}
