import type { TestEvent } from 'node:test/reporters'

/** A reporter for `node --test` that writes only the counts of the whole run, as one line of JSON. */
export default async function* countReporter(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  for await (const event of events) {
    // Every file has its own summary; the summary without a file is that of the whole run.
    if (event.type !== 'test:summary' || event.data.file !== undefined) continue
    const { tests, passed, skipped, todo } = event.data.counts
    const failed = tests - passed - skipped - todo
    yield `${JSON.stringify({ passed, failed, skipped: skipped + todo })}\n`
  }
}
