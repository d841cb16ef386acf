import { writer as createWriter, type Writer } from 'protons-runtime'
import { type Fields, toWireType } from './fields.ts'

/** What a message is written from: it is only read, its lists too. */
type Written<T> = {
  readonly [Name in keyof T]?: T[Name] extends (infer Item)[] ? readonly Item[] : T[Name]
}

/**
 * Writes a message of the given fields, in the order of their numbers; what is undefined is left out. The table does for all
 * messages what protons writes out for each.
 *
 * @returns bytes in a buffer of their own
 */
export function writeFields<T extends object>(
  message: Written<T>,
  fields: Fields
): Uint8Array<ArrayBuffer> {
  const writer = createWriter()
  append(writer, message, fields)
  // what the writer gives lies in a pool of 64 KiB, all of which would be stored or sent to a worker with it
  return writer.finish().slice()
}

function append(writer: Writer, message: object, fields: Fields): void {
  for (const [fieldNumber, [name, kind]] of Object.entries(fields)) {
    const given = (message as Record<string, unknown>)[name] ?? []
    for (const value of [given].flat() as unknown[]) {
      writer.uint32(Number(fieldNumber) * 8 + toWireType(kind))
      if (typeof kind === 'function') {
        append(writer.fork(), value as object, kind())
        writer.ldelim()
      } else {
        // protons-runtime 7.1.2 gets negative multiples of 2^32 from -2^53 on wrong, but not the same 64 bits without a sign
        writer[kind]((typeof value === 'bigint' ? BigInt.asUintN(64, value) : value) as never)
      }
    }
  }
}

/** The bytes, unless there are none: what several encoders write for a field that is not set. */
export function unlessEmpty<T extends Uint8Array>(bytes: T | undefined): T | undefined {
  return bytes?.length ? bytes : undefined
}
