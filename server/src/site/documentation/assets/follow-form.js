// The examples of an operation in the API reference follow what is filled in in its form.
import { bodyCode } from './body-code.js'

/**
 * A value as a part of an address. No character remains that ends a string in single quotes or has a meaning in it, so
 * the examples can be pasted into a shell and into programs.
 */
function encoded(value) {
  return encodeURIComponent(value.toWellFormed()).replaceAll("'", '%27').replaceAll('%2C', ',')
}

/** The address that a form describes. Empty fields are left out; in an example, required ones have its values. */
export function addressOf(form, isExample = false) {
  const query = []
  let path = form.dataset.path
  for (const control of form.elements) {
    const [place, parameter] = control.name.split(':')
    const value = control.value === '' && isExample && control.required ? control.placeholder : control.value
    if (place === 'path') path = path.replace(`{${parameter}}`, () => encoded(value))
    else if (place === 'query' && value !== '') query.push(`${encoded(parameter)}=${encoded(value)}`)
  }
  return { path, url: query.length === 0 ? path : `${path}?${query.join('&')}` }
}

function isFilledIn(form) {
  return [...form.querySelectorAll('input, select')].some((control) =>
    control.tagName === 'SELECT' ? control.selectedIndex !== 0 : control.value !== control.defaultValue,
  )
}

function isJson(text) {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

/** Shows the body in the examples; while it is not JSON, they keep the last one that was, and the form is not sent. */
function followBody(form) {
  const field = form.elements.body
  const places = [...form.closest('.operation').querySelectorAll('[data-body]')]
  const originals = places.map((place) => [...place.childNodes])
  return () => {
    const isValid = isJson(field.value)
    field.setCustomValidity(isValid ? '' : 'This is not JSON.')
    field.setAttribute('aria-invalid', String(!isValid))
    if (!isValid) return
    const codes = bodyCode(field.value)
    for (const [index, place] of places.entries()) {
      if (field.value === field.defaultValue) place.replaceChildren(...originals[index])
      else place.textContent = codes[place.closest('[data-language]').dataset.language]
    }
  }
}

/** Scrolls the example that is shown, which is low beside an open form, to what is edited. */
function reveal(place) {
  const pre = place.closest('pre')
  const below = place.getBoundingClientRect().bottom - pre.getBoundingClientRect().bottom
  if (below > 0) pre.scrollTop += below
}

/** Shows what is filled in in the examples of the operation, in all languages; without anything, they are as before. */
export function followForm(form) {
  const addresses = [...form.closest('.operation').querySelectorAll('[data-address]')]
  const original = addresses[0]?.textContent
  const showBody = form.elements.body ? followBody(form) : () => {}
  const show = () => {
    const text = isFilledIn(form) ? form.dataset.base + addressOf(form, true).url : original
    for (const address of addresses) address.textContent = text
    showBody()
  }
  form.addEventListener('input', show)
  form.elements.body?.addEventListener('input', () => {
    for (const place of form.closest('.operation').querySelectorAll('[data-body]')) reveal(place)
  })
  // Browsers fill in a form again that a reader comes back to.
  show()
}
