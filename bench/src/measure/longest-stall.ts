/** The interval of the probe that measures stalls, in ms. It is part of each delay that it reports. */
const PROBE_MS = 10

/** The longest delay of the server's event loop while something runs, in ms, as the server itself reports it. */
export async function longestStall(
  { origin }: { origin: string },
  run: () => Promise<void>,
): Promise<number> {
  const read = async () => {
    const text = await (await fetch(`${origin}/metrics`)).text()
    const seconds = /^wayleave_nodejs_eventloop_lag_max_seconds (\S+)/m.exec(text)?.[1]
    if (seconds === undefined) throw new Error('The metrics have no delay of the event loop')
    return Number(seconds) * 1000
  }
  // Reading starts the next period.
  await read()
  await run()
  return Math.max(0, (await read()) - PROBE_MS)
}
