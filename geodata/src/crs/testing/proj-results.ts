import { execFileSync, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { brotliCompressSync, brotliDecompressSync, constants } from 'node:zlib'
import { codeRequests, type ProjRequest, textRequests } from './proj-requests.ts'

export type Point = [number, number]

/** PROJ's results for one CRS. */
export interface ProjResult {
  name: string
  /** Longitude and latitude on the datum of the CRS, and the same in the CRS itself. */
  points: Point[]
  native: (Point | null)[]
  /** Whether the authority puts northing (or latitude) first. */
  northingFirst: boolean
  /** For each point, the positions in WGS84 that PROJ's transformations return. */
  places?: Point[][]
  /** `native` is null if the text fully describes the CRS. */
  texts?: { form: string; text: string; native: (Point | null)[] | null }[]
}

export interface ProjResults {
  codes: ProjResult[]
  texts: ProjResult[]
}

/** The first line of the stored file: what its results were computed from. */
interface Origin {
  proj: string
  /** SHA-256 of the Python script and of all requests. */
  digest: string
  codes: number
}

const script = join(import.meta.dirname, '..', '..', '..', 'scripts', 'proj_reference.py')
const storedFile = join(import.meta.dirname, 'proj-results.jsonl.br')

/**
 * PROJ's results for every code and for the text forms. PROJ takes minutes to compute them, so they are stored,
 * and computed anew only with another version of PROJ. Throws if the list of codes or the Python script has
 * changed since: otherwise every test run would compute them.
 */
export async function projResults(python: string, note: (line: string) => void): Promise<ProjResults> {
  const current = currentOrigin(python)
  const [origin, stored] = readStored()
  if (origin.proj !== current.proj) {
    note(`The stored results are those of PROJ ${origin.proj}. Those of ${current.proj} are computed.`)
    return computeProjResults(python)
  }
  if (origin.digest !== current.digest) {
    throw new Error(
      'The stored results of PROJ are outdated: update them with geodata/scripts/make-proj-results.ts',
    )
  }
  return stored
}

/** Stores PROJ's results for later test runs. */
export async function storeProjResults(python: string): Promise<void> {
  const { codes, texts } = await computeProjResults(python)
  const lines = [currentOrigin(python), ...codes, ...texts].map((record) => JSON.stringify(record))
  const params = { [constants.BROTLI_PARAM_LGWIN]: 24 }
  writeFileSync(storedFile, brotliCompressSync(lines.join('\n'), { params }))
}

function currentOrigin(python: string): Origin {
  const proj = execFileSync(python, ['-c', 'import pyproj; print(pyproj.proj_version_str)']).toString().trim()
  const requests = [codeRequests(), textRequests()]
  const digest = createHash('sha256')
    .update(readFileSync(script))
    .update(JSON.stringify(requests))
    .digest('hex')
  return { proj, digest, codes: requests[0]!.length }
}

function readStored(): [Origin, ProjResults] {
  const [first, ...lines] = brotliDecompressSync(readFileSync(storedFile)).toString().split('\n')
  const origin: Origin = JSON.parse(first!)
  const results: ProjResult[] = lines.map((line) => JSON.parse(line))
  return [origin, { codes: results.slice(0, origin.codes), texts: results.slice(origin.codes) }]
}

/** Split by base over two processes, which then have about the same number of transformations to look up. */
async function computeProjResults(python: string): Promise<ProjResults> {
  const requests = codeRequests()
  const halves = [0, 1].map((half) => requests.filter(({ base }) => base % 2 === half))
  const [even, odd] = await Promise.all(halves.map((half) => askProj(python, half)))
  return { codes: [...even!, ...odd!], texts: await askProj(python, textRequests()) }
}

async function askProj(python: string, requests: ProjRequest[]): Promise<ProjResult[]> {
  const child = spawn(python, [script, 'reference'], { stdio: ['pipe', 'pipe', 'inherit'] })
  child.stdin.end(requests.map((request) => `${JSON.stringify(request)}\n`).join(''))
  const exited = new Promise<number | null>((resolve) => child.once('close', resolve))
  const results: ProjResult[] = []
  for await (const line of createInterface({ input: child.stdout })) {
    results.push(JSON.parse(line, (_, value) => (typeof value === 'number' ? rounded(value) : value)))
  }
  const code = await exited
  if (code !== 0) throw new Error(`${script} ended with exit code ${code}.`)
  return results
}

/**
 * Drops the last digits, which compress badly. 13 digits are enough even for EPSG:6996, whose scale of 0.000001
 * makes a millimetre of its coordinates a kilometre on the ground.
 */
function rounded(value: number): number {
  return Number(value.toPrecision(13))
}
