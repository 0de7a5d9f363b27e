// Search and copy buttons of the documentation. Without JavaScript the pages are complete but for these.

/** Room below the current page in the list of pages, the end of which fades out (prose.css). */
const MARGIN_PX = 64

/** The buttons of a part of the page that was just made. */
export function offerCopies(part) {
  for (const button of part.querySelectorAll('[data-copy]')) {
    button.hidden = false
    button.addEventListener('click', async () => {
      await navigator.clipboard.writeText(button.parentElement.querySelector('code').textContent)
      button.textContent = 'Copied'
      setTimeout(() => {
        button.textContent = 'Copy'
      }, 2000)
    })
  }
}
offerCopies(document)

// On a phone the list of pages is folded. The styles show it on wide screens; browsers that cannot do that need this.
const pages = document.querySelector('.doc-pages')
if (pages) pages.open = matchMedia('(min-width: 60.01rem)').matches

// The list of pages scrolls by itself; the current one is in sight in it.
const menu = document.querySelector('.doc-menu')
const current = menu?.querySelector('[aria-current]')
if (current && menu.scrollHeight > menu.clientHeight) {
  const below = current.getBoundingClientRect().bottom - menu.getBoundingClientRect().bottom
  if (below > -MARGIN_PX) menu.scrollTop += below + MARGIN_PX
}

const MAX_RESULTS = 8
const form = document.querySelector('[data-search]')
const input = form?.querySelector('input')
const results = form?.querySelector('ol')
const status = form?.querySelector('[role=status]')
let index

/** The library is loaded with the first search. */
async function loadIndex() {
  const { default: MiniSearch } = await import(new URL('minisearch.js', import.meta.url).href)
  const search = new MiniSearch({
    fields: ['title', 'page', 'text'],
    storeFields: ['title', 'page', 'href'],
    searchOptions: { boost: { title: 3, page: 2 }, prefix: true, fuzzy: 0.15, combineWith: 'AND' },
  })
  const response = await fetch('/docs/search.json')
  search.addAll(await response.json())
  return search
}

function show(matches, text) {
  results.replaceChildren(
    ...matches.slice(0, MAX_RESULTS).map(({ title, page, href }) => {
      const link = Object.assign(document.createElement('a'), { href, textContent: title })
      if (page !== title) link.append(Object.assign(document.createElement('small'), { textContent: page }))
      const item = document.createElement('li')
      item.append(link)
      return item
    }),
  )
  status.textContent =
    text === '' ? '' : matches.length === 0 ? 'Nothing matches' : `${matches.length} matches`
}

if (form) {
  form.hidden = false
  input.addEventListener('input', async () => {
    index ??= loadIndex()
    const search = await index
    const text = input.value.trim()
    show(text === '' ? [] : search.search(text), text)
  })
  form.addEventListener('submit', (event) => {
    event.preventDefault()
    results.querySelector('a')?.click()
  })
}
