#!/usr/bin/env node
// Starts the program on the Node version that the project pins, with the flags and environment variables
// below. All of them must be set before the program's first module is loaded. This file is plain JavaScript
// so that an older Node can parse it.
import { spawn } from 'node:child_process'
import { createRequire } from 'node:module'
import os from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const main = fileURLToPath(new URL('../src/main.ts', import.meta.url))
// A request leaves little garbage, and it is short-lived: waking the parallel scavenger threads costs more
// than they collect, and made a page of features take half as long again on two cores. With a larger young
// generation from the beginning, a start collects less garbage, and takes a tenth less processor time.
const flags = ['--no-parallel-scavenge', '--min-semi-space-size=8', '--max-semi-space-size=32']
const environment = {
  // Enough threads for queries beside file reads.
  UV_THREADPOOL_SIZE: '16',
  // Caches compiled modules: every command starts in two thirds of the time. The cache lies beside the code,
  // so that a user who may not change the code cannot change the cache either.
  NODE_COMPILE_CACHE: fileURLToPath(new URL('../.cache/modules', import.meta.url)),
}
// For glibc. Features are copied from all over a gigabyte of cached blocks. With huge pages (2 MB), if the system has
// them, a large page of features takes a tenth less time. By default, up to eight arenas a core keep freed memory: with
// one a core, two serving threads need 70 MB less.
const tunables = [process.env.GLIBC_TUNABLES ?? '']
for (const [name, value] of [
  ['glibc.malloc.hugetlb', 1],
  ['glibc.malloc.arena_max', Math.max(2, os.availableParallelism?.() ?? 2)],
])
  if (!tunables[0].includes(name)) tunables.push(`${name}=${value}`)
const isCurrent = Number(process.versions.node.split('.')[0]) >= 24
const ready =
  isCurrent && process.env.UV_THREADPOOL_SIZE && flags.every((flag) => process.execArgv.includes(flag))

if (ready) {
  await import(main)
} else {
  const runtime = pinnedRuntime() ?? process.execPath
  if (runtime === process.execPath && !isCurrent) {
    console.error('wayleave: Node 24 or newer is needed on this platform. Install it and run this again.')
    process.exit(1)
  }
  const argv = [...flags, main, ...process.argv.slice(2)]
  const env = { ...environment, ...process.env, GLIBC_TUNABLES: tunables.filter(Boolean).join(':') }
  if (process.execve) process.execve(runtime, [runtime, ...argv], env)
  const child = spawn(runtime, argv, { stdio: 'inherit', env })
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal))
  child.on('exit', (code, signal) => {
    if (signal) process.kill(process.pid, signal)
    else process.exit(code ?? 1)
  })
}

function pinnedRuntime() {
  try {
    const require = createRequire(import.meta.url)
    const name = `node-${process.platform}-${process.arch}`
    return join(dirname(require.resolve(`${name}/package.json`)), 'bin', 'node')
  } catch {
    return undefined
  }
}
