import { expect } from 'chai'
import type { AddressError } from '../../src/errors.ts'
import { parseServiceAddress, toShown, toUrl } from '../../src/transport/addresses.ts'

const PEER_ID = '12D3KooWGyCFqLm5mGxnDhCMnUxtgWTHfzLpoUq7FbqmSWXfKdmA'
const OPEN = { secureContextOnly: false, allowPrivateAddresses: false }
const SECURE = { secureContextOnly: true, allowPrivateAddresses: false }
const PRIVATE = { secureContextOnly: false, allowPrivateAddresses: true }

function refusal(address: unknown, policy = OPEN): AddressError {
  try {
    parseServiceAddress(address as string, policy)
  } catch (error) {
    expect(error).to.include({ code: 'ERR_ADDRESS' })
    return error as AddressError
  }
  return expect.fail(`${String(address)} was taken`)
}

function taken(address: string, policy = OPEN): boolean {
  return parseServiceAddress(address, policy).multiaddr !== undefined
}

describe('parseServiceAddress', () => {
  it('takes websocket addresses, with and without a peer id', () => {
    for (const host of [
      '/ip4/1.2.3.4',
      '/ip6/2606:4700::1111',
      '/dns/a.example',
      '/dns4/a.example',
      '/dns6/a.example'
    ]) {
      for (const end of ['ws', 'wss', 'tls/ws', 'tls/sni/b.example/ws']) {
        expect(parseServiceAddress(`${host}/tcp/443/${end}`, OPEN).peerId).to.equal(undefined)
        expect(parseServiceAddress(`${host}/tcp/443/${end}/p2p/${PEER_ID}`, OPEN).peerId).to.equal(
          PEER_ID
        )
      }
    }
  })

  it('gives the peer id in its usual form, however it was written', () => {
    const written = 'bafzaajaiaejcaxwr7x6gwlkf5gvu4lmf7bdfdbqlpdd2lxyuyhg2ffxnpukunhei'
    const { peerId } = parseServiceAddress(`/dns4/a.example/tcp/443/wss/p2p/${written}`, OPEN)
    expect(peerId).to.match(/^12D3KooW/)
  })

  it('refuses what is not a multiaddr', () => {
    expect(refusal('').message).to.include('non-empty string')
    expect(refusal(undefined).message).to.include('non-empty string')
    expect(refusal(5).message).to.include('non-empty string')
    expect(
      refusal({
        toString: () => {
          throw new Error('hostile')
        }
      }).message
    ).to.include('non-empty string')
    expect(refusal('nonsense').message).to.include('is not a multiaddr')
    expect(refusal('/nonsense/1').message).to.include('is not a multiaddr')
    expect(refusal('/ip4/999.1.1.1/tcp/1/ws').message).to.include('is not a multiaddr')
    expect(refusal('/dns4/a.example/tcp/99999/ws').message).to.include('is not a multiaddr')
    expect(refusal('/dns4/a.example/tcp/443/wss/p2p/nonsense').message).to.include(
      'is not a multiaddr'
    )
    expect(refusal('wss://a.example/').message).to.include('is a URL')
  })

  it('refuses transports that a browser does not have', () => {
    expect(refusal('/ip4/1.2.3.4/tcp/60000').message).to.include('not a websocket address')
    expect(refusal('/ip4/1.2.3.4/udp/1/quic-v1/webtransport').message).to.include(
      'not a websocket address'
    )
  })

  it('refuses circuits', () => {
    const relayed = `/dns4/a.example/tcp/443/wss/p2p/${PEER_ID}/p2p-circuit/p2p/${PEER_ID}`
    expect(refusal(relayed).message).to.include('relayed (circuit)')
  })

  it('refuses all other shapes', () => {
    for (const address of [
      '/ws',
      '/tcp/443/ws',
      '/dns4/a.example/wss',
      '/dnsaddr/a.example/tcp/443/wss',
      '/dns4/a.example/tcp/443/ws/dnsaddr/b.example',
      '/dns4/a.example/tcp/443/wss/ip4/10.0.0.1/tcp/1/ws',
      '/dns4/a.example/tcp/443/ws/http-path/a',
      '/ip6zone/eth0/ip6/fe80::1/tcp/1/ws',
      '/ip4/1.2.3.4/ipcidr/16/tcp/1/ws',
      `/dns4/a.example/tcp/443/wss/p2p/${PEER_ID}/p2p/${PEER_ID}`
    ]) {
      expect(refusal(address).message, address).to.include('is not of the form')
    }
  })

  it('refuses hosts that are none', () => {
    for (const host of [
      'user:pw@a.example',
      'a%2fb',
      'a b',
      'ä.example',
      '999.1.1.1.',
      'a?b',
      '1.2.3.4.5'
    ]) {
      expect(refusal(`/dns4/${host}/tcp/443/wss`).message, host).to.include(
        'neither a name nor an IP'
      )
    }
  })

  it('refuses plain ws in a page that came by https, but to loopback', () => {
    expect(refusal('/dns4/a.example/tcp/80/ws', SECURE).message).to.include('came by https')
    expect(refusal('/dns4/127.a.example/tcp/80/ws', SECURE).message).to.include('came by https')
    expect(refusal('/dns4/localhost.example/tcp/80/ws', SECURE).message).to.include('came by https')
    expect(taken('/dns4/a.example/tcp/443/wss', SECURE)).to.equal(true)
    expect(taken('/dns4/a.example/tcp/443/tls/ws', SECURE)).to.equal(true)
    expect(taken('/ip4/127.0.0.1/tcp/80/ws', SECURE)).to.equal(true)
  })

  it('takes loopback always', () => {
    for (const host of [
      '/ip4/127.0.0.1',
      '/ip4/127.8.9.10',
      '/ip6/::1',
      '/ip6/0:0:0:0:0:0:0:1',
      '/ip6/::ffff:127.0.0.1',
      '/dns4/localhost',
      '/dns4/LOCALHOST',
      '/dns4/localhost.',
      '/dns4/app.localhost',
      '/dns4/127.0.0.1'
    ]) {
      expect(taken(`${host}/tcp/1/ws`), host).to.equal(true)
    }
  })

  it('refuses private ranges, however they are written, unless they are allowed', () => {
    for (const host of [
      '/ip4/10.0.0.1',
      '/ip4/0.0.0.0',
      '/ip4/192.168.1.1',
      '/ip4/172.16.0.1',
      '/ip4/172.31.255.255',
      '/ip4/169.254.1.1',
      '/ip4/100.64.0.1',
      '/ip4/100.127.0.1',
      '/ip6/::',
      '/ip6/fc00::1',
      '/ip6/FD00::1',
      '/ip6/fe80::1',
      '/ip6/febf::1',
      '/ip6/::ffff:10.0.0.1',
      '/ip6/64:ff9b::192.168.0.1',
      '/dns4/10.0.0.1',
      '/dns4/0xa.1',
      '/dns4/167772161',
      '/dns4/printer.local',
      '/dns4/printer.local.'
    ]) {
      expect(refusal(`${host}/tcp/1/wss`).message, host).to.include('private network')
      expect(taken(`${host}/tcp/1/wss`, PRIVATE), host).to.equal(true)
    }
    expect(refusal('/dns4/a.example/tcp/1/tls/sni/10.0.0.1/ws').message).to.include(
      'private network'
    )
  })

  it('takes the neighbours of private ranges', () => {
    for (const host of [
      '/ip4/11.0.0.1',
      '/ip4/172.15.0.1',
      '/ip4/172.32.0.1',
      '/ip4/192.169.0.1',
      '/ip4/100.63.0.1',
      '/ip4/100.128.0.1',
      '/ip6/fbff::1',
      '/ip6/fe7f::1',
      '/ip6/fec0::1',
      '/ip6/::ffff:8.8.8.8',
      '/dns4/fd00.example',
      '/dns4/10.example',
      '/dns4/a.local.example'
    ]) {
      expect(taken(`${host}/tcp/1/wss`), host).to.equal(true)
    }
  })

  it('shows no credentials, and never more than a line', () => {
    for (const address of [
      'wss://user:secret@a.example/path?token=secret#secret',
      '/dns4/user:secret@a.example/tcp/443/wss',
      '/ip4/user:secret@1.2.3.4/tcp/443/wss',
      'user:secret@a.example',
      `/dns4/a.example/tcp/443/wss?token=secret`
    ]) {
      const { message, address: shown } = refusal(address)
      expect(`${message} ${shown}`, address).not.to.include('secret')
    }
    const { message } = refusal(`/dns4/${'a'.repeat(100_000)}\n\u0000/tcp/1/nonsense`)
    expect(message.length).to.be.lessThan(1000)
    expect(message).not.to.match(/\n|\u0000/)
  })
})

describe('toShown', () => {
  it('leaves an ordinary address as it is', () => {
    const address = `/dns4/a.example/tcp/443/wss/p2p/${PEER_ID}`
    expect(toShown(address)).to.equal(address)
  })

  it('says what kind of value it is if it is no text', () => {
    expect(toShown(null)).to.equal('(a value of type null)')
    expect(toShown(Symbol('x'))).to.equal('(a value of type symbol)')
  })
})

describe('toUrl', () => {
  it('tells host, port and whether it is secure', () => {
    const url = (address: string): unknown => {
      const { multiaddr } = parseServiceAddress(address, PRIVATE)
      const { protocol, hostname, port, href } = toUrl(multiaddr) as URL
      return { protocol, hostname, port, href }
    }
    expect(url('/ip6/::1/tcp/8000/ws')).to.deep.equal({
      protocol: 'ws:',
      hostname: '[::1]',
      port: '8000',
      href: 'ws://[::1]:8000/'
    })
    // the port is the usual one
    expect(url(`/dns4/a.example/tcp/443/wss/p2p/${PEER_ID}`)).to.deep.equal({
      protocol: 'wss:',
      hostname: 'a.example',
      port: '',
      href: 'wss://a.example/'
    })
    expect(url('/ip4/1.2.3.4/tcp/443/tls/sni/a.example/ws')).to.deep.equal({
      protocol: 'wss:',
      hostname: 'a.example',
      port: '',
      href: 'wss://a.example/'
    })
  })
})
