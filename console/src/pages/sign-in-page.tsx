import { useMutation } from '@tanstack/react-query'
import { type FormEvent, useEffect, useRef, useState } from 'react'
import { Link, useLocation, useNavigate } from 'react-router'
import { beginSignOn, finishSignOn, isSignOnResponse } from '../account/sign-on.ts'
import { demoLink } from '../api/demo-link.ts'
import { useSession } from '../api/queries.ts'
import {
  forgetRequestedMail,
  type RequestedMail,
  rememberRequestedMail,
  requestedMail,
} from '../api/requested-mail.ts'
import { post, session } from '../api/session.ts'
import { Field } from '../components/form/field.tsx'
import { DemoMail } from '../components/page/demo-mail.tsx'
import { ProblemNote } from '../components/page/problem-note.tsx'
import { useTitle } from '../components/page/use-title.ts'
import { site } from '../site.ts'

/** Sign-in by mail (request the mail, then open its link or enter its code) or by single sign-on. */
export function SignInPage() {
  useTitle('Sign in')
  const state = useSession()
  const location = useLocation()
  const [email, setEmail] = useState(() => emailOf(location.state))
  const [sent, setSent] = useState(() => sentBefore(email))
  const next = nextOf(location.state ?? { next: new URLSearchParams(location.search).get('next') })
  const [token = '', encodedNext = ''] = location.hash.slice(1).split('~')

  if (token) {
    const nextPage = nextOf({ next: decode(encodedNext) })
    return <RedeemLink token={token} next={nextPage} signedIn={state === 'signed-in'} />
  }
  if (isSignOnResponse(location.search)) return <FinishSignOn response={location.search} />
  if (state === 'signed-in') return <Enter next={next} />
  if (site.signIn === 'oidc') return <AskForSignOn next={next} />
  if (sent) {
    const askAgain = () => {
      forgetRequestedMail()
      setSent(null)
    }
    return <CheckMail sent={sent} next={next} onBack={askAgain} />
  }
  const checkMail = (mail: Sent) => {
    rememberRequestedMail(mail)
    setSent(mail)
  }
  return <AskForMail email={email} next={next} onEmail={setEmail} onSent={checkMail} />
}

interface Sent extends RequestedMail {
  /** The link of the previous mail, if the service is a demo. */
  linkBefore: string | null
}

/** The mail that was sent before a reload, unless the page that leads here knows another address. */
function sentBefore(email: string): Sent | null {
  const mail = requestedMail()
  return mail && (email === '' || email === mail.email) ? { ...mail, linkBefore: null } : null
}

/** Where signing in leads if no page asked for it. */
const HOME = '/getting-started'

/** The paths of this service that are not the console's. */
const OUTSIDE = /^\/(?:docs|problems|status|v1)(?:[/?#]|$)/

/** Opens the page that asked to sign in. */
function useEnter(): (next: string) => void {
  const navigate = useNavigate()
  return (next) => {
    if (OUTSIDE.test(next)) window.location.replace(next)
    else navigate(next, { replace: true })
  }
}

function Enter({ next }: { next: string }) {
  const enter = useEnter()
  useEffect(() => enter(next), [])
  return null
}

/** Only paths of this service are allowed, to prevent open redirects. */
function nextOf(state: unknown): string {
  const next = (state as { next?: unknown } | null)?.next
  return typeof next === 'string' && /^\/(?![/\\])./.test(next) ? next : HOME
}

/** The page that sent the visitor here may know the address, such as that of an invitation. */
function emailOf(state: unknown): string {
  const email = (state as { email?: unknown } | null)?.email
  return typeof email === 'string' ? email : ''
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return ''
  }
}

/** The service takes paths up to this length; without one, the link of the mail leads to the start page. */
function mailable(next: string): { next?: string } {
  return next !== HOME && next.length <= 2000 && /^[!-~]+$/.test(next) ? { next } : {}
}

function AskForMail({
  email,
  next,
  onEmail,
  onSent,
}: {
  email: string
  next: string
  onEmail: (email: string) => void
  onSent: (sent: Sent) => void
}) {
  const ask = useMutation({
    mutationFn: async (): Promise<Sent> => {
      const linkBefore = await demoLink(email)
      const { request } = await post<{ request: string }>('/v1/auth/magic-link', {
        email,
        bind: true,
        ...mailable(next),
      })
      return { email: email.trim(), linkBefore, request }
    },
    onSuccess: onSent,
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    ask.mutate()
  }
  return (
    <div className="narrow stack">
      <h1>Sign in</h1>
      <SessionEnded />
      {site.demoAdministrator === null ? (
        <p className="soft">No password: we email you a link and a code.</p>
      ) : (
        <p className="soft">
          This is a demo: use any address, and the link appears here.{' '}
          <strong>{site.demoAdministrator}</strong> is the administrator.
        </p>
      )}
      <form className="stack" onSubmit={submit}>
        <Field label="Email address">
          {(props) => (
            <input
              {...props}
              type="email"
              autoComplete="email"
              required
              maxLength={320}
              value={email}
              onChange={(event) => onEmail(event.target.value)}
            />
          )}
        </Field>
        {ask.isError && <ProblemNote error={ask.error} />}
        <button type="submit" className="button primary wide" disabled={ask.isPending}>
          Send the link
        </button>
      </form>
      {site.signIn === 'both' && <SignOnButton next={next} />}
      <p className="small soft">
        Or <Link to="/datasets">look at the datasets</Link> first, without signing in.
      </p>
    </div>
  )
}

function SessionEnded() {
  if (!session.hasEnded) return null
  return (
    <p className="note" role="status">
      Your session has ended. Sign in again to go on.
    </p>
  )
}

function AskForSignOn({ next }: { next: string }) {
  return (
    <div className="narrow stack">
      <h1>Sign in</h1>
      <SessionEnded />
      <p className="soft">With the account of your organization.</p>
      <SignOnButton next={next} isPrimary />
      <p className="small soft">
        Or <Link to="/datasets">look at the datasets</Link> first, without signing in.
      </p>
    </div>
  )
}

function SignOnButton({ next, isPrimary = false }: { next: string; isPrimary?: boolean }) {
  const begin = useMutation({ mutationFn: () => beginSignOn(next) })
  return (
    <>
      {begin.isError && <ProblemNote error={begin.error} />}
      <button
        type="button"
        className={`button wide${isPrimary ? ' primary' : ''}`}
        onClick={() => begin.mutate()}
        disabled={begin.isPending}
      >
        Use single sign-on
      </button>
    </>
  )
}

/** The page that the provider of single sign-on returns to. */
function FinishSignOn({ response }: { response: string }) {
  const enter = useEnter()
  const hasBegun = useRef(false)
  const finish = useMutation({
    mutationFn: () => finishSignOn(response),
    onSuccess: (next) => enter(nextOf({ next })),
  })
  useEffect(() => {
    // The response works once.
    if (hasBegun.current) return
    hasBegun.current = true
    finish.mutate()
  }, [])
  return (
    <div className="narrow stack">
      <h1>Sign in</h1>
      {finish.isError ? (
        <>
          <ProblemNote error={finish.error} />
          <Link className="button wide" to="/sign-in" replace>
            Sign in again
          </Link>
        </>
      ) : (
        <p className="soft" role="status">
          Signing in …
        </p>
      )}
    </div>
  )
}

function CheckMail({ sent, next, onBack }: { sent: Sent; next: string; onBack: () => void }) {
  const { email, linkBefore, request } = sent
  const enter = useEnter()
  const [code, setCode] = useState('')
  const redeem = useMutation({
    mutationFn: () => session.signInByCode(email, code.trim(), request),
    onSuccess: () => enter(next),
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    redeem.mutate()
  }
  return (
    <div className="narrow stack">
      <h1>Check your email</h1>
      <p>
        If <strong>{email}</strong> may sign in, an email is on its way. Open its link, or enter its code
        here. Both work once, for 15 minutes.
      </p>
      <form className="stack" onSubmit={submit}>
        <Field label="Code of six digits">
          {(props) => (
            <input
              {...props}
              className="code"
              inputMode="numeric"
              autoComplete="one-time-code"
              pattern="\s*[0-9]{6}\s*"
              title="Six digits"
              required
              value={code}
              onChange={(event) => setCode(event.target.value)}
            />
          )}
        </Field>
        {redeem.isError && <ProblemNote error={redeem.error} />}
        <button type="submit" className="button primary wide" disabled={redeem.isPending}>
          Sign in
        </button>
      </form>
      <p className="small">
        <button type="button" className="link" onClick={onBack}>
          Use another address, or send the email again
        </button>
      </p>
      <DemoMail email={email} before={linkBefore} />
    </div>
  )
}

/** Redeems the link on a click, not on opening: programs that check links in mails must not use it up. */
function RedeemLink({ token, next, signedIn }: { token: string; next: string; signedIn: boolean }) {
  const enter = useEnter()
  const redeem = useMutation({
    mutationFn: () => session.signInByLink(token),
    onSuccess: () => enter(next),
  })
  return (
    <div className="narrow stack">
      <h1>Sign in to {site.title}</h1>
      <p className="soft">
        {signedIn
          ? 'You are signed in already. Continue to sign in as the address this link was sent to.'
          : 'The link works once. You stay signed in on this device until you sign out.'}
      </p>
      {redeem.isError && <ProblemNote error={redeem.error} />}
      {redeem.isError ? (
        <Link className="button wide" to="/sign-in" onClick={forgetRequestedMail}>
          Ask for a new link
        </Link>
      ) : (
        <button
          type="button"
          className="button primary wide"
          onClick={() => redeem.mutate()}
          disabled={redeem.isPending}
        >
          Sign in
        </button>
      )}
    </div>
  )
}
