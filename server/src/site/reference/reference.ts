import type { About } from '../../http/about.ts'
import { type Html, html } from '../../http/pages/html.ts'
import { plainPage } from '../../http/pages/page-layout.ts'
import { EXAMPLE_ADDRESS } from '../documentation/page-names.ts'
import { type Definition, type Operation, operationsOf } from './definition.ts'
import { GROUPS, type Group, groupOf } from './groups.ts'
import { operationLink, operationView } from './operation-view.ts'

/** The two definitions that the service validates requests with; the second one's paths are below its root. */
export interface Definitions {
  own: Definition
  ogc: Definition
  ogcRoot: string
}

/** The API reference: a page for each group of operations, with the example address. */
export class Reference {
  readonly #about: About
  readonly operations: readonly Operation[]
  readonly #groups: readonly Group[]

  constructor(about: About, { own, ogc, ogcRoot }: Definitions) {
    this.#about = about
    this.operations = [...operationsOf(own, '', groupOf), ...operationsOf(ogc, ogcRoot, groupOf)]
    this.#groups = GROUPS.filter(({ name }) => this.operations.some(({ group }) => group === name))
  }

  /** The page of a group, or the overview for an empty name; undefined if there is no such group. */
  page(name: string): string | undefined {
    const group = this.#groups.find((one) => one.name === name)
    return group || name === '' ? this.#render(group) : undefined
  }

  #of(group: Group): Operation[] {
    return this.operations.filter((operation) => operation.group === group.name)
  }

  #render(group: Group | undefined): string {
    const title = group ? `${group.title} – API reference` : 'API reference'
    const content = group ? this.#groupContent(group) : this.#overview()
    return plainPage({
      about: this.#about,
      title,
      content,
      menu: this.#menu(group),
      scripts: ['/docs/assets/docs.js', '/docs/assets/api-reference.js'],
      head: html`<link rel="stylesheet" href="/docs/assets/api-reference.css">`,
    })
  }

  #groupContent(group: Group): Html {
    const views = this.#of(group).map(operationView)
    return html`<div class="reference"><h1>${group.title}</h1><p class="lead">${group.about}</p>${views}</div>`
  }

  #menu(current: Group | undefined): Html {
    const groups = this.#groups.map(
      (group) =>
        html`<details${group === current ? html` open` : ''}><summary>${group.title}</summary><ul>${this.#of(group).map(operationLink)}</ul></details>`,
    )
    return html`<nav class="doc-menu reference-menu" aria-label="API reference">
<form class="doc-search" role="search" data-operations hidden><label class="visually-hidden" for="operations">Search the operations</label><input id="operations" type="search" placeholder="Search ${this.operations.length} operations" autocomplete="off"><span role="status"></span></form>
<details class="doc-pages"><summary>All operations</summary><ul><li><a href="/docs">Documentation</a></li><li><a href="/docs/api"${current ? '' : html` aria-current="page"`}>API reference</a></li></ul>
<div class="operation-groups">${groups}</div></details></nav>`
  }

  #overview(): Html {
    const cards = this.#groups.map(
      (group) =>
        html`<li><a href="/docs/api/${group.name}">${group.title}</a><div class="small soft">${group.about}</div><div class="small soft">${this.#of(group).length} operations</div></li>`,
    )
    return html`<div class="reference overview"><h1>API reference</h1>
<p class="lead">Every operation with its parameters, its responses and code that you can paste. It is made from the definitions that the service validates requests with: <a href="/v1/openapi.json">openapi.json</a> and the <a href="/v1/ogc/api?f=html">OGC API</a>.</p>
<h2 id="requests">Requests</h2>
<p>The base address is <code>${EXAMPLE_ADDRESS}</code>. Bodies are JSON, times are ISO 8601 in UTC, and properties that you do not know should be ignored: new ones may be added at any time.</p>
<h2 id="authentication">Authentication</h2>
<p>Programs send an API key in the header <code>X-API-Key</code>. <a href="/keys">Create a key</a>, keep it in an environment variable, and every example here runs as pasted:</p>
<div class="code"><pre tabindex="0"><code>export WAYLEAVE_API_KEY='the secret of your key'
curl -H "X-API-Key: $WAYLEAVE_API_KEY" '${EXAMPLE_ADDRESS}/v1/datasets?limit=3'</code></pre><button type="button" class="button small" data-copy hidden>Copy</button></div>
<p>Operations that manage keys, organizations and members take the access token of a signed-in user instead (<code>Authorization: Bearer</code>); see <a href="/docs/api/sign-in">Sign-in</a>. The forms below <em>Try it</em> use your session, and ask before a request that costs credits.</p>
<h2 id="all-operations">Operations</h2>
<ul class="choices">${cards}</ul>
<h2 id="errors">Errors</h2>
<p>Every error is a problem document (RFC 9457) with a <code>code</code> for programs, a sentence for people and the id of the request. <a href="/docs/problems">All problems</a> says what each means and what to do.</p>
<h2 id="limits">Limits</h2>
<p>Responses have the headers <code>RateLimit</code> and <code>RateLimit-Policy</code>. A request above the limit gets 429 with <code>Retry-After</code>. Lists have a <code>cursor</code> or a link <code>next</code> for the following page.</p></div>`
  }
}
