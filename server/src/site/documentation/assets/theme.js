// The theme of pages outside the console; console/public/theme.js is the same for the console. It runs before
// the first paint, so that a chosen theme does not flash the other one.
const root = document.documentElement
const stored = () => {
  try {
    return localStorage.getItem('theme')
  } catch {
    // If storage is blocked, the theme of the system is used.
    return null
  }
}
if (stored() === 'light' || stored() === 'dark') root.dataset.theme = stored()

document.addEventListener('DOMContentLoaded', () => {
  const button = document.querySelector('[data-theme-button]')
  if (!button) return
  const shown = () =>
    root.dataset.theme ?? (matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light')
  const label = () => {
    const other = shown() === 'dark' ? 'light' : 'dark'
    button.querySelector('[data-icon=moon]').toggleAttribute('hidden', other !== 'dark')
    button.querySelector('[data-icon=sun]').toggleAttribute('hidden', other !== 'light')
    button.setAttribute('aria-label', `Use the ${other} theme`)
  }
  button.hidden = false
  label()
  button.addEventListener('click', () => {
    root.dataset.theme = shown() === 'dark' ? 'light' : 'dark'
    try {
      localStorage.setItem('theme', root.dataset.theme)
    } catch {
      // If storage is blocked, the choice lasts until the page is closed.
    }
    label()
  })
})
