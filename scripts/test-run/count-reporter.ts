import type { TestEvent } from 'node:test/reporters'
import { usedProcessorSeconds } from './processor-time.ts'
import type { TestTime } from './step.ts'

/** The summary of a run has no room for more of a message. */
const MAX_MESSAGE = 300

/**
 * A reporter for tests that run in one process. It writes their counts, what failed, and the processor time of each
 * test, as one line of JSON.
 */
export default async function* countReporter(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  const failures: string[] = []
  const times: TestTime[] = []
  let before = 0
  for await (const event of events) {
    if ((event.type === 'test:pass' || event.type === 'test:fail') && event.data.nesting === 0) {
      const used = usedProcessorSeconds()
      times.push({ file: event.data.file ?? '', name: event.data.name, seconds: used - before })
      before = used
    }
    if (event.type === 'test:fail') {
      const { name, details } = event.data
      const { cause } = details.error as Error & { cause?: unknown }
      const message = String(cause instanceof Error ? cause.message : (cause ?? details.error.message))
      failures.push(`${name}: ${message.replaceAll(/\s+/g, ' ').slice(0, MAX_MESSAGE)}`)
    }
    if (event.type !== 'test:summary') continue
    const { tests, passed, skipped, todo } = event.data.counts
    const failed = tests - passed - skipped - todo
    yield `${JSON.stringify({ passed, failed, skipped: skipped + todo, failures, times })}\n`
  }
}
