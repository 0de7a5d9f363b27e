import { existsSync } from 'node:fs'
import { access } from 'node:fs/promises'
import { SourceError } from '../source-error.ts'
import { bubblewrapCommand } from './bubblewrap.ts'
import { type Bind, inputBinds } from './input-files.ts'
import { minimalEnvironment, moduleCache } from './minimal-environment.ts'
import { permissionFlags } from './node-permissions.ts'
import { probe } from './probe.ts'
import { type ProcessLimits, prlimitCommand } from './process-limits.ts'
import { programBinds, systemBinds } from './program-files.ts'
import { prepareFor, SANDBOX_USER, userCommand } from './sandbox-user.ts'

/** `auto`: whatever the system offers. `require`: nothing is read without bubblewrap. */
export type SandboxMode = 'auto' | 'require' | 'off'

/** A module that reads a file of somebody else, and what it may use. */
export interface SandboxedRun {
  /** The module that Node runs. */
  entry: string
  nodeFlags: string[]
  /** The file, or the folder, that is read. Files that belong to it are found beside it unless it is alone; `others` are read too. */
  input: { path: string; isAlone: boolean; others?: string[] }
  /** The folder that may be written to; it exists. */
  folder: string
  /** A second folder, for results that another run may need. */
  otherFolder?: string
  /** Another program that the module starts, by name or path. */
  program: string | null
  limits: ProcessLimits
  /** The run reads no file of others, and may fill the cache of compiled modules. */
  fillsCache?: true
}

export interface Command {
  program: string
  args: string[]
  environment: NodeJS.ProcessEnv
}

/** What is active, for the log and the doctor. */
export interface SandboxState {
  layers: string[]
  /** Why a layer is missing, with what to do about it. */
  missing: string[]
  /** Whether files and the network are out of reach for native code too. */
  isClosed: boolean
}

/** Uploads are refused because there is no sandbox and the settings require one. */
export class SandboxUnavailableError extends SourceError {
  override name = 'SandboxUnavailableError'
}

/**
 * Puts walls around the process that reads a file of somebody else, so that a defect in a reader, in DuckDB,
 * SQLite or GDAL exposes nothing but that file. With bubblewrap the process has no network, sees no files but the
 * program's own, its input (read-only) and its output folder, has no /proc, and runs as another user if the
 * service is root. In any mode it gets none of the environment of the service. See docs/decisions/sandbox.md.
 */
export class Sandbox {
  readonly mode: SandboxMode
  readonly #hidden: string[]
  #state: Promise<SandboxState> | null = null

  /** `hidden`: folders of the service that stay invisible even if they are inside of the program's folders. */
  constructor(mode: SandboxMode, hidden: string[] = []) {
    this.mode = mode
    this.#hidden = hidden
  }

  /** Tries out once what works on this machine. */
  state(): Promise<SandboxState> {
    this.#state ??= this.#probe()
    return this.#state
  }

  /** Throws if the settings require a sandbox that does not work here. */
  async requireWanted(): Promise<void> {
    if (this.mode !== 'require') return
    const { isClosed, missing } = await this.state()
    if (!isClosed)
      throw new SandboxUnavailableError(
        `No files are read here, because WAYLEAVE_SANDBOX is require and ${missing[0]}`,
      )
  }

  async command(run: SandboxedRun): Promise<Command> {
    const environment = minimalEnvironment(run.folder)
    if (this.mode === 'off')
      return { program: process.execPath, args: [...run.nodeFlags, run.entry], environment }
    await this.requireWanted()
    const { layers, isClosed } = await this.state()
    const input = await inputBinds(run.input)
    const binds = isClosed ? await prepareFor(SANDBOX_USER, input, run.folder, run.otherFolder) : input
    const inner = [
      ...(layers.includes('limits') ? prlimitCommand(run.limits) : []),
      process.execPath,
      ...permissionFlags({
        binds: [...(await programBinds()), ...binds],
        // Node uses the cache of modules only if it may write to it; bubblewrap makes it read-only.
        writable: [...writableFolders(run), ...(isClosed ? ownCache() : [])],
        program: run.program,
      }),
      ...run.nodeFlags,
      run.entry,
    ]
    const [program, ...args] = isClosed ? await this.#closed(inner, binds, run) : inner
    return { program: program!, args, environment }
  }

  async #closed(
    inner: string[],
    input: Bind[],
    run: Pick<SandboxedRun, 'folder' | 'otherFolder' | 'program' | 'fillsCache'>,
  ) {
    const cache = ownCache()
    return bubblewrapCommand(userCommand(inner), {
      readable: [
        ...(await systemBinds(run.program)),
        ...(await programBinds()),
        ...cache.map((path) => ({ source: path, target: path })),
      ],
      hidden: this.#hidden,
      input,
      writable: [...writableFolders(run), ...(run.fillsCache ? cache : [])],
    })
  }

  async #probe(): Promise<SandboxState> {
    if (this.mode === 'off') return { layers: [], missing: ['WAYLEAVE_SANDBOX is off.'], isClosed: false }
    const layers = ['Node’s permissions']
    const missing: string[] = []
    const hasLimits = await access('/usr/bin/prlimit').then(
      () => true,
      () => false,
    )
    if (hasLimits) layers.unshift('limits')
    else missing.push('prlimit is not installed (package util-linux).')
    const failure = await probe((inner, folder) => this.#closed(inner, [], { folder, program: null }))
    if (failure !== null) return { layers, missing: [failure, ...missing], isClosed: false }
    layers.unshift('bubblewrap', ...(SANDBOX_USER === null ? [] : ['a user of its own']))
    return { layers, missing, isClosed: true }
  }
}

function writableFolders({ folder, otherFolder }: Pick<SandboxedRun, 'folder' | 'otherFolder'>): string[] {
  return otherFolder === undefined ? [folder] : [folder, otherFolder]
}

/** The folder of compiled modules, once it exists. */
function ownCache(): string[] {
  const cache = moduleCache()
  return cache !== null && existsSync(cache) ? [cache] : []
}
