import type { BlockList } from 'node:net'
import type { AddressBlock } from '@wayleave/contract/records'
import { type Clock, isStorableTime } from '../../base/clock.ts'
import type { Changes } from '../../base/database/changes/changes.ts'
import type { ControlDatabase } from '../../base/database/open.ts'
import { type Origin, recordEvent } from '../../base/events/events.ts'
import { newId } from '../../base/id.ts'
import { invalidInput, notFound, Problem } from '../../base/problem.ts'
import { deleteAddressBlock, insertAddressBlock, listAddressBlocks } from './address-block-store.ts'
import { contains, networkList, normalNetwork } from './networks.ts'

/** Each request is compared with all of them. */
const MAX_BLOCKS = 1000

const LOOPBACK = ['127.0.0.1', '::1']

export interface AddressBlocksOptions {
  database: ControlDatabase
  changes: Changes
  clock: Clock
}

export interface NewAddressBlock {
  /** An address, or a network in CIDR notation. */
  network: string
  reason: string
  expiresAt: Date | null
}

/**
 * The networks whose requests are refused. A server holds them in memory and reads them again when they change,
 * and every two seconds, which also ends the blocks that expire.
 */
export class AddressBlocks {
  readonly #options: AddressBlocksOptions
  #networks: BlockList | null = null

  constructor(options: AddressBlocksOptions) {
    this.#options = options
  }

  /** Called for every request; the list is almost always empty. */
  has(address: string | undefined): boolean {
    return this.#networks !== null && address !== undefined && contains(this.#networks, address)
  }

  get isEmpty(): boolean {
    return this.#networks === null
  }

  list(): Promise<AddressBlock[]> {
    return listAddressBlocks(this.#options.database.db)
  }

  async load(): Promise<void> {
    const now = this.#options.clock().toISOString()
    const blocks = (await this.list()).filter(({ expiresAt }) => expiresAt === null || expiresAt > now)
    this.#networks = blocks.length === 0 ? null : networkList(blocks.map(({ network }) => network))
  }

  /** `callerAddress` is the address of the caller, whom the block must not lock out; null on the command line. */
  async add(origin: Origin, block: NewAddressBlock, callerAddress: string | null): Promise<AddressBlock> {
    const { database, changes, clock } = this.#options
    const network = normalNetwork(block.network)
    if (network === null)
      throw invalidInput('/network', 'must be an IP address or a network such as 192.0.2.0/24')
    if (block.expiresAt !== null && !isStorableTime(block.expiresAt)) {
      throw invalidInput('/expiresAt', 'must be a time before the year 10000')
    }
    if (block.expiresAt !== null && block.expiresAt <= clock()) {
      throw invalidInput('/expiresAt', 'must be in the future')
    }
    if (callerAddress !== null && contains(networkList([network]), callerAddress)) {
      throw new Problem('conflict', `${network} contains your own address, ${callerAddress}.`)
    }
    if (LOOPBACK.some((address) => contains(networkList([network]), address))) {
      const reason = 'the health check and a proxy on this machine send requests from there'
      throw new Problem('conflict', `${network} contains the loopback address: ${reason}.`)
    }
    const added = await changes.commit(async (tx, changed) => {
      await database.lockName(tx, 'address-blocks')
      if ((await listAddressBlocks(tx)).length >= MAX_BLOCKS) {
        throw new Problem(
          'conflict',
          `There are ${MAX_BLOCKS} blocks already. Remove some, or block larger networks.`,
        )
      }
      const row: AddressBlock = {
        id: newId('blk'),
        network,
        reason: block.reason,
        createdBy: origin.actor,
        createdAt: clock().toISOString(),
        expiresAt: block.expiresAt?.toISOString() ?? null,
      }
      await insertAddressBlock(tx, row)
      await recordEvent(tx, clock(), origin, {
        action: 'address.blocked',
        organizationId: null,
        subject: `address:${network}`,
        detail: { reason: row.reason, expiresAt: row.expiresAt },
      })
      changed('address-blocks', '')
      return row
    })
    await this.load()
    return added
  }

  async remove(origin: Origin, id: string): Promise<void> {
    await this.#remove(origin, (block) => block.id === id)
  }

  /** Removes all blocks of this address or network, as it was written when it was blocked. */
  async removeNetwork(origin: Origin, network: string): Promise<void> {
    const normal = normalNetwork(network)
    await this.#remove(origin, (block) => block.network === normal)
  }

  async #remove(origin: Origin, isMeant: (block: AddressBlock) => boolean): Promise<void> {
    const { changes, clock } = this.#options
    await changes.commit(async (tx, changed) => {
      const blocks = (await listAddressBlocks(tx)).filter(isMeant)
      if (blocks.length === 0) throw notFound('such block')
      for (const { id, network } of blocks) {
        // Another call may have removed it since it was read.
        if (!(await deleteAddressBlock(tx, id))) continue
        await recordEvent(tx, clock(), origin, {
          action: 'address.unblocked',
          organizationId: null,
          subject: `address:${network}`,
        })
      }
      changed('address-blocks', '')
    })
    await this.load()
  }
}
