import { setTimeout as delay } from 'node:timers/promises'
import type { WayleaveServer } from './wayleave-server.ts'

/** Resolves when the tiles of a dataset are built. */
export async function waitForTiles({ origin }: WayleaveServer, table: string): Promise<void> {
  for (;;) {
    const { tiles } = (await (await fetch(`${origin}/v1/dataset/${table}`)).json()) as {
      tiles: { state: string; reason: string | null }
    }
    if (tiles.state === 'ready') return
    if (tiles.state === 'failed') throw new Error(tiles.reason ?? 'the tiles failed')
    await delay(200)
  }
}
