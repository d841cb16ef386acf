import type { MessageStream } from '@libp2p/interface'
import { multiaddrConnectionPair } from '@libp2p/utils'
import { expect } from 'chai'
import { Uint8ArrayList } from 'uint8arraylist'
import { Echo, toHello } from '../../src/transport/echo.ts'

const PROTOCOL = '/waku-light/test/1.0.0'
const ANSWER = Uint8Array.of(3, 9, 8, 7)

const text = (line: string): Uint8Array =>
  Uint8Array.of(line.length + 1, ...new TextEncoder().encode(`${line}\n`))
const bytes = (...parts: Uint8Array[]): Uint8Array =>
  Uint8Array.from(parts.flatMap((part) => [...part]))

const HEADER = text('/multistream/1.0.0')
const REFUSAL = bytes(HEADER, text('na'))

describe('Echo', () => {
  /** Our end of a stream in memory, what is received on it, and what became of the negotiation. */
  function negotiate(protocol = PROTOCOL): {
    readonly echo: Echo
    readonly received: () => number[]
    readonly outcomes: (Error | undefined)[]
    readonly sent: number[]
    readonly ours: MessageStream
    receive(data: Uint8Array): void
  } {
    const [ours, theirs] = multiaddrConnectionPair({ capacity: 1000 })
    const received = new Uint8ArrayList()
    const outcomes: (Error | undefined)[] = []
    const sent: number[] = []
    const send = ours.send.bind(ours)
    ours.send = (data) => {
      sent.push(...data.subarray())
      return send(data)
    }
    theirs.addEventListener('message', () => undefined)
    const echo = new Echo(ours, protocol, (error) => {
      outcomes.push(error)
    })
    ours.addEventListener('message', ({ data }) => received.append(data))
    return {
      echo,
      outcomes,
      sent,
      ours,
      received: () => [...received.subarray()],
      receive: (data) => (ours as unknown as { onData(data: Uint8Array): void }).onData(data)
    }
  }

  it('keeps the echo, and delivers what comes behind it, wherever it is cut', () => {
    const whole = bytes(toHello(PROTOCOL), ANSWER)
    for (let cut = 0; cut <= whole.length; cut++) {
      const { echo, receive, received, outcomes } = negotiate()
      echo.send()
      expect(echo.state).to.equal('awaited')
      receive(whole.subarray(0, cut))
      expect(echo.state, String(cut)).to.equal(
        cut < toHello(PROTOCOL).length ? 'awaited' : 'agreed'
      )
      receive(whole.subarray(cut))
      expect(received(), String(cut)).to.deep.equal([...ANSWER])
      expect(outcomes).to.deep.equal([undefined])
    }
  })

  it('takes an echo byte by byte', () => {
    const { echo, receive, received } = negotiate()
    echo.send()
    for (const byte of bytes(toHello(PROTOCOL), ANSWER)) {
      receive(Uint8Array.of(byte))
    }
    expect(received()).to.deep.equal([...ANSWER])
  })

  it('knows a refusal, wherever it is cut, and delivers nothing of it', () => {
    for (let cut = 0; cut < REFUSAL.length; cut++) {
      const { echo, receive, received, outcomes } = negotiate()
      echo.send()
      receive(REFUSAL.subarray(0, cut))
      expect(echo.state, String(cut)).to.equal('awaited')
      receive(REFUSAL.subarray(cut))
      expect(echo.state, String(cut)).to.equal('refused')
      expect(outcomes[0]).to.include({ name: 'UnsupportedProtocolError' })
      expect(received()).to.deep.equal([])
    }
  })

  it('knows anything else as wrong', () => {
    for (const wrong of [
      Uint8Array.of(0),
      ANSWER,
      text('/multistream/2.0.0'),
      text('na'),
      bytes(HEADER, text('no')),
      bytes(HEADER, text('/waku-light/test/1.0.1')),
      bytes(HEADER, HEADER)
    ]) {
      const { echo, receive, received, outcomes } = negotiate()
      echo.send()
      receive(wrong)
      expect(echo.state, String(wrong)).to.equal('wrong')
      expect(outcomes).to.have.length(1)
      expect(outcomes[0]).to.include({ code: 'ERR_PROTOCOL_VIOLATION', detail: 'negotiation' })
      expect(received()).to.deep.equal([])
    }
  })

  it('sends the negotiation in one piece with what is sent next, once', () => {
    const { echo, sent, ours } = negotiate()
    echo.sendWithNext()
    expect(sent).to.deep.equal([])
    expect(echo.state).to.equal('unsent')
    ours.send(ANSWER)
    ours.send(ANSWER)
    expect(sent).to.deep.equal([...toHello(PROTOCOL), ...ANSWER, ...ANSWER])
    expect(echo.state).to.equal('awaited')
  })

  it('counts as unsent what could not be sent', () => {
    const { echo, ours } = negotiate()
    ours.abort(new Error('gone'))
    echo.sendWithNext()
    expect(() => ours.send(ANSWER)).to.throw()
    expect(echo.state).to.equal('unsent')
  })

  it('takes an echo that comes before anything was sent', () => {
    const { echo, receive } = negotiate()
    receive(toHello(PROTOCOL))
    echo.send()
    expect(echo.state).to.equal('agreed')
  })

  it('writes the length of long protocol ids in two bytes', () => {
    const long = `/${'x'.repeat(200)}`
    const hello = toHello(long)
    expect([...hello.subarray(HEADER.length, HEADER.length + 2)]).to.deep.equal([
      202 - 128 + 128,
      1
    ])
    const { echo, receive } = negotiate(long)
    echo.send()
    receive(hello)
    expect(echo.state).to.equal('agreed')
  })
})
