import { readFile, writeFile } from 'node:fs/promises'
import { generateKeyPair, privateKeyFromProtobuf, privateKeyToProtobuf } from '@libp2p/crypto/keys'
import type { PrivateKey } from '@libp2p/interface'
import { errorMessage, ServiceNodeError } from './errors.ts'

/** A fresh identity, of the kind that Waku's node records need. */
export function generateKey(): Promise<PrivateKey> {
  return generateKeyPair('secp256k1')
}

/**
 * The identity in a file (base64 of libp2p's encoding), which is made, readable by its owner alone, if it does not exist.
 *
 * @throws {@link ServiceNodeError} `ERR_KEY_FILE` if it can be neither read nor made
 */
export async function loadKey(file: string): Promise<PrivateKey> {
  try {
    return privateKeyFromProtobuf(Buffer.from(await readFile(file, 'utf8'), 'base64'))
  } catch (cause) {
    if ((cause as { code?: string }).code !== 'ENOENT') {
      throw new ServiceNodeError('ERR_KEY_FILE', `${file} holds no key: ${errorMessage(cause)}`, {
        cause
      })
    }
  }
  const key = await generateKey()
  const text = `${Buffer.from(privateKeyToProtobuf(key)).toString('base64')}\n`
  try {
    await writeFile(file, text, { mode: 0o600, flag: 'wx' })
  } catch (cause) {
    throw new ServiceNodeError(
      'ERR_KEY_FILE',
      `${file} cannot be written: ${errorMessage(cause)}`,
      { cause }
    )
  }
  return key
}
