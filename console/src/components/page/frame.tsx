import { useMutation } from '@tanstack/react-query'
import { lazy, Suspense, useCallback, useEffect, useState } from 'react'
import { Link, NavLink, Outlet, ScrollRestoration, useLocation, useNavigate } from 'react-router'
import { OrganizationSwitch } from '../../account/organization-switch.tsx'
import { asProblem } from '../../api/problem.ts'
import { useMe, useSession } from '../../api/queries.ts'
import { session } from '../../api/session.ts'
import { site } from '../../site.ts'
import { setTheme, useTheme } from '../../theme.ts'
import { Icon } from '../icon.tsx'
import { revealCurrentTab } from '../reveal-current-tab.ts'
import { ProblemNote } from './problem-note.tsx'
import { SCROLL_STORAGE, scrollKey } from './scroll-positions.ts'
import { SignInLink } from './sign-in-link.tsx'
import { SiteFooter } from './site-footer.tsx'

const Finder = lazy(async () => ({ default: (await import('../../finder/finder.tsx')).Finder }))

/** The top bar and the page below it. */
export function Frame() {
  const state = useSession()
  const { pathname } = useLocation()

  const [failure, setFailure] = useState<unknown>(null)

  const begin = useCallback(() => {
    setFailure(null)
    session.restore().catch((error: unknown) => {
      if (session.state === 'unknown') setFailure(error)
    })
  }, [])
  useEffect(begin, [begin])

  useEffect(() => {
    revealCurrentTab(document.querySelector<HTMLElement>('.bar nav'))
    // Move the focus, so that a screen reader starts at the new page as after a page load.
    if (document.activeElement !== document.body && document.activeElement?.closest('main')) return
    document.getElementById('content')?.focus({ preventScroll: true })
  }, [pathname])

  return (
    <>
      <a className="skip" href="#content">
        Skip to the content
      </a>
      <header className="bar">
        <Link className="brand" to="/">
          <img src={site.logo ?? '/docs/assets/icon.svg'} alt="" width="22" height="22" /> {site.title}
        </Link>
        <Navigation signedIn={state === 'signed-in'} />
        <div className="account">
          <FinderButton />
          <ThemeButton />
          {state === 'signed-in' && <Account />}
          {state === 'signed-out' && pathname !== '/sign-in' && (
            <SignInLink className="button small">Sign in</SignInLink>
          )}
        </div>
      </header>
      <main id="content" tabIndex={-1}>
        {state !== 'unknown' && <Outlet />}
        {failure !== null && <ProblemNote error={failure} retry={begin} />}
      </main>
      <SiteFooter />
      <ScrollRestoration storageKey={SCROLL_STORAGE} getKey={scrollKey} />
    </>
  )
}

function Navigation({ signedIn }: { signedIn: boolean }) {
  const { data: me } = useMe()
  return (
    <nav aria-label="Console">
      <NavLink to="/datasets">Datasets</NavLink>
      {signedIn && <NavLink to="/keys">Keys</NavLink>}
      {me?.organization && <NavLink to="/organization">Organization</NavLink>}
      {me?.administrator && <NavLink to="/administration">Administration</NavLink>}
      {signedIn && <NavLink to="/account">Account</NavLink>}
      <a href="/docs">Docs</a>
    </nav>
  )
}

/** Opens the finder, as Ctrl+K (or ⌘K) does. */
function FinderButton() {
  const [isOpen, setIsOpen] = useState(false)
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() !== 'k' || !(event.ctrlKey || event.metaKey) || event.altKey) return
      // A dialog that is open has to be finished first.
      if (document.querySelector('dialog:modal')) return
      event.preventDefault()
      setIsOpen(true)
    }
    addEventListener('keydown', onKeyDown)
    return () => removeEventListener('keydown', onKeyDown)
  }, [])
  return (
    <>
      <button
        type="button"
        className="button quiet"
        aria-label="Go to a dataset, a page or a key"
        aria-keyshortcuts="Control+K Meta+K"
        title="Go to… (Ctrl+K)"
        onClick={() => setIsOpen(true)}
      >
        <Icon name="search" />
      </button>
      {isOpen && (
        <Suspense>
          <Finder onClose={() => setIsOpen(false)} />
        </Suspense>
      )}
    </>
  )
}

function ThemeButton() {
  const theme = useTheme()
  const other = theme === 'dark' ? 'light' : 'dark'
  return (
    <button
      type="button"
      className="button quiet"
      onClick={() => setTheme(other)}
      aria-label={`Use the ${other} theme`}
    >
      <Icon name={theme === 'dark' ? 'sun' : 'moon'} />
    </button>
  )
}

function Account() {
  const { data: me } = useMe()
  const navigate = useNavigate()
  const signOut = useMutation({ mutationFn: () => session.signOut(), onSuccess: () => navigate('/sign-in') })
  return (
    <>
      <OrganizationSwitch />
      <span className="account-name small soft" title={me?.user.email}>
        {signOut.isError ? asProblem(signOut.error).message : me?.user.email}
      </span>
      <button
        type="button"
        className="button small"
        onClick={() => signOut.mutate()}
        disabled={signOut.isPending}
      >
        Sign out
      </button>
    </>
  )
}
