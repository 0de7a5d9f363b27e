import type { Authenticate } from '../../accounts/access/authenticate.ts'
import { requireRead } from '../../accounts/access/dataset-access.ts'
import type { Grant } from '../../accounts/access/grant.ts'
import { type Clock, HOUR } from '../../base/clock.ts'
import type { MaybePromise } from '../../base/maybe-promise.ts'
import { invalidInput, notFound, Problem } from '../../base/problem.ts'
import type { Catalog } from '../../data/catalog/catalog.ts'
import type { Dataset, Version } from '../../data/catalog/dataset.ts'
import type { CrsList } from '../request/crs-list.ts'
import type { DynamicTiles } from './dynamic-tiles.ts'
import type { TileArchives } from './tile-archives.ts'
import type { TileBuilds } from './tile-builds.ts'
import { buildOf, type KeptTiles } from './tile-files.ts'
import { hasTiles, type TileStates } from './tile-states.ts'
import type { Tileset } from './tileset-documents.ts'

/** How long the tiles of a replaced version can be fetched without ARCHIVED_DATA. */
const GRACE = HOUR
/** Seconds after which a client should ask again for tiles that are being built. */
const RETRY_AFTER = '5'

export interface TilesetsDeps {
  authenticate: Authenticate
  catalog: Catalog
  clock: Clock
  crsList: CrsList
}

interface Parts {
  catalog: Catalog
  clock: Clock
  states: TileStates
  builds: TileBuilds
  archives: TileArchives
  dynamic: DynamicTiles
}

/** The tilesets of versions: which version a request means, and whether its tiles are there. */
export class Tilesets {
  readonly archives: TileArchives
  readonly dynamic: DynamicTiles
  readonly #parts: Parts

  constructor(parts: Parts) {
    this.#parts = parts
    this.archives = parts.archives
    this.dynamic = parts.dynamic
  }

  /**
   * The version with this number, or the current one. A map that shows a version which is replaced goes on with
   * it for an hour; older versions need ARCHIVED_DATA.
   */
  versionOf(grant: Grant, dataset: Dataset, number: string | undefined): MaybePromise<Version> {
    if (number === undefined) return dataset
    if (!/^[1-9]\d{0,14}$/.test(number)) throw invalidInput('version', 'must be the number of a version')
    if (Number(number) === dataset.version) return dataset
    return this.#older(grant, dataset, Number(number))
  }

  async #older(grant: Grant, dataset: Dataset, number: number): Promise<Version> {
    const { table } = dataset
    const { catalog, clock } = this.#parts
    const versions = await catalog.versions(table)
    const at = versions.findIndex(({ version }) => version === number)
    const version = versions[at]
    if (!version) throw notFound(`version ${number} of the dataset "${table}"`)
    const successor = versions[at - 1]
    const isRecent = successor && clock().getTime() - Date.parse(successor.createdAt) <= GRACE
    if (!isRecent) requireRead(grant, dataset, 'archives', clock)
    return version
  }

  /** The version's archive. Throws 404 if it can have none, and 503 and has it built if it has none yet. */
  async require(version: Version, dataset: Dataset): Promise<KeptTiles> {
    const built = await this.#parts.states.find(version)
    if (built) return built
    throw await this.notReady(version, dataset)
  }

  async notReady(version: Version, dataset: Dataset): Promise<Problem> {
    const { states, builds } = this.#parts
    if (!hasTiles(version)) return notFound(`tileset of the dataset "${dataset.table}"`)
    const state = await states.stateOf(version)
    if (state?.state === 'failed')
      return new Problem('tiles-failed', state.reason ?? undefined, { headers: { 'retry-after': '3600' } })
    builds.request(version)
    const progress = state?.progress == null ? '' : ` ${Math.floor(state.progress * 100)} % are done.`
    return new Problem('tiles-not-ready', `The tiles of "${dataset.table}" are being built.${progress}`, {
      headers: { 'retry-after': RETRY_AFTER },
    })
  }

  /** What the documents of a tileset are made of. */
  async describe(version: Version, dataset: Dataset): Promise<Tileset> {
    await this.require(version, dataset)
    const open = await this.archives.open(version)
    if (open === null) throw await this.notReady(version, dataset)
    const { metadata, header } = open.archive
    return { dataset, version, metadata, maxZoom: header.maxZoom, build: buildOf(open.built) }
  }
}
