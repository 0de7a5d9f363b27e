import type { SharedLoads } from '../bytes/shared-loads.ts'
import { discardShared, inSharedMemory } from '../bytes/shared-memory.ts'
import type { Bbox } from '../geometry/bbox.ts'
import { SNAPSHOT_FILES } from '../snapshot/manifest.ts'
import type { Snapshot } from '../snapshot/open.ts'
import type { StoredColumn } from './column-file.ts'
import { ColumnPart } from './column-part.ts'
import { readColumnDirectory, readColumnLists, readColumnParts, readLargeColumn } from './column-reader.ts'
import {
  type ColumnParts,
  CompiledColumn,
  MAX_LISTED_ROWS,
  memoryOf,
  memoryOfLists,
} from './compiled-column.ts'
import type { PackedLists } from './unpack-column.ts'
import { UnpackInThread } from './unpack-in-thread.ts'

/** With several serving threads, each has a thread that unpacks: one that rests takes ten megabytes or more. */
const SHARED_IDLE_MS = 10_000

export interface ColumnCacheOptions {
  maxListedRows?: number | undefined
  shared?: SharedLoads | null
}

interface Entry {
  bytes: number
  /** Called when the entry leaves the cache. */
  forget: () => void
}

interface ColumnEntry extends Entry {
  loading: Promise<CompiledColumn>
  column: CompiledColumn | null
  /** While the order is made. */
  ordering: Promise<void> | null
  hasSharedOrder: boolean
}

interface PartEntry extends Entry {
  loading: Promise<ColumnPart>
  part: ColumnPart | null
}

interface DerivedEntry extends Entry {
  value: object
}

interface SnapshotColumns {
  segmentRows: number
  stored: ReadonlyMap<string, StoredColumn>
  entries: Map<string, ColumnEntry>
  /** Columns that are loaded without their codes. */
  lists: Map<string, ColumnEntry>
  /** Columns that are loaded with the codes of some segments. */
  parts: Map<string, PartEntry>
}

/**
 * An LRU cache of compiled columns, which several snapshots share. Columns are loaded when they are first
 * needed; concurrent loads of a column are one (single-flight). What queries derive from columns and geometries is
 * kept in the same memory, so that one limit bounds all of it.
 */
export class ColumnCache {
  readonly #maxBytes: number
  readonly #maxListedRows: number
  readonly #snapshots = new WeakMap<Snapshot, Promise<SnapshotColumns>>()
  readonly #opened = new WeakMap<Snapshot, SnapshotColumns>()
  /** In LRU order, least recently used first. */
  readonly #entries = new Set<Entry>()
  readonly #derived = new Map<string, DerivedEntry>()
  #last: Entry | null = null
  #bytes = 0
  readonly #shared: SharedLoads | null
  readonly #thread: UnpackInThread
  #onEvict = () => {}
  /** How often a column was loaded already, and how often it had to be read. */
  readonly lookups = { hits: 0, misses: 0 }

  /**
   * Columns of more than `maxListedRows` rows are loaded without their order. `shared` is null if no other thread serves
   * from these columns.
   */
  constructor(maxBytes: number, { maxListedRows = MAX_LISTED_ROWS, shared = null }: ColumnCacheOptions = {}) {
    this.#maxBytes = maxBytes
    this.#maxListedRows = maxListedRows
    this.#shared = shared
    this.#thread = new UnpackInThread({
      maxListed: maxListedRows,
      idleMs: shared ? SHARED_IDLE_MS : undefined,
    })
  }

  /** Calls `listener` whenever columns leave the cache, so that it can drop what refers to them. */
  set onEvict(listener: () => void) {
    this.#onEvict = listener
  }

  /** Prepares for columns of a snapshot, which was opened and is likely to be filtered soon. */
  expect({ manifest }: Snapshot): void {
    // Another thread may load the columns.
    if (this.#shared === null && manifest.files[SNAPSHOT_FILES.columns]) this.#thread.expect(manifest.rows)
  }

  /** The memory of all loaded columns and of what was derived, in bytes. */
  get bytes(): number {
    return this.#bytes
  }

  /** Synchronous: the column if it is loaded, null if it cannot be, undefined if `load` has to be called. */
  peek(snapshot: Snapshot, name: string): CompiledColumn | null | undefined {
    const opened = this.#opened.get(snapshot)
    if (opened === undefined) return undefined
    const entry = opened.entries.get(name)
    if (entry !== undefined) {
      this.#touch(entry)
      if (entry.column) this.lookups.hits++
      return entry.column ?? undefined
    }
    return this.#canBeLoaded(snapshot, opened.stored.get(name)) ? undefined : null
  }

  /**
   * The column; null if the snapshot has no compiled form of it or it does not fit into the cache. Throws a
   * DamagedSnapshotError.
   */
  async load(snapshot: Snapshot, name: string): Promise<CompiledColumn | null> {
    const opened = await this.#open(snapshot)
    const stored = opened.stored.get(name)
    if (stored === undefined || !this.#canBeLoaded(snapshot, stored)) return null
    return this.#load(snapshot, name, opened.entries, {
      bytes: bytesOf(snapshot.manifest.rows, stored),
      key: keyOf(snapshot, name),
      read: () => this.#readParts(snapshot, opened, stored),
    })
  }

  #readParts(
    { files, manifest }: Snapshot,
    opened: SnapshotColumns,
    stored: StoredColumn,
  ): Promise<ColumnParts> {
    const { rows } = manifest
    const shape = { rows, segmentRows: opened.segmentRows }
    const { lists } = stored
    if (lists && rows > this.#maxListedRows)
      return readLargeColumn(files, shape, { ...stored, lists }, this.#thread)
    return readColumnParts(files, shape, stored, (packed) => this.#thread.unpack(packed))
  }

  /** Synchronous: the column with its posting lists alone, as `peek` does. */
  peekLists(snapshot: Snapshot, name: string): CompiledColumn | null | undefined {
    const opened = this.#opened.get(snapshot)
    if (opened === undefined) return undefined
    const entry = opened.lists.get(name)
    if (entry) this.#touch(entry)
    if (entry?.column) return entry.column
    return listsOf(snapshot, opened.stored.get(name)) ? undefined : null
  }

  /**
   * The column with its posting lists alone, which are read when they are used: its memory does not grow with the number
   * of rows. Null if they are not stored, as for columns of few rows. Throws a DamagedSnapshotError.
   */
  async loadLists(snapshot: Snapshot, name: string): Promise<CompiledColumn | null> {
    const opened = await this.#open(snapshot)
    const stored = listsOf(snapshot, opened.stored.get(name))
    if (stored === null) return null
    const bytes = memoryOfLists(stored.distinct, stored.dictionary.size)
    if (bytes > this.#maxBytes) return null
    return this.#load(snapshot, name, opened.lists, {
      bytes,
      key: `${keyOf(snapshot, name)} lists`,
      read: () => readColumnLists(snapshot.files, stored, (packed) => this.#thread.unpackLists(packed)),
    })
  }

  /**
   * The segments with the codes of all features whose boxes meet the box. Null if columns are loaded as a whole, because
   * they have few rows, or because most segments are needed.
   */
  async segmentsInBox(snapshot: Snapshot, box: Bbox): Promise<ReadonlySet<number> | null> {
    const { rows } = snapshot.manifest
    if (rows <= this.#maxListedRows) return null
    const { segmentRows } = await this.#open(snapshot)
    const segments = await snapshot.tree.partsIn(box, segmentRows)
    return isMost(segments.size, rows, segmentRows) ? null : segments
  }

  /**
   * The column with the codes of these segments at least, and with what is known of their blocks; other codes must not be
   * read. Null as `load`. Throws a DamagedSnapshotError.
   */
  async loadSegments(
    snapshot: Snapshot,
    name: string,
    segments: ReadonlySet<number>,
  ): Promise<CompiledColumn | null> {
    const opened = await this.#open(snapshot)
    const stored = listsOf(snapshot, opened.stored.get(name))
    if (stored === null || opened.entries.has(name)) return this.load(snapshot, name)
    if (!this.#canBeLoaded(snapshot, stored)) return null
    const part = await this.#openPart(snapshot, opened, stored)
    const all = new Set([...part.segments, ...segments])
    if (isMost(all.size, snapshot.manifest.rows, opened.segmentRows)) return this.load(snapshot, name)
    const before = part.bytes
    await part.load(segments, this.#thread.segmentsAtOnce)
    if (part.bytes === before) this.lookups.hits++
    else this.lookups.misses++
    const entry = opened.parts.get(name)
    // It may have been evicted meanwhile.
    if (entry?.part === part) this.#charge(entry, part.bytes)
    return part.column
  }

  async #openPart(
    snapshot: Snapshot,
    opened: SnapshotColumns,
    stored: PackedLists['stored'],
  ): Promise<ColumnPart> {
    const { name } = stored
    let entry = opened.parts.get(name)
    if (entry === undefined) {
      const { files, manifest } = snapshot
      const { segmentRows, parts } = opened
      const loading = this.loadLists(snapshot, name).then((lists) =>
        ColumnPart.open({
          ...{ lists: lists!, stored, files, rows: manifest.rows, segmentRows },
          ...{ unpacker: this.#thread, shared: this.#shared, key: keyOf(snapshot, name) },
        }),
      )
      const opening: PartEntry = {
        bytes: 0,
        loading,
        part: null,
        forget: () => {
          if (parts.get(name) === opening) parts.delete(name)
          loading.then((part) => part.close()).catch(() => {})
        },
      }
      entry = opening
      parts.set(name, entry)
      this.#add(entry)
    } else this.#touch(entry)
    try {
      entry.part = await entry.loading
      return entry.part
    } catch (error) {
      if (this.#entries.has(entry)) this.#drop(entry)
      throw error
    }
  }

  async #load(
    snapshot: Snapshot,
    name: string,
    entries: Map<string, ColumnEntry>,
    { bytes, key, read }: { bytes: number; key: string; read: () => Promise<ColumnParts> },
  ): Promise<CompiledColumn> {
    const cached = entries.get(name)
    if (cached) {
      this.#touch(cached)
      this.lookups.hits++
      return cached.loading
    }
    this.lookups.misses++
    const entry: ColumnEntry = {
      bytes,
      forget: () => {
        entries.delete(name)
        this.#release(key, entry)
        this.#onEvict()
      },
      loading: this.#read(snapshot, name, key, read),
      column: null,
      ordering: null,
      hasSharedOrder: false,
    }
    entries.set(name, entry)
    this.#add(entry)
    try {
      entry.column = await entry.loading
      const part = entry.column.hasCodes ? this.#opened.get(snapshot)!.parts.get(name) : undefined
      if (part) this.#drop(part)
      return entry.column
    } catch (error) {
      if (this.#entries.has(entry)) this.#drop(entry)
      throw error
    }
  }

  /** The same with its sorted order, which large columns are loaded without; null if there is no room for it. */
  async loadOrder(snapshot: Snapshot, name: string): Promise<CompiledColumn | null> {
    const column = await this.load(snapshot, name)
    if (column === null || column.order) return column
    const entry = this.#opened.get(snapshot)!.entries.get(name)
    // It may have been evicted meanwhile; then it is not kept.
    if (entry === undefined) {
      column.order = await this.#thread.order(column.codes, column.starts)
      return column
    }
    if (entry.bytes + column.codes.length * 4 > this.#maxBytes) return null
    entry.ordering ??= this.#order(snapshot, entry, column).finally(() => {
      entry.ordering = null
    })
    await entry.ordering
    return column
  }

  async #order(snapshot: Snapshot, entry: ColumnEntry, column: CompiledColumn): Promise<void> {
    const shared = this.#shared
    const key = `${keyOf(snapshot, column.name)} order`
    const read = async () => ({ order: await this.#thread.order(column.codes, column.starts) })
    const { order } = await (shared ? shared.load(key, async () => inSharedMemory(await read())) : read())
    column.order = order
    if (!this.#entries.has(entry)) {
      shared?.release(key)
      return
    }
    entry.hasSharedOrder = shared !== null
    this.#charge(entry, entry.bytes + order.byteLength)
  }

  /** The entry has another size now, and counts as used. */
  #charge(entry: Entry, bytes: number): void {
    this.#bytes += bytes - entry.bytes
    entry.bytes = bytes
    this.#touch(entry)
    this.#evict()
  }

  /** What `keep` was called with; undefined if it was evicted. */
  derived<T extends object>(key: string): T | undefined {
    const entry = this.#derived.get(key)
    if (entry) this.#touch(entry)
    return entry?.value as T | undefined
  }

  /** Keeps what was derived from a snapshot, unless it alone is larger than the cache. */
  keep(key: string, value: object, bytes: number): void {
    const before = this.#derived.get(key)
    if (before) this.#drop(before)
    const size = bytes + key.length * 2
    if (size > this.#maxBytes) return
    const entry: DerivedEntry = { value, bytes: size, forget: () => this.#derived.delete(key) }
    this.#derived.set(key, entry)
    this.#add(entry)
  }

  #open(snapshot: Snapshot): Promise<SnapshotColumns> {
    let opening = this.#snapshots.get(snapshot)
    if (opening === undefined) {
      opening = readColumnDirectory(snapshot.files, snapshot.manifest).then((directory) => {
        const stored = new Map((directory?.columns ?? []).map((column) => [column.name, column]))
        const segmentRows = directory?.segmentRows ?? 1
        const opened = { segmentRows, stored, entries: new Map(), lists: new Map(), parts: new Map() }
        this.#opened.set(snapshot, opened)
        return opened
      })
      // A failed attempt is not kept: the next call tries again.
      opening.catch(() => this.#snapshots.delete(snapshot))
      this.#snapshots.set(snapshot, opening)
    }
    return opening
  }

  async #read(
    snapshot: Snapshot,
    name: string,
    key: string,
    read: () => Promise<ColumnParts>,
  ): Promise<CompiledColumn> {
    const shared = this.#shared
    const stored = this.#opened.get(snapshot)!.stored.get(name)!
    const listed = listsOf(snapshot, stored)
    const { rows } = snapshot.manifest
    const order = listed && (await snapshot.integers.open(SNAPSHOT_FILES.columns, listed.lists.orderAt, rows))
    const parts = await (shared ? shared.load(key, async () => inSharedMemory(await read())) : read())
    return new CompiledColumn(name, stored.type, parts, order)
  }

  /** Also if it is evicted while it is being loaded. */
  #release(key: string, { loading, hasSharedOrder }: ColumnEntry): void {
    const shared = this.#shared
    if (!shared) return
    if (hasSharedOrder) shared.release(`${key} order`)
    loading.then(() => shared.release(key)).catch(() => {})
  }

  #canBeLoaded({ manifest }: Snapshot, stored: StoredColumn | undefined): boolean {
    return stored !== undefined && bytesOf(manifest.rows, stored) <= this.#maxBytes
  }

  #add(entry: Entry): void {
    this.#entries.add(entry)
    this.#bytes += entry.bytes
    this.#evict()
  }

  #touch(entry: Entry): void {
    if (entry === this.#last) return
    this.#entries.delete(entry)
    this.#entries.add(entry)
    this.#last = entry
  }

  #evict(): void {
    for (const oldest of this.#entries) {
      if (this.#bytes <= this.#maxBytes) return
      this.#drop(oldest)
    }
  }

  #drop(entry: Entry): void {
    this.#entries.delete(entry)
    this.#bytes -= entry.bytes
    if (this.#last === entry) this.#last = null
    entry.forget()
    discardShared(entry.bytes)
  }
}

/** Whether it is better to load all segments. */
function isMost(segments: number, rows: number, segmentRows: number): boolean {
  return segments * 2 > Math.ceil(rows / segmentRows)
}

function keyOf({ folder }: Snapshot, column: string): string {
  return `${folder} ${SNAPSHOT_FILES.columns} ${column}`
}

function bytesOf(rows: number, { distinct, width, dictionary }: StoredColumn): number {
  return memoryOf(rows, distinct, width, dictionary.size)
}

/** The column if its posting lists can be read from the file by parts. */
function listsOf({ integers }: Snapshot, stored: StoredColumn | undefined): PackedLists['stored'] | null {
  if (stored?.lists === undefined || !integers.canRead(SNAPSHOT_FILES.columns)) return null
  return { ...stored, lists: stored.lists }
}
