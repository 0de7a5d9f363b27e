// The account in the header of pages outside the console: the mail address and the places of a signed-in user, or a link
// to sign in. It is read here, and not written into the pages, so that these are the same for everyone and cacheable.
import { accessToken, isMarked, onChange, signOut } from './session.js'

const part = (name) => document.querySelector(`[data-account="${name}"]`)
/** In the header, and on pages that say that signing in may help. */
const signInLinks = [...document.querySelectorAll('[data-account="sign-in"]')]

function showSignIn(isShown) {
  for (const link of signInLinks) link.hidden = !isShown
}

async function readMe() {
  if (!isMarked()) return null
  const token = await accessToken()
  if (token === '') return null
  const response = await fetch('/v1/auth/me', { headers: { authorization: `Bearer ${token}` } })
  return response.ok ? response.json() : null
}

function show(me) {
  const name = part('name')
  name.textContent = me?.user.email ?? ''
  name.title = name.textContent
  showSignIn(me === null)
  for (const one of ['name', 'sign-out', 'keys', 'account']) part(one).hidden = me === null
  part('organization').hidden = !me?.organization
  part('administration').hidden = !me?.administrator
}

async function update() {
  // The link to sign in does not flash while the account of a signed-in user is loaded.
  if (isMarked()) showSignIn(false)
  // If the service cannot tell who is signed in, the header shows neither an account nor a link.
  const me = await readMe().catch(() => undefined)
  if (me !== undefined) show(me)
}

if (signInLinks.length > 0) {
  const { pathname, search, hash } = location
  for (const link of signInLinks) link.href += `?next=${encodeURIComponent(pathname + search + hash)}`
  part('sign-out').addEventListener('click', async () => {
    await signOut()
    await update()
  })
  onChange(update)
  await update()
}
