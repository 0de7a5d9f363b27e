/**
 * What tests need besides the npm packages. `npm test` provides all of it; `npm run test:fast` provides nothing of
 * it, leaves out the files that declare a need, and runs all others.
 */
const providers = {
  postgres: 'PostgreSQL',
  redis: 'Redis',
  s3: 'an S3 server',
  chromium: 'Chromium',
  python: 'Python with its packages',
  gdal: 'GDAL',
  tools: 'other programs: curl, nginx, Prometheus, R, strace, systemd',
  processes: 'the built program, or other processes of Wayleave that take seconds to start',
  time: 'seconds of processor time',
}

export type Need = keyof typeof providers

const isFast = process.env['WAYLEAVE_TEST_FAST'] === 'true'

/**
 * Says what the tests of a file need. It stands in a line of its own at the top level of the file, where the fast
 * run reads it without loading the file.
 */
export function needs(...names: Need[]): void {
  const missing = lacks(...names)
  if (missing) throw new Error(`${missing}: npm run test:fast should have left this file out.`)
}

/** The option `skip` of a single test with needs, in a file without. */
export function lacks(...names: Need[]): string | false {
  return isFast && `needs ${names.map((name) => providers[name]).join(' and ')}`
}

/** How many random cases a test tries: the fast run tries a fifth of them. */
export function cases(count: number): number {
  return isFast ? Math.ceil(count / 5) : count
}

/** The needs that the text of a test file declares. */
export function declaredNeeds(text: string): string[] {
  return [...text.matchAll(/^needs\(([^)]*)\)$/gm)].flatMap(([, names]) =>
    names!.split(',').map((name) => name.trim().replaceAll("'", '')),
  )
}

/** Whether all tests of a file run without the environment: neither the file nor one of its tests declares a need. */
export function needsNothing(text: string): boolean {
  return !/\b(needs|lacks)\(|WAYLEAVE_TEST_/.test(text)
}
