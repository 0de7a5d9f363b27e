import { useMutation } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { call } from '../api/call.ts'
import { useMe } from '../api/queries.ts'
import { Field } from '../components/form/field.tsx'
import { ProblemNote } from '../components/page/problem-note.tsx'

interface Outcome {
  sent: boolean
  by: 'smtp' | 'outbox'
  reason: string | null
}

/** Sends a mail, to see whether the service can. */
export function MailTest() {
  const { data: me } = useMe()
  const [email, setEmail] = useState(me?.user.email ?? '')
  const test = useMutation({ mutationFn: () => call<Outcome>('POST', '/v1/admin/mail-test', { email }) })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    test.mutate()
  }
  return (
    <section className="card stack-small">
      <h2>Mail</h2>
      <form className="inline-form" onSubmit={submit}>
        <Field label="Send a test email to">
          {(props) => (
            <input
              {...props}
              type="email"
              required
              maxLength={320}
              value={email}
              onChange={(event) => setEmail(event.target.value)}
            />
          )}
        </Field>
        <button type="submit" className="button" disabled={test.isPending}>
          Send
        </button>
      </form>
      {test.isError && <ProblemNote error={test.error} />}
      <p role="status" className={test.data ? `note ${test.data.sent ? 'good' : 'bad'}` : 'visually-hidden'}>
        {test.data && outcomeWords(test.data)}
      </p>
    </section>
  )
}

function outcomeWords({ sent, by, reason }: Outcome): string {
  if (!sent) return `The email could not be sent: ${reason}. The log has more.`
  return by === 'smtp'
    ? 'The mail server accepted the email. Check that it arrives.'
    : 'No mail server is configured, so the email was written to the outbox folder.'
}
