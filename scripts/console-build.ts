import { spawnSync } from 'node:child_process'
import { existsSync, globSync, statSync } from 'node:fs'
import { join } from 'node:path'

const sources = [
  'console/{index.html,embed.html,vite.config.ts,package.json}',
  'console/{src,public,scripts,data}/**/*',
  'client-js/src/**/*',
  'contract/src/**/*',
  'server/src/site/styles/*.css',
]

/** Builds the web console if it was never built or its sources are newer. The service runs without it too. */
export function ensureConsole(root: string): void {
  const built = join(root, 'console', 'dist', 'index.html')
  if (!existsSync(join(root, 'console', 'index.html'))) return
  if (existsSync(built) && statSync(built).mtimeMs >= newestChange(root)) return
  console.log('Building the console, because its sources are new')
  const started = performance.now()
  const vite = join(root, 'node_modules', 'vite', 'bin', 'vite.js')
  const build = spawnSync(process.execPath, [vite, 'build', '--logLevel', 'warn'], {
    cwd: join(root, 'console'),
    stdio: ['ignore', 'inherit', 'inherit'],
  })
  const seconds = ((performance.now() - started) / 1000).toFixed(1)
  if (build.status === 0) console.log(`  built in ${seconds} s`)
  else console.error('The console could not be built. The service starts without it.')
}

function newestChange(root: string): number {
  const files = globSync(sources, { cwd: root })
  return Math.max(0, ...files.map((file) => statSync(join(root, file)).mtimeMs))
}
