import type { FastifyReply, FastifyRequest } from 'fastify'
import {
  authenticatePublisher,
  type Publisher,
  type PublisherDeps,
  requireOwned,
  requireWrite,
} from '../../accounts/access/publisher.ts'
import { notFound, Problem } from '../../base/problem.ts'
import type { Catalog } from '../catalog/catalog.ts'
import { isTable } from '../catalog/dataset.ts'
import { readNameOwner } from '../catalog/name-owner-store.ts'

export function tableOf(request: { params: { table: string } }): string {
  if (!isTable(request.params.table))
    throw notFound('such dataset: a table name has lower-case letters, digits and _')
  return request.params.table
}

/** Checks who may change which dataset, before a route reads anything of the request. */
export class Publishers {
  readonly #deps: PublisherDeps & { catalog: Catalog }
  readonly #publishers = new WeakMap<FastifyRequest, Publisher>()

  constructor(deps: PublisherDeps & { catalog: Catalog }) {
    this.#deps = deps
  }

  /**
   * For a dataset that exists: requires the operator or a publisher of the organization that owns it. Authenticates
   * the caller before checking what is requested.
   */
  readonly ofDataset = async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    const { publisher, table } = await this.#publisherOf(request, reply)
    if (publisher.organizationId !== null)
      requireOwned(publisher, table, await this.#deps.catalog.find(table))
  }

  /** The same for an upload, which may make a new dataset. */
  readonly ofUpload = async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    const { publisher, table } = await this.#publisherOf(request, reply)
    await this.#requireFree(publisher, table)
  }

  /** Throws if the name belongs to another publisher. */
  async #requireFree({ organizationId }: Publisher, table: string): Promise<void> {
    if (organizationId === null) return
    const nameOwner = await readNameOwner(this.#deps.database.db, table)
    // Names are unique in the installation, so this cannot keep secret that the name of a hidden dataset is taken.
    if (nameOwner !== undefined && nameOwner !== organizationId)
      throw new Problem('permission-missing', `The name "${table}" is taken by another publisher.`)
  }

  /** The same for a file that is inspected, for a dataset that the query names or for none. */
  readonly ofInspection = async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    const publisher = await authenticatePublisher(this.#deps, request, reply)
    const { table } = request.query as { table?: unknown }
    // Another name is refused when the query is validated.
    const name = typeof table === 'string' && isTable(table) ? table : ''
    requireWrite(publisher, name)
    await this.#requireFree(publisher, name)
    this.#publishers.set(request, publisher)
  }

  /** Whether a dataset has the name, whoever may know of it. */
  async hasDataset(table: string): Promise<boolean> {
    return (await this.#deps.catalog.findIfAny(table)) !== null
  }

  publisherOf(request: FastifyRequest): Publisher {
    return this.#publishers.get(request)!
  }

  async #publisherOf(request: FastifyRequest, reply: FastifyReply) {
    const tableIn = () => tableOf(request as FastifyRequest<{ Params: { table: string } }>)
    const publisher = await authenticatePublisher(this.#deps, request, reply, tableIn)
    const table = tableIn()
    requireWrite(publisher, table)
    this.#publishers.set(request, publisher)
    return { publisher, table }
  }
}
