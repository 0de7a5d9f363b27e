import type { DrillResult } from './drill.ts'

/** One row per drill, then one line per violation: its drill, seed and round, and what was promised. */
export function resultTable(results: DrillResult[]): string {
  const head = ['drill', 'rounds', 'operations', 'checks', 'violations']
  const rows = results.map(({ name, rounds, wantedRounds, operations, checks, violations, error }) => [
    name,
    rounds === wantedRounds ? String(rounds) : `${rounds} of ${wantedRounds}`,
    String(operations),
    String(checks),
    error ? `${violations.length} (the drill failed)` : String(violations.length),
  ])
  const widths = head.map((title, i) => Math.max(title.length, ...rows.map((row) => row[i]!.length)))
  const line = (cells: string[]) =>
    cells.map((cell, i) => (i === 0 ? cell.padEnd(widths[i]!) : cell.padStart(widths[i]!))).join('  ')
  const violations = results.flatMap(({ name, seed, violations: list }) =>
    list.map(
      ({ round, promised, observed }) =>
        `${name}, seed ${seed}, round ${round}: promised: ${promised}; observed: ${observed}`,
    ),
  )
  const rule = widths.map((width) => '-'.repeat(width)).join('  ')
  return [
    '',
    line(head),
    rule,
    ...rows.map(line),
    ...(violations.length > 0 ? ['', ...violations] : []),
  ].join('\n')
}
