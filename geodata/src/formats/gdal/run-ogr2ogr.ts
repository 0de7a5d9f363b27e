import { spawn } from 'node:child_process'
import { SourceError } from '../../source-error.ts'
import type { GdalOptions } from '../reading/gdal-options.ts'
import { LIST_FIELD } from './gdal-messages.ts'

const OUTPUT_KEPT = 4000
const LINES_KEPT = 200
/** Each is about a column of its own. */
const LIST_LINES_KEPT = 100_000
/** The unit of ulimit. */
const BLOCK_BYTES = 512
/** For calls that write no file. */
const MIN_FILE_BYTES = 1 << 20

/**
 * The environment of the program. It gets no proxy and no credentials of the service, and whatever would make
 * GDAL fetch something from the network is turned off or led to a closed port.
 */
function environment(folder: string, skippedDrivers: string[], swapsAxes: boolean): NodeJS.ProcessEnv {
  const nowhere = 'http://127.0.0.1:9'
  return {
    PATH: process.env['PATH'],
    LD_LIBRARY_PATH: process.env['LD_LIBRARY_PATH'],
    GDAL_DATA: process.env['GDAL_DATA'],
    PROJ_DATA: process.env['PROJ_DATA'],
    PROJ_LIB: process.env['PROJ_LIB'],
    // Drivers outside of the library are not loaded, unless the operator named their folder.
    GDAL_DRIVER_PATH: process.env['GDAL_DRIVER_PATH'] ?? 'disable',
    LC_ALL: 'C.UTF-8',
    HOME: folder,
    TMPDIR: folder,
    CPL_TMPDIR: folder,
    http_proxy: nowhere,
    https_proxy: nowhere,
    HTTP_PROXY: nowhere,
    HTTPS_PROXY: nowhere,
    ALL_PROXY: nowhere,
    no_proxy: '',
    GDAL_HTTP_PROXY: nowhere.slice('http://'.length),
    GDAL_HTTP_TIMEOUT: '1',
    GDAL_HTTP_MAX_RETRY: '0',
    CPL_VSIL_CURL_ALLOWED_EXTENSIONS: '.none',
    // Files beside the source (.aux.xml) and code in it.
    GDAL_PAM_ENABLED: 'NO',
    GDAL_VRT_ENABLE_PYTHON: 'NO',
    // The other parser, Xerces, reads external entities.
    GML_PARSER: 'EXPAT',
    GML_DOWNLOAD_SCHEMA: 'NO',
    GML_SWAP_COORDINATES: swapsAxes ? 'YES' : 'AUTO',
    GML_SKIP_RESOLVE_ELEMS: 'ALL',
    // GDAL would read 01234 as 1234, and cut integers to 64 bits.
    GML_FIELDTYPES: 'ALWAYS_STRING',
    // Most arcs reach our reader as arcs; this is for those that GDAL converts itself.
    OGR_ARC_STEPSIZE: '1',
    GDAL_SKIP: skippedDrivers.join(','),
    PROJ_NETWORK: 'OFF',
    OGR_GEOJSON_MAX_OBJ_SIZE: '200',
    GDAL_NUM_THREADS: '1',
    // A newer GDAL may ask for confirmation in a terminal; there is none.
    CPL_DEBUG: 'OFF',
    // By default GDAL is silent after 1000 warnings, and one kind of them may hide another.
    CPL_MAX_ERROR_REPORTS: '100000',
  }
}

export interface Output {
  stdout: string
  /** What it wrote to its standard error, each message once and without the paths of temporary files. */
  messages: string[]
}

export interface RunPlace {
  folder: string
  file: string
  skippedDrivers?: string[]
  /** Whether the axes of a GML are swapped whatever its CRS. */
  swapsAxes?: boolean
  /** The max size of a file that it writes: a view or a repeated value may have no end. */
  maxFileBytes?: number
}

/** Runs the program under limits of time, memory and written bytes, in a folder of its own. */
export async function runOgr2ogr(
  args: string[],
  { program, seconds, megabytes }: GdalOptions & { program: string },
  { folder, file, skippedDrivers = [], swapsAxes = false, maxFileBytes = MIN_FILE_BYTES }: RunPlace,
): Promise<Output> {
  // The shell sets the limits and is then replaced by the program.
  const script = `ulimit -v ${megabytes * 1024}; ulimit -t ${seconds}; ulimit -f ${Math.ceil(maxFileBytes / BLOCK_BYTES)}; ulimit -c 0; exec "$0" "$@"`
  const child = spawn('/bin/sh', ['-c', script, program, ...args], {
    cwd: folder,
    env: environment(folder, skippedDrivers, swapsAxes),
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let stdout = ''
  let stderr = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout = (stdout + text).slice(0, 1 << 20)
  })
  const messages = new DistinctLines()
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr = (stderr + text).slice(0, OUTPUT_KEPT)
    messages.add(text)
  })
  let isLate = false
  const timer = setTimeout(() => {
    isLate = true
    child.kill('SIGKILL')
  }, seconds * 1000)
  // If the compiling process is told to stop, the child must not go on alone.
  const stop = () => child.kill('SIGKILL')
  process.once('exit', stop)
  try {
    const [code, killedBy] = await new Promise<[number | null, string | null]>((resolve, reject) => {
      child.once('error', reject)
      child.once('close', (...end) => resolve(end))
    })
    if (isLate) throw new SourceError(`GDAL did not read ${file} within ${seconds} s.`)
    if (code === 0) return { stdout, messages: messages.end().flatMap((line) => cleaned(line) ?? []) }
    if (killedBy === 'SIGXFSZ')
      throw new SourceError(
        `${file} holds more than ${Math.round(maxFileBytes / 2 ** 20)} MB as GDAL reads it. WAYLEAVE_MAX_EXPANSION sets how many times larger than its file a dataset may be.`,
      )
    // The loader ends with the same code as the shell does for a program that does not exist.
    const isLoaderError = /shared librar|cannot allocate/i.test(stderr)
    if ((code === 127 || code === 126) && !isLoaderError) throw new MissingProgramError(program)
    throw new SourceError(`GDAL cannot read ${file}: ${reasonOf(stderr) || `it ended with code ${code}`}.`)
  } finally {
    clearTimeout(timer)
    process.removeListener('exit', stop)
  }
}

/** All drivers of the installed GDAL but those that are needed, so that a file is read as nothing else. */
export async function otherDrivers(
  needed: string[],
  gdal: GdalOptions & { program: string },
  place: RunPlace,
): Promise<string[]> {
  const { stdout: formats } = await runOgr2ogr(['--formats'], gdal, place)
  const names = [...formats.matchAll(/^\s+(\S.*?) -[\w,]+- /gm)].map((match) => match[1]!)
  if (needed.some((driver) => !names.includes(driver))) throw new SourceError('No such driver.')
  return names.filter((name) => !needed.includes(name))
}

export class MissingProgramError extends Error {
  override name = 'MissingProgramError'
}

/** The first lines that GDAL wrote. */
function reasonOf(stderr: string): string {
  return stderr
    .split('\n')
    .flatMap((line) => cleaned(line) ?? [])
    .slice(0, 3)
    .join(' ')
    .replace(/[.\s]+$/, '')
}

/** A line of GDAL's messages without the paths of temporary files; null if it says nothing. */
function cleaned(line: string): string | null {
  if (!/\S/.test(line) || /^(Usage|Note|FAILURE:\s*$)/.test(line)) return null
  return line.replace(/^(ERROR|Warning) \d+: /, '').replace(/(['"`]?)\/[^\s'"`]*\/([^\s'"`/]+)/g, '$1$2')
}

/** The distinct lines of a text that arrives in pieces. GDAL may repeat a warning for every feature. */
class DistinctLines {
  #lines = new Map<string, string>()
  #rest = ''

  add(text: string): void {
    const lines = (this.#rest + text).split('\n')
    this.#rest = lines.pop()!.slice(0, OUTPUT_KEPT)
    for (const line of lines) this.#keep(line)
  }

  end(): string[] {
    this.#keep(this.#rest)
    return [...this.#lines.values()]
  }

  /** Lines that differ only in numbers or in quoted values count as the same, unless they name a column. */
  #keep(line: string): void {
    if (LIST_FIELD.test(line)) {
      if (this.#lines.size < LIST_LINES_KEPT) this.#lines.set(line, line)
      return
    }
    const kind = line.replace(/Value '.*?' of/, '').replace(/\d+/g, '0')
    if (this.#lines.size < LINES_KEPT && !this.#lines.has(kind)) this.#lines.set(kind, line)
  }
}
