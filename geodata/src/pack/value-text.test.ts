import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { utcText } from './value-text.ts'

test('a timestamp in UTC is written as one with an offset of zero, which has to be calculated', () => {
  const day = fc.date({ min: new Date('0001-01-02'), max: new Date('9999-12-30'), noInvalidDate: true })
  const fraction = fc.constantFrom('', '.0', '.000', '.5', '.500', '.123456', '.100001', '.000000', '.010')
  fc.assert(
    fc.property(
      day,
      fc.constantFrom('T', ' '),
      fc.constantFrom('-', '/'),
      fraction,
      (date, gap, hyphen, part) => {
        const [days, time] = date.toISOString().slice(0, 19).split('T')
        const text = `${days!.replaceAll('-', hyphen)}${gap}${time}${part}`
        const calculated = utcText(`${text}+00:00`)
        for (const zone of ['', 'Z', '+00']) assert.equal(utcText(text + zone), calculated, text + zone)
      },
    ),
  )
})
