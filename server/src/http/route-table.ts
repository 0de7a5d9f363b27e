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
  #methods: MethodsByUrl | undefined

  watch(app: FastifyInstance): void {
    app.addHook('onRoute', (route) => {
      if (route.config?.isRefusal) return
      for (const method of [route.method].flat()) this.rows.push({ method, url: route.url })
      this.#methods = undefined
    })
  }

  /** The methods that exist at any path. */
  methods(): string[] {
    return withOptions(this.rows.map(({ method }) => method))
  }

  /** The methods that exist at a path, for `Allow`; empty if the path does not exist. */
  methodsAt(path: string): string[] {
    return withOptions(this.#byUrl().fixed.get(path) ?? this.#matching(path))
  }

  /** Fixed paths, and the methods that only a route with a parameter has there. */
  shadowed(): { url: string; methods: string[] }[] {
    return [...this.#byUrl().fixed].flatMap(([url, own]) => {
      const methods = new Set(this.#matching(url)).difference(new Set([...own, 'OPTIONS']))
      return methods.size > 0 ? [{ url, methods: [...methods] }] : []
    })
  }

  /** The methods of all routes with parameters that match the path. */
  #matching(path: string): string[] {
    const parts = path.split('/')
    return this.#byUrl()
      .patterns.filter((pattern) => matches(pattern.parts, parts))
      .flatMap(({ methods }) => methods)
  }

  #byUrl(): MethodsByUrl {
    this.#methods ??= methodsByUrl(this.rows)
    return this.#methods
  }
}

interface MethodsByUrl {
  /** By URLs without parameters. */
  fixed: Map<string, string[]>
  patterns: { parts: string[]; methods: string[] }[]
}

function methodsByUrl(rows: readonly RouteRow[]): MethodsByUrl {
  const fixed = new Map<string, string[]>()
  const withParameters = new Map<string, string[]>()
  for (const { url, method } of rows) {
    if (url === '*' || url === '/*') continue
    const urls = /[:*]/.test(url) ? withParameters : fixed
    const methods = urls.get(url)
    if (methods) methods.push(method)
    else urls.set(url, [method])
  }
  const patterns = [...withParameters].map(([url, methods]) => ({ parts: url.split('/'), methods }))
  return { fixed, patterns }
}

function matches(pattern: readonly string[], parts: readonly string[]): boolean {
  const isOpen = pattern.at(-1) === '*'
  if (isOpen ? parts.length < pattern.length : parts.length !== pattern.length) return false
  return pattern.every(
    (part, i) => part === '*' || (part.startsWith(':') ? parts[i] !== '' : part === parts[i]),
  )
}

function withOptions(methods: readonly string[]): string[] {
  return methods.length === 0 ? [] : [...new Set([...methods, 'OPTIONS'])].sort()
}
