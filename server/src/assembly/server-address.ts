import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Logger } from 'pino'

const FILE = 'server.json'

/** Records the address of a running server in its data folder, so that commands can print it. */
export function recordServerAddress(dataDir: string, url: string, log: Logger): () => void {
  const path = join(dataDir, FILE)
  try {
    writeFileSync(path, JSON.stringify({ pid: process.pid, url }))
  } catch (error) {
    log.warn({ err: error }, 'The address of this server could not be recorded for commands.')
  }
  return () => {
    // Another server may have replaced the file since.
    if (readRecord(dataDir)?.pid === process.pid) rmSync(path, { force: true })
  }
}

/** The address of the server that runs over a data folder; null if none runs. */
export function runningServerAddress(dataDir: string): string | null {
  const record = readRecord(dataDir)
  return record !== null && isRunning(record.pid) ? record.url : null
}

function readRecord(dataDir: string): { pid: number; url: string } | null {
  try {
    const { pid, url } = JSON.parse(readFileSync(join(dataDir, FILE), 'utf8'))
    return Number.isInteger(pid) && pid > 0 && typeof url === 'string' ? { pid, url } : null
  } catch {
    return null
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    // The process exists, but belongs to another user.
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
