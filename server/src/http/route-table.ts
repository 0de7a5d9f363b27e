import type { FastifyInstance } from 'fastify'

export interface RouteRow {
  method: string
  /** As registered, with `:name` parameters. */
  url: string
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The route only responds 405: see `refuseShadowedMethods`. */
    isRefusal?: boolean
  }
}

/** Holds every registered route, to distinguish a wrong method (405) from an unknown path (404). */
export class RouteTable {
  readonly rows: RouteRow[] = []
  #patterns: { test: RegExp; row: RouteRow }[] | undefined

  watch(app: FastifyInstance): void {
    app.addHook('onRoute', (route) => {
      if (route.config?.isRefusal) return
      for (const method of [route.method].flat()) this.rows.push({ method, url: route.url })
      this.#patterns = undefined
    })
  }

  /** The methods that exist at any path. */
  methods(): string[] {
    return withOptions(this.rows)
  }

  /** The methods that exist at a path, for `Allow`; empty if the path does not exist. */
  methodsAt(path: string): string[] {
    const fixed = this.rows.filter((row) => row.url === path)
    return withOptions(fixed.length > 0 ? fixed : this.#matching(path))
  }

  /** Fixed paths, and the methods that only a route with a parameter has there. */
  shadowed(): { url: string; methods: string[] }[] {
    const fixedUrls = new Set(this.rows.map(({ url }) => url).filter((url) => !/[:*]/.test(url)))
    return [...fixedUrls].flatMap((url) => {
      const own = this.methodsAt(url)
      const others = this.#matching(url).map(({ method }) => method)
      const methods = [...new Set(others)].filter((method) => !own.includes(method))
      return methods.length > 0 ? [{ url, methods }] : []
    })
  }

  #matching(path: string): RouteRow[] {
    this.#patterns ??= this.rows
      .filter((row) => row.url !== '*' && row.url !== '/*')
      .map((row) => ({ test: patternOf(row.url), row }))
    return this.#patterns.filter(({ test }) => test.test(path)).map(({ row }) => row)
  }
}

function withOptions(rows: RouteRow[]): string[] {
  return rows.length === 0 ? [] : [...new Set([...rows.map(({ method }) => method), 'OPTIONS'])].sort()
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
