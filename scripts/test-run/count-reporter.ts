import type { TestEvent } from 'node:test/reporters'

/** A reporter for tests that run in one process. It writes only their counts, as one line of JSON. */
export default async function* countReporter(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  for await (const event of events) {
    if (event.type !== 'test:summary') continue
    const { tests, passed, skipped, todo } = event.data.counts
    const failed = tests - passed - skipped - todo
    yield `${JSON.stringify({ passed, failed, skipped: skipped + todo })}\n`
  }
}
