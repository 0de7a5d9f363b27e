#!/usr/bin/env node
// Starts the program on the runtime the project pins, with the flags and the environment below. All must be
// settled before the program's first module is loaded. Plain JavaScript: an older Node must be able to read
// this much.
import { spawn } from 'node:child_process'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const main = fileURLToPath(new URL('../src/main.ts', import.meta.url))
// What a request leaves behind is small and dies at once: helper threads cost more to wake than they collect,
// and made a page of features take half as long again on two cores.
const flags = ['--no-parallel-scavenge', '--max-semi-space-size=32']
const environment = {
  // Room for queries beside file reads.
  UV_THREADPOOL_SIZE: '16',
  // Modules are compiled once: every command begins in two thirds of the time. Beside the code, so that who may
  // not change the one cannot change the other.
  NODE_COMPILE_CACHE: fileURLToPath(new URL('../.cache/modules', import.meta.url)),
}
// Features are copied from all over a gigabyte of cached blocks: in memory pages of two megabytes, where the
// system has them, a large page of features takes a tenth less. Only glibc reads this.
const given = process.env.GLIBC_TUNABLES
const tunables = given?.includes('glibc.malloc.hugetlb')
  ? given
  : [...(given ? [given] : []), 'glibc.malloc.hugetlb=1'].join(':')
const ready =
  Number(process.versions.node.split('.')[0]) >= 24 &&
  process.env.UV_THREADPOOL_SIZE &&
  flags.every((flag) => process.execArgv.includes(flag))

if (ready) {
  await import(main)
} else {
  const runtime = pinnedRuntime() ?? process.execPath
  const argv = [...flags, main, ...process.argv.slice(2)]
  const env = { ...environment, ...process.env, GLIBC_TUNABLES: tunables }
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
    return join(dirname(require.resolve('node/package.json')), 'bin', 'node')
  } catch {
    return undefined
  }
}
