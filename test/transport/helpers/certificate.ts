import { generateKeyPairSync, randomBytes, sign } from 'node:crypto'

/** A fresh self-signed certificate for 127.0.0.1, valid for a day. Node's crypto makes none, so here is the little DER it takes. */
export function selfSignedCertificate(): { readonly cert: string; readonly key: string } {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const ecdsaWithSha256 = sequence(oid(0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02))
  const name = sequence(tlv(0x31, sequence(oid(0x55, 0x04, 0x03), tlv(0x0c, Buffer.from('test')))))
  const [from, to] = [-1, 1].map((days) => {
    const text = new Date(Date.now() + days * 86_400_000).toISOString()
    return tlv(0x18, Buffer.from(`${text.replace(/[-:T]|\..*/g, '')}Z`))
  }) as [Buffer, Buffer]
  const extension = (last: number, value: Buffer): Buffer =>
    sequence(oid(0x55, 0x1d, last), tlv(0x04, value))
  const isAuthority = extension(0x13, sequence(tlv(0x01, Buffer.of(0xff))))
  const forLoopback = extension(0x11, sequence(tlv(0x87, Buffer.of(127, 0, 0, 1))))
  const body = sequence(
    tlv(0xa0, tlv(0x02, Buffer.of(2))),
    tlv(0x02, Buffer.concat([Buffer.of(1), randomBytes(8)])),
    ecdsaWithSha256,
    name,
    sequence(from, to),
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    tlv(0xa3, sequence(isAuthority, forLoopback))
  )
  const signature = sign('sha256', body, privateKey)
  const certificate = sequence(body, ecdsaWithSha256, tlv(0x03, Buffer.of(0), signature))
  const lines = certificate.toString('base64').replace(/.{64}/g, '$&\n')
  return {
    cert: `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`,
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
  }
}

function tlv(tag: number, ...parts: Buffer[]): Buffer {
  const value = Buffer.concat(parts)
  const { length } = value
  const header =
    length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff]
  return Buffer.concat([Buffer.of(tag, ...header), value])
}

function sequence(...parts: Buffer[]): Buffer {
  return tlv(0x30, ...parts)
}

function oid(...bytes: number[]): Buffer {
  return tlv(0x06, Buffer.from(bytes))
}
