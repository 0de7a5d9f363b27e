import type { FastifyInstance } from 'fastify'

export interface RouteRow {
  method: string
  /** As registered, with `:name` parameters. */
  url: string
}

/** Holds every registered route, to distinguish a wrong method (405) from an unknown path (404). */
export class RouteTable {
  readonly rows: RouteRow[] = []
  #patterns: { test: RegExp; method: string }[] | undefined

  watch(app: FastifyInstance): void {
    app.addHook('onRoute', (route) => {
      for (const method of [route.method].flat()) this.rows.push({ method, url: route.url })
      this.#patterns = undefined
    })
  }

  /** The methods that exist at a path, for `Allow`; empty if the path does not exist. */
  methodsAt(path: string): string[] {
    this.#patterns ??= this.rows
      .filter((row) => row.url !== '*' && row.url !== '/*')
      .map((row) => ({ test: patternOf(row.url), method: row.method }))
    const methods = new Set(this.#patterns.filter((row) => row.test.test(path)).map((row) => row.method))
    if (methods.size > 0) methods.add('OPTIONS')
    return [...methods].sort()
  }
}

function patternOf(url: string): RegExp {
  const source = url
    .split('/')
    .map((part) =>
      part.startsWith(':') ? '[^/]+' : part === '*' ? '.*' : part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'),
    )
    .join('/')
  return new RegExp(`^${source}$`)
}
