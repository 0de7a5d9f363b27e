import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** Programs that tests may start only if they declare it (see `needs.ts`), because not every machine has them. */
const programs = {
  postgres: ['psql', 'pg_dump', 'pg_restore', 'initdb', 'pg_ctl'],
  redis: ['redis-server', 'redis-cli'],
  chromium: ['chromium', 'chromium-headless-shell', 'google-chrome'],
  python: ['python', 'python3', 'pip'],
  gdal: ['gdalsrsinfo', 'gdaltransform', 'ogr2ogr', 'ogrinfo'],
  tools: ['bwrap', 'curl', 'nginx', 'promtool', 'prometheus', 'Rscript', 'strace', 'systemd-analyze'],
}

/**
 * Writes programs that only fail, and returns their folder, to be the first of the fast run's PATH. So a test that
 * starts one of them without saying so fails on every machine, also on those that have it.
 */
export function writeAbsentPrograms(folder: string): string {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  for (const [need, names] of Object.entries(programs)) {
    for (const name of names) {
      const message = `npm run test:fast has no ${name}: the test must declare that it needs '${need}'.`
      writeFileSync(join(folder, name), `#!/bin/sh\necho "${message}" >&2\nexit 127\n`, { mode: 0o755 })
    }
  }
  return folder
}
