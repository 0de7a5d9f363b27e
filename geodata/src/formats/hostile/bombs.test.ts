import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { needs } from '../../../../scripts/test-run/needs.ts'
import { compileNodeFlags } from '../../compile/compile-in-child-process.ts'
import { type CompileMessage, type CompileTask, readMessages } from '../../compile/compile-messages.ts'
import type { CompileOptions } from '../../compile/compile-options.ts'
import { writtenBytes } from '../../compile/watch-resources.ts'
import { scratch } from '../reading.test-kit.ts'
import { BOMBS } from './bombs.test-kit.ts'

needs('gdal', 'python')

const ENTRY = fileURLToPath(new URL('../../compile/compile-process.ts', import.meta.url))
const MEMORY_MEGABYTES = 800
/** A process that publishes a file of a few rows takes about 250 MB, mostly for the database. */
const MAX_RESIDENT_MEGABYTES = 900
const MAX_WRITTEN_BYTES = 384 << 20
/** Scaled down, so that the files can be made quickly. */
const LIMITS = { ratioFreeBytes: 1 << 20, compressionRatio: 20, rowBytes: 8 << 20, rows: 50_000_000 }

interface Run {
  message: CompileMessage | null
  residentMegabytes: number
  writtenBytes: number
}

/** Compiles in a process of its own, and measures the most that it takes. */
async function compile(options: CompileOptions): Promise<Run> {
  const child = spawn(process.execPath, [...compileNodeFlags(options.memoryMegabytes), ENTRY], {
    stdio: ['pipe', 'ignore', 'inherit', 'pipe'],
  })
  const run: Run = { message: null, residentMegabytes: 0, writtenBytes: 0 }
  const receive = (message: CompileMessage) => {
    if (!('alive' in message) && !('progress' in message)) run.message = message
  }
  readMessages(child.stdio[3] as Readable, receive, () => child.kill())
  const ended = new Promise((resolve) => child.once('close', resolve))
  child.stdin!.write(`${JSON.stringify({ task: 'compile', options } satisfies CompileTask)}\n`)
  let isRunning = true
  ended.then(() => {
    isRunning = false
  })
  while (isRunning) {
    run.residentMegabytes = Math.max(run.residentMegabytes, peakMegabytes(child.pid!))
    run.writtenBytes = Math.max(run.writtenBytes, await writtenBytes(options.folder))
    await Promise.race([ended, new Promise((resolve) => setTimeout(resolve, 20))])
  }
  return run
}

/** The peak so far, of which nothing is missed between two looks. */
function peakMegabytes(pid: number): number {
  try {
    return Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1] ?? 0) / 1024
  } catch {
    return 0
  }
}

function refusalOf(message: CompileMessage | null): string {
  if (message && 'refused' in message) return message.refused
  if (message && 'invalid' in message) return message.invalid.problems.map((each) => each.message).join(' ')
  return JSON.stringify(message)
}

for (const { name, format, make, options, expected } of BOMBS) {
  test(`${format}: ${name} is refused within the limits of memory and disk`, async (t) => {
    const folder = scratch(t)
    const path = await make(folder)
    const run = await compile({
      path,
      folder: join(folder, 'snapshot'),
      memoryMegabytes: MEMORY_MEGABYTES,
      limits: LIMITS,
      gdal: { program: 'ogr2ogr', seconds: 60, megabytes: 2048 },
      ...options,
    })
    t.diagnostic(
      `${statSync(path).size} bytes: ${Math.round(run.residentMegabytes)} MB resident, ${run.writtenBytes >> 20} MB written: ${refusalOf(run.message)}`,
    )
    assert.match(refusalOf(run.message), expected)
    assert.ok(run.residentMegabytes < MAX_RESIDENT_MEGABYTES, `${run.residentMegabytes} MB resident`)
    assert.ok(run.writtenBytes < MAX_WRITTEN_BYTES, `${run.writtenBytes} bytes written`)
  })
}
