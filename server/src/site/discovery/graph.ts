/** A node of an RDF graph with its properties. A node without `id` is blank. */
export interface GraphNode {
  id?: string
  type: string
  properties: { [name: string]: GraphValue | GraphValue[] | null }
}

/**
 * A text, an IRI, a typed literal or a nested node. Names and types are written with a prefix: `dct:title`. `class` is
 * the type of what an IRI names.
 */
export type GraphValue =
  | string
  | { iri: string; class?: string }
  | { value: string; type: string }
  | GraphNode

export type Prefixes = { [prefix: string]: string }

/**
 * A node with nothing but its type for each IRI whose class is stated and that is not a node of the graph: validators check
 * the classes of values, and do not load them.
 */
export function referencedNodes(nodes: readonly GraphNode[]): GraphNode[] {
  const classes = new Map<string, string>()
  for (const { properties } of nodes) {
    for (const value of Object.values(properties).flatMap(valuesOf)) {
      if (typeof value === 'object' && 'iri' in value && value.class !== undefined)
        classes.set(value.iri, value.class)
    }
  }
  for (const { id } of nodes) if (id !== undefined) classes.delete(id)
  return [...classes].map(([id, type]) => ({ id, type, properties: {} }))
}

/** The graph as JSON-LD. */
export function jsonLd(prefixes: Prefixes, nodes: GraphNode[]): object {
  return { '@context': prefixes, '@graph': nodes.map(jsonLdNode) }
}

function jsonLdNode({ id, type, properties }: GraphNode): object {
  const values = Object.entries(properties).map(([name, value]) => [name, valuesOf(value).map(jsonLdValue)])
  return {
    ...(id === undefined ? {} : { '@id': safeIri(id) }),
    '@type': type,
    ...Object.fromEntries(values.filter(([, list]) => list!.length > 0)),
  }
}

function jsonLdValue(value: GraphValue): object {
  if (typeof value === 'string') return { '@value': value.toWellFormed() }
  if ('iri' in value) return { '@id': safeIri(value.iri) }
  if ('value' in value) return { '@value': value.value.toWellFormed(), '@type': value.type }
  return jsonLdNode(value)
}

/** The graph as Turtle. */
export function turtle(prefixes: Prefixes, nodes: GraphNode[]): string {
  const declarations = Object.entries(prefixes).map(([prefix, iri]) => `@prefix ${prefix}: <${iri}> .\n`)
  const blocks = nodes.map((node) => `${subject(node)} ${predicates(node, '  ')} .\n`)
  return [...declarations, ...blocks].join('\n')
}

function subject({ id }: GraphNode): string {
  return id === undefined ? '[]' : turtleIri(id)
}

function predicates({ type, properties }: GraphNode, indent: string): string {
  const lines = [`a ${type}`]
  for (const [name, value] of Object.entries(properties)) {
    const texts = valuesOf(value).map((one) => turtleValue(one, indent))
    if (texts.length > 0) lines.push(`${name} ${texts.join(', ')}`)
  }
  return lines.join(` ;\n${indent}`)
}

function turtleValue(value: GraphValue, indent: string): string {
  if (typeof value === 'string') return turtleText(value)
  if ('iri' in value) return turtleIri(value.iri)
  if ('value' in value) return `${turtleText(value.value)}^^${value.type}`
  if (value.id !== undefined) throw new Error('A nested node is blank.')
  return `[\n${indent}  ${predicates(value, `${indent}  `)}\n${indent}]`
}

/** Turtle has the escapes of JSON, except for unpaired surrogates, which no text may contain. */
function turtleText(text: string): string {
  return JSON.stringify(text.toWellFormed())
}

function turtleIri(iri: string): string {
  return `<${safeIri(iri)}>`
}

/** Percent-encodes what may not be in an IRI, so that no value can end it early. */
function safeIri(iri: string): string {
  return iri.toWellFormed().replace(/[\p{Cc} <>"{}|^`\\]/gu, (character) => encodeURIComponent(character))
}

function valuesOf(value: GraphValue | GraphValue[] | null): GraphValue[] {
  return value === null ? [] : Array.isArray(value) ? value : [value]
}
