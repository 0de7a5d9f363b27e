import type { TestEvent } from 'node:test/reporters'

/** A reporter for `node --test` that writes nothing but the whole run's counts, as one line of JSON. */
export default async function* countReporter(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  for await (const event of events) {
    // Every file has a summary of its own; the one without a file is the whole run's.
    if (event.type !== 'test:summary' || event.data.file !== undefined) continue
    const { tests, passed, skipped, todo } = event.data.counts
    const failed = tests - passed - skipped - todo
    yield `${JSON.stringify({ passed, failed, skipped: skipped + todo })}\n`
  }
}
