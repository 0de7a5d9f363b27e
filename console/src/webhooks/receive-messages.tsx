import '../styles/webhooks.css'
import { useState } from 'react'
import { CodeBlock } from '../components/code-block.tsx'
import { Tabs } from '../components/tabs.tsx'
import { EXAMPLE_MESSAGE, RECEIVERS } from './receiver-examples.ts'

/** What arrives at the address of a webhook, and how a program makes sure that it comes from here. */
export function ReceiveMessages({ isOpen }: { isOpen: boolean }) {
  const [language, setLanguage] = useState('javascript')
  const names = Object.fromEntries(Object.entries(RECEIVERS).map(([id, { name }]) => [id, name]))
  const { name, code } = RECEIVERS[language] ?? RECEIVERS['javascript']!
  return (
    <details className="card" open={isOpen}>
      <summary>Receive messages: an example, and how to check the signature</summary>
      <div className="stack padded-top">
        <p className="small soft">
          Respond with a status from 200 to 299 within 15 seconds. A message that is not accepted is sent
          again for a day, so remember the ids of those that you have.
        </p>
        <div className="receive">
          <div className="stack-small">
            <h3>What arrives</h3>
            <CodeBlock code={EXAMPLE_MESSAGE} label="A message" />
          </div>
          <div className="stack-small">
            <h3>Check the signature</h3>
            <Tabs label="Language" tabs={names} chosen={language} onChoose={setLanguage}>
              <CodeBlock code={code} label={`${name} code`} />
            </Tabs>
          </div>
        </div>
      </div>
    </details>
  )
}
