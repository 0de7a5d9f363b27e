import { type CryptoKey, exportJWK, generateKeyPair, importJWK, type JWK } from 'jose'
import { CoherentCache } from '../../base/caching/coherent-cache.ts'
import { type Clock, DAY, MINUTE, plus, SECOND } from '../../base/clock.ts'
import type { Changes } from '../../base/database/changes/changes.ts'
import type { ControlDatabase } from '../../base/database/open.ts'
import { type Origin, recordEvent } from '../../base/events/events.ts'
import { randomBase62 } from '../../base/id.ts'
import type { KeyCipher } from './key-cipher.ts'
import {
  insertFirstSigningKey,
  readSigningKeys,
  replacePrivateKey,
  replaceSigningKey,
  type SigningKeyRow,
} from './signing-key-store.ts'

/** A token is valid for 15 minutes: a minute later, everything that the retired key signed has expired. */
const RETIRED_FOR = 16 * MINUTE
const RELOAD_EVERY = SECOND
/** The keys are read and cached together. */
const ALL_KEYS = 'all'

interface Loaded {
  kid: string
  privateKey: CryptoKey
  published: { kid: string; key: CryptoKey; jwk: JWK; retiredAt: number | null }[]
  /** When it was loaded, on the monotonic clock. */
  at: number
}

/**
 * The keys that sign access tokens. They are in the control database, so all nodes share them. The newest key
 * signs; a replaced one still verifies until the last token it signed has expired.
 */
export class SigningKeys {
  readonly #database: ControlDatabase
  readonly #changes: Changes
  readonly #clock: Clock
  readonly #cipher: KeyCipher
  readonly #cached: CoherentCache<Loaded>
  /** The last read, and the changes that were applied before it. */
  #recent: { loaded: Loaded; applied: number } | null = null

  constructor(database: ControlDatabase, changes: Changes, clock: Clock, cipher: KeyCipher) {
    this.#database = database
    this.#changes = changes
    this.#clock = clock
    this.#cipher = cipher
    this.#cached = new CoherentCache({
      changes,
      read: () => this.#read(),
      isStale: (_loaded, _key, subject) => subject === 'signing-key',
      maxEntries: 1,
    })
  }

  async current(): Promise<{ kid: string; privateKey: CryptoKey }> {
    return this.#fresh()
  }

  /** An unknown key id may be a new key: the keys are reloaded, at most once a second. */
  async find(kid: string): Promise<CryptoKey | undefined> {
    const loaded = await this.#fresh()
    const published = this.#published(loaded).find((key) => key.kid === kid)
    if (published || !isOld(loaded)) return published?.key
    this.#forget()
    return this.#published(await this.#fresh()).find((key) => key.kid === kid)?.key
  }

  /** The public keys, for `/.well-known/jwks.json`. */
  async jwks(): Promise<{ keys: JWK[] }> {
    return { keys: this.#published(await this.#fresh()).map((key) => key.jwk) }
  }

  /** From now on a new key signs, on every node. Tokens signed before stay valid until they expire. */
  async rotate(origin: Origin): Promise<{ kid: string }> {
    // Not decrypted: a key whose WAYLEAVE_SECRET_KEY is lost can still be replaced.
    await this.#rows()
    const now = this.#clock()
    const row = await this.#newSigningKey(now)
    await this.#changes.commit(async (tx, changed) => {
      await replaceSigningKey(tx, row, plus(now, -DAY).toISOString())
      await recordEvent(tx, now, origin, {
        action: 'signing-key.rotated',
        organizationId: null,
        subject: `signing-key:${row.kid}`,
      })
      changed('signing-key', row.kid)
    })
    this.#forget()
    return { kid: row.kid }
  }

  /** Encrypts a key that was stored before WAYLEAVE_SECRET_KEY was set, and checks that it can be decrypted. */
  async encryptStored(): Promise<void> {
    await this.#fresh()
    if (!this.#cipher.isOn) return
    for (const { kid, private_jwk } of await readSigningKeys(this.#database.db)) {
      if (private_jwk === '' || this.#cipher.isEncrypted(private_jwk)) continue
      await replacePrivateKey(this.#database.db, kid, this.#cipher.encrypt(private_jwk, kid))
    }
  }

  #published(loaded: Loaded): Loaded['published'] {
    const now = this.#clock().getTime()
    return loaded.published.filter((key) => key.retiredAt === null || now < key.retiredAt + RETIRED_FOR)
  }

  /** While caches are not trusted, keys that were read within the last second are used all the same. */
  async #fresh(): Promise<Loaded> {
    const recent = this.#recent
    const isUsable = recent?.applied === this.#changes.applied && !isOld(recent.loaded)
    if (isUsable && !this.#changes.trusted()) return recent.loaded
    return (await this.#cached.get(ALL_KEYS))!
  }

  #forget(): void {
    this.#recent = null
    this.#cached.evict(ALL_KEYS)
  }

  async #read(): Promise<Loaded> {
    const { applied } = this.#changes
    const rows = await this.#rows()
    const current = rows.find((row) => row.retired_at === null)!
    const published = rows.map(async (row) => {
      const jwk = JSON.parse(row.public_jwk) as JWK
      const retiredAt = row.retired_at === null ? null : Date.parse(row.retired_at)
      return { kid: row.kid, key: (await importJWK(jwk, 'EdDSA')) as CryptoKey, jwk, retiredAt }
    })
    const loaded: Loaded = {
      kid: current.kid,
      privateKey: (await importJWK(
        JSON.parse(this.#cipher.decrypt(current.private_jwk, current.kid)) as JWK,
        'EdDSA',
      )) as CryptoKey,
      published: await Promise.all(published),
      at: performance.now(),
    }
    this.#recent = { loaded, applied }
    return loaded
  }

  async #rows(): Promise<SigningKeyRow[]> {
    const { db } = this.#database
    const existingKeys = await readSigningKeys(db)
    if (existingKeys.length > 0) return existingKeys
    const first = await this.#newSigningKey(this.#clock())
    await db.transaction().execute((tx) => insertFirstSigningKey(tx, first))
    return readSigningKeys(db)
  }

  async #newSigningKey(now: Date): Promise<SigningKeyRow> {
    const { publicKey, privateKey } = await generateKeyPair('EdDSA', { crv: 'Ed25519', extractable: true })
    const kid = randomBase62(12)
    const described = { kid, alg: 'EdDSA', use: 'sig' }
    return {
      kid,
      private_jwk: this.#cipher.encrypt(
        JSON.stringify({ ...(await exportJWK(privateKey)), ...described }),
        kid,
      ),
      public_jwk: JSON.stringify({ ...(await exportJWK(publicKey)), ...described }),
      created_at: now.toISOString(),
      retired_at: null,
    }
  }
}

function isOld(loaded: Loaded): boolean {
  return performance.now() - loaded.at > RELOAD_EVERY
}
