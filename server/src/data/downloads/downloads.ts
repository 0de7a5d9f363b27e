import { CHANGES_FORMATS, type ChangesFormat, exportFormatsOf, hasStableIds } from '@wayleave/geodata/exports'
import type { Logger } from 'pino'
import { mayRead, priceFor, requireRead, requireReadChanges } from '../../accounts/access/dataset-access.ts'
import type { Grant } from '../../accounts/access/grant.ts'
import type { Bill, Cashier, Charge } from '../../accounts/credits/cashier.ts'
import { maxCreditsOf } from '../../accounts/credits/max-credits.ts'
import type { Clock } from '../../base/clock.ts'
import { invalidInput, notFound, Problem } from '../../base/problem.ts'
import type { Config } from '../../base/settings/config.ts'
import { isUnmodified, preferredEncoding } from '../../http/headers.ts'
import type { Blobs } from '../blobs/blobs.ts'
import type { Catalog } from '../catalog/catalog.ts'
import type { Dataset, Version } from '../catalog/dataset.ts'
import type { SnapshotHealth } from '../catalog/snapshot-health.ts'
import { VersionRemoved } from '../catalog/version-removed.ts'
import {
  type BodilessResponse,
  descriptionHeaders,
  type FileResponse,
  fileHeaders,
  fileResponse,
  freeResponse,
  proxyResponse,
  redirectResponse,
} from './download-responses.ts'
import {
  type DownloadFormat,
  describeExport,
  type ExportFile,
  type ExportRequest,
} from './exports/export-file.ts'
import type { Exports } from './exports/exports.ts'
import { type ProxiedRequest, ProxyFiles } from './proxy-files.ts'
import { type OpenExport, openExport } from './send-export.ts'
import { mayRedirect, signedFile } from './signed-file.ts'

interface DownloadsDeps {
  catalog: Pick<Catalog, 'withCurrent'>
  cashier: Pick<Cashier, 'charge' | 'refusalOf' | 'watch' | 'hasBought'>
  exports: Pick<Exports, 'peek' | 'find' | 'get' | 'getStored' | 'forget' | 'forgetDamaged'>
  health: Pick<SnapshotHealth, 'require' | 'removalOr' | 'problemOf'>
  log: Logger
  clock: Clock
  config: Pick<Config, 'downloads' | 'downloadLinkSeconds' | 'trustedProxies'>
  blobs: Pick<Blobs, 'localFolder'>
}

export interface DownloadRequest {
  grant: Grant
  dataset: Dataset
  /** The version that the client named; null for the current one. */
  archived: Version | null
  /** For the changes between two versions: the earlier one. */
  since?: Version
  /** As the client wrote it; the dataset may not have this format. */
  format: string
  /** Method, conditions, range and accepted encodings, and the peer, which may be a proxy that sends files. */
  http: ProxiedRequest
  requestId: string
}

/** Sends the response of a download. */
export interface Receiver {
  respond(response: BodilessResponse): void
  /**
   * Sends the bytes and closes the file. Resolves when everything is sent or the client has disconnected; rejects
   * if the file cannot be read.
   */
  send(opened: OpenExport, response: FileResponse): Promise<void>
}

/** A request that was checked: the file it asks for, and the bill for it. */
interface Order extends Pick<DownloadRequest, 'http' | 'requestId'> {
  exportRequest: ExportRequest
  bill: Bill
}

/**
 * In order of preference if the client accepts both equally: the smaller one that decompresses faster comes
 * first.
 */
const STORED = ['zstd', 'gzip'] as const

/**
 * Delivers files of datasets and decides when they are charged; `priceFor` says what they cost.
 *
 * 1. Permission, add-on and damage are checked first, and nothing is charged for a refusal.
 * 2. HEAD, 304 and 416 are free. If they need a file that does not exist yet, it is built only for a caller who
 *    could pay.
 * 3. Everything else is charged before the file is built or sent.
 * 4. What was charged is refunded if the file cannot be built or breaks off for a reason of ours.
 */
export class Downloads {
  readonly #parts: DownloadsDeps
  readonly #proxyFiles: ProxyFiles

  constructor(parts: DownloadsDeps) {
    this.#parts = parts
    this.#proxyFiles = new ProxyFiles(parts.config)
  }

  /** Resolves when the response has begun. */
  async deliver(request: DownloadRequest, receiver: Receiver): Promise<void> {
    const { dataset, archived } = request
    if (archived) return this.#deliverVersion(request, archived, receiver)
    // If the version is removed while its file is built, the charge is refunded before the new version is delivered.
    const deliverCurrent = (current: Dataset) =>
      this.#deliverVersion({ ...request, dataset: current }, current, receiver)
    return this.#parts.catalog.withCurrent(dataset, deliverCurrent).catch((error: unknown) => {
      if (!(error instanceof VersionRemoved)) throw error
      // Not 404, which would say that the dataset is gone.
      const detail = `"${dataset.table}" was replaced twice while its file was built. Ask again later.`
      throw new Problem('export-not-ready', detail, { headers: { 'retry-after': '15' }, cause: error })
    })
  }

  async #deliverVersion(request: DownloadRequest, version: Version, receiver: Receiver): Promise<void> {
    const { cashier } = this.#parts
    const order = await this.#order(request, version)
    const { free, readyFile } = await this.#beforeCharge(order)
    if (free) return receiver.respond(free)
    // Watched from before the charge: a shutdown in between would leave the charge without a delivery or a
    // refund.
    const delivery = cashier
      .charge(order.bill)
      .then((charge) => this.#deliverCharged(order, readyFile, charge, receiver))
    return cashier.watch(delivery)
  }

  /** Throws if the caller may not download this, or if the version is damaged. */
  async #order(request: DownloadRequest, version: Version): Promise<Order> {
    const { grant, dataset, archived, since, http, requestId } = request
    const { clock, health } = this.#parts
    const format = formatOf(request, version)
    if (since) await this.#requireChanges(request, since, version)
    else requireRead(grant, dataset, archived ? 'archives' : 'downloads', clock)
    await health.require(version)
    if (since) await health.require(since)
    const encoding = format.isCompressed
      ? 'identity'
      : preferredEncoding(http.headers['accept-encoding'], STORED)
    const operation = archived && !since ? 'archive' : 'download'
    // Nothing has changed between a version and itself. A map of the changes has no values of features.
    const isFree = since?.version === version.version || format.format === 'changes-places'
    const price = isFree ? 0 : priceFor(grant, dataset, clock)
    const call = { operation, table: dataset.table, format: format.format }
    return {
      http,
      requestId,
      exportRequest: {
        dataset,
        version,
        format,
        encoding,
        since,
        isArchive: archived !== null,
        isShared: grant.scope === 'anonymous',
        requestId,
      },
      bill: { grant, call, version: version.version, price, maxPrice: maxCreditsOf(http.headers) },
    }
  }

  /** Throws if the changes cannot be told, or if the caller may not have them. */
  async #requireChanges(
    { grant, dataset, format }: DownloadRequest,
    since: Version,
    version: Version,
  ): Promise<void> {
    const { cashier, clock } = this.#parts
    // The step that the list of versions counts is shown on a map to everybody who may see the features on one.
    const isOnMap = format === 'places' && version.changes?.from === since.version
    if (!isOnMap || !mayRead(grant, dataset, 'features', clock))
      await requireReadChanges(
        grant,
        dataset,
        {
          isToCurrent: version.version === dataset.version,
          hasBoughtFrom: () => cashier.hasBought(grant, since),
        },
        clock,
      )
    if (since.version > version.version)
      throw invalidInput('from', `is later than the version ${version.version}, with which it is compared`)
    const unstable = [since, version].find(({ manifest }) => !hasStableIds(manifest))
    if (unstable) {
      throw new Problem(
        'no-stable-ids',
        `The ids of version ${unstable.version} of "${dataset.table}" are row numbers, so it cannot be compared with another.`,
      )
    }
  }

  /** The free response to a request, if it has one; otherwise the file, if it is known already. */
  async #beforeCharge(order: Order): Promise<{ free?: BodilessResponse; readyFile?: ExportFile }> {
    const { exports } = this.#parts
    const { http, exportRequest } = order
    const peekedFile = exports.peek(exportRequest)
    if (isUnmodified(http.headers, describeExport(exportRequest).lastModified)) {
      const headers = peekedFile ? fileHeaders(exportRequest, peekedFile) : descriptionHeaders(exportRequest)
      return { free: { status: 304, headers } }
    }
    if (!peekedFile && !isConditional(http)) return {}
    const readyFile = peekedFile ?? (await this.#findOrBuild(order))
    // Without a file, the headers that only the file determines are omitted.
    if (!readyFile) return { free: { status: 200, headers: descriptionHeaders(exportRequest) } }
    const free = freeResponse(http, exportRequest, readyFile)
    return free ? { free } : { readyFile }
  }

  /**
   * The file of a conditional request, which cannot be charged before the file exists, because it may turn out to
   * be free. Building is expensive, so build only if the caller could pay. Charging first and refunding is not an
   * option: until the refund, another request with the same key would get the file for free, because a purchase may
   * be downloaded again. Null for HEAD of a caller who cannot pay; other methods throw.
   */
  async #findOrBuild({ http, exportRequest, bill }: Order): Promise<ExportFile | null> {
    const { cashier, exports, health } = this.#parts
    const orRemoval = async (error: unknown) => {
      throw await health.removalOr(exportRequest.version, error)
    }
    const existingFile = await exports.find(exportRequest).catch(orRemoval)
    if (existingFile) return existingFile
    const refusal = await cashier.refusalOf(bill)
    if (refusal && http.method !== 'HEAD') throw refusal
    return refusal ? null : exports.get(exportRequest).catch(orRemoval)
  }

  async #deliverCharged(
    order: Order,
    readyFile: ExportFile | undefined,
    charge: Charge,
    receiver: Receiver,
  ): Promise<void> {
    const { config, exports, health } = this.#parts
    const { http, exportRequest } = order
    try {
      const file = readyFile ?? (await exports.get(exportRequest))
      const signed = mayRedirect(http.headers, file, config)
        ? await signedFile(exportRequest, this.#parts)
        : null
      if (signed) return receiver.respond(redirectResponse(exportRequest, signed, charge))
      const opened = await this.#open(exportRequest, file)
      const folder = await this.#parts.blobs.localFolder(exportRequest.version.snapshot)
      const address = this.#proxyFiles.addressOf(http, opened.file, folder)
      if (address === null) return this.#send(order, opened, charge, receiver)
      await opened.handle.close()
      receiver.respond(proxyResponse(exportRequest, opened.file, address, charge))
    } catch (error) {
      exports.forget(exportRequest)
      const problem = await health.removalOr(exportRequest.version, error)
      await charge.refund()
      throw problem
    }
  }

  /** A file that changed or vanished since it was verified is looked up, and if necessary built, once more. */
  async #open(exportRequest: ExportRequest, file: ExportFile): Promise<OpenExport> {
    const { exports } = this.#parts
    const opened = await openExport(file).catch(async (error: unknown) => {
      if (!(await exports.forgetDamaged(exportRequest, error))) throw error
      return null
    })
    if (opened) return opened
    exports.forget(exportRequest)
    const again = await openExport(await exports.get(exportRequest))
    if (!again) throw new Error('an export changes while it is opened')
    return again
  }

  /** Begins to send. A response that breaks off can only be aborted: the client sees that it is short. */
  #send({ http, exportRequest, requestId }: Order, opened: OpenExport, charge: Charge, receiver: Receiver) {
    const { cashier, exports, health, log } = this.#parts
    const response = fileResponse(http, exportRequest, opened.file, charge)
    const sent = receiver.send(opened, response).catch(async (error: unknown) => {
      log.error({ err: error, requestId }, 'A download broke off.')
      await health.problemOf(exportRequest.version, error)
      await exports
        .forgetDamaged(exportRequest, error)
        .catch((failure: unknown) => log.error({ err: failure }, 'A damaged export could not be removed.'))
      await charge.refund().catch((failure: unknown) => log.error({ err: failure }, 'A refund failed.'))
    })
    cashier.watch(sent)
  }
}

/** Throws 404 if the dataset does not have the format. */
function formatOf({ format: name, since }: DownloadRequest, { manifest }: Version): DownloadFormat {
  if (since) return CHANGES_FORMATS[name as ChangesFormat]
  const format = exportFormatsOf(manifest).find((entry) => entry.format === name)
  if (!format) throw notFound(`format named "${name.slice(0, 40)}" for this dataset`)
  return format
}

/** Whether the response may be free, depending on the file. */
function isConditional({ method, headers }: DownloadRequest['http']): boolean {
  return headers['if-none-match'] !== undefined || headers.range !== undefined || method === 'HEAD'
}
