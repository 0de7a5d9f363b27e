/** A message as it is sent: the headers of the Standard Webhooks specification, and a body in JSON (indented here). */
export const EXAMPLE_MESSAGE = `POST /wayleave HTTP/1.1
content-type: application/json
webhook-id: msg_4f9QmZ1xYb7KcD2Lw8Rt
webhook-timestamp: 1795046400
webhook-signature: v1,K5oZfzN95Z9UVu1Es…

{
  "type": "dataset.published",
  "timestamp": "2026-11-19T00:00:00.000Z",
  "data": {
    "table": "parcels",
    "version": 12,
    "rows": 48210
  }
}`

/** The programs of docs/webhooks.md, which refuse a message whose signature is wrong. */
export const RECEIVERS: Record<string, { name: string; code: string }> = {
  javascript: {
    name: 'JavaScript',
    code: `import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'
import { Webhook } from 'standardwebhooks'

const webhook = new Webhook(process.env.WEBHOOK_SECRET)

createServer(async (request, response) => {
  try {
    const message = webhook.verify(await text(request), request.headers)
    console.log(request.headers['webhook-id'], message.type, message.data)
    response.writeHead(204).end()
  } catch {
    response.writeHead(400).end()
  }
}).listen(8090)`,
  },
  python: {
    name: 'Python',
    code: `import base64, hashlib, hmac, json, os, time
from http.server import BaseHTTPRequestHandler, HTTPServer

key = base64.b64decode(os.environ['WEBHOOK_SECRET'].removeprefix('whsec_'))

class Receiver(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers['content-length']))
        sent = self.headers['webhook-timestamp']
        signed = f"{self.headers['webhook-id']}.{sent}.".encode() + body
        digest = hmac.new(key, signed, hashlib.sha256).digest()
        mine = 'v1,' + base64.b64encode(digest).decode()
        # While a secret is rotated there are two signatures.
        theirs = self.headers['webhook-signature'].split(' ')
        is_ours = any(hmac.compare_digest(mine, one) for one in theirs)
        if not is_ours or abs(time.time() - int(sent)) > 300:
            return self.send_error(400)
        message = json.loads(body)
        print(self.headers['webhook-id'], message['type'], message['data'])
        self.send_response(204)
        self.end_headers()

HTTPServer(('', 8090), Receiver).serve_forever()`,
  },
}
