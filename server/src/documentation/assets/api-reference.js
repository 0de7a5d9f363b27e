// Reads the API definition and shows every operation with a form to try it. All content is inserted as text,
// so nothing in the service's responses can become markup.
const list = document.querySelector('#operations')
const credentials = document.querySelector('#credentials')
const METHODS = ['get', 'post', 'put', 'patch', 'delete']

function element(name, attributes = {}, ...children) {
  const made = Object.assign(document.createElement(name), attributes)
  made.append(...children)
  return made
}

function exampleOf(schema = {}) {
  if (schema.example !== undefined) return schema.example
  if (schema.default !== undefined) return schema.default
  if (schema.enum) return schema.enum[0]
  if (schema.type === 'object' || schema.properties) {
    const entries = Object.entries(schema.properties ?? {})
    return Object.fromEntries(entries.map(([name, inner]) => [name, exampleOf(inner)]))
  }
  if (schema.type === 'array') return [exampleOf(schema.items)]
  return { integer: 1, number: 1, boolean: true }[schema.type] ?? ''
}

function tryForm(path, method, operation) {
  const form = element('form', { autocomplete: 'off' })
  const parameters = (operation.parameters ?? []).filter(({ in: place }) => place !== 'header')
  for (const { name, in: place, description = '', required } of parameters) {
    const input = element('input', { name, required: place === 'path' || Boolean(required) })
    input.dataset.place = place
    form.append(element('label', {}, `${name}${description ? `: ${description}` : ''}`, input))
  }
  const schema = operation.requestBody?.content?.['application/json']?.schema
  const body =
    schema && element('textarea', { value: JSON.stringify(exampleOf(schema), null, 2), spellcheck: false })
  if (body) form.append(element('label', {}, 'Body', body))
  const output = element('pre', { className: 'answer', hidden: true, tabIndex: 0 })
  form.append(element('div', {}, element('button', { type: 'submit' }, 'Try it')), output)
  form.addEventListener('submit', async (event) => {
    event.preventDefault()
    output.hidden = false
    output.textContent = 'Asking…'
    output.textContent = await ask(path, method, form, body).catch((error) => String(error))
  })
  return form
}

async function ask(path, method, form, body) {
  let target = path
  const query = new URLSearchParams()
  for (const input of form.querySelectorAll('input[data-place]')) {
    if (input.dataset.place === 'path')
      target = target.replace(`{${input.name}}`, encodeURIComponent(input.value))
    else if (input.value !== '') query.set(input.name, input.value)
  }
  const headers = {}
  const { key, token } = credentials.elements
  if (key.value) headers['X-API-Key'] = key.value
  if (token.value) headers.Authorization = `Bearer ${token.value}`
  if (body) headers['Content-Type'] = 'application/json'
  const address = query.size > 0 ? `${target}?${query}` : target
  const response = await fetch(address, { method: method.toUpperCase(), headers, body: body?.value })
  const head = [...response.headers].map(([name, value]) => `${name}: ${value}`).join('\n')
  const text = await response.text()
  let shown = text
  try {
    shown = JSON.stringify(JSON.parse(text), null, 2)
  } catch {}
  return `${response.status} ${response.statusText}\n${head}\n\n${shown.slice(0, 20_000)}`
}

function operationView(path, method, operation) {
  const details = element(
    'details',
    {},
    element(
      'summary',
      {},
      element('span', { className: 'method' }, method.toUpperCase()),
      element('span', { className: 'path' }, path),
      element('span', { className: 'summary' }, operation.summary ?? ''),
    ),
  )
  // Each form is created when it is first opened: there are many, and few are opened.
  details.addEventListener('toggle', () => {
    if (!details.open || details.querySelector('.operation')) return
    const about = element('div', { className: 'operation' })
    if (operation.description) about.append(element('p', {}, operation.description))
    about.append(tryForm(path, method, operation))
    details.append(about)
  })
  return details
}

const definition = await (await fetch('/v1/openapi.json')).json()
const groups = new Map((definition.tags ?? []).map(({ name }) => [name, []]))
for (const [path, operations] of Object.entries(definition.paths)) {
  for (const method of METHODS) {
    const operation = operations[method]
    if (!operation) continue
    const group = operation.tags?.[0] ?? 'Others'
    groups.set(group, [...(groups.get(group) ?? []), operationView(path, method, operation)])
  }
}
list.replaceChildren(
  ...[...groups]
    .filter(([, views]) => views.length > 0)
    .flatMap(([name, views]) => [element('h2', {}, name), ...views]),
)
