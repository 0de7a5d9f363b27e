import { appendFile, open } from 'node:fs/promises'

/** A secret, identified by its hash, that must not work again. */
export interface Revocation {
  secretHash: string
  keyId: string
  at: string
}

/**
 * Reads revocations from a file of JSON lines: a backup folder's `revoked.jsonl` or a data folder's
 * `revocations.log`. Two nodes may write to one file at once, and a crash may cut a write off, so a line that
 * cannot be parsed is skipped; its row is still in the database and is written again.
 */
export async function readRevocations(path: string): Promise<Map<string, Revocation>> {
  const revocations = new Map<string, Revocation>()
  const handle = await open(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null
    throw error
  })
  if (handle === null) return revocations
  // Line by line: the log is never shortened, and parsing a large one at once would block the event loop.
  for await (const line of handle.readLines({ encoding: 'utf8' })) {
    const revocation = parseLine(line)
    if (revocation) revocations.set(revocation.secretHash, revocation)
  }
  return revocations
}

export function parseRevocations(text: string): Map<string, Revocation> {
  const revocations = new Map<string, Revocation>()
  for (const line of text.split('\n')) {
    const revocation = parseLine(line)
    if (revocation) revocations.set(revocation.secretHash, revocation)
  }
  return revocations
}

/** The lines are synced to disk when this returns. */
export async function appendRevocations(path: string, revocations: Revocation[]): Promise<void> {
  if (revocations.length === 0) return
  // The leading newline terminates a line that a crash may have cut off.
  await appendFile(path, `\n${printRevocations(revocations)}`, { mode: 0o600 })
  const handle = await open(path, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

export function printRevocations(revocations: Iterable<Revocation>): string {
  return Array.from(revocations, (revocation) => `${JSON.stringify(revocation)}\n`).join('')
}

function parseLine(line: string): Revocation | null {
  if (line === '') return null
  try {
    const { secretHash, keyId, at } = JSON.parse(line) as Partial<Revocation>
    const valid =
      typeof secretHash === 'string' && /^[\w-]{43}$/.test(secretHash) && typeof keyId === 'string'
    return valid && typeof at === 'string' ? { secretHash, keyId, at } : null
  } catch {
    return null
  }
}
