import { expect } from 'chai'
import fc from 'fast-check'
import { hasErrorCode, LimitExceededError } from 'waku-light/errors'
import { fromHex, toHex, type WakuMessage } from 'waku-light/message'
import {
  decodeHistoryIndexBeta2,
  decodeHistoryQuery,
  decodeHistoryQueryBeta2,
  decodeHistoryResponse,
  decodeHistoryResponseBeta2,
  decodeMetadata,
  decodeStoreQueryRequest,
  decodeStoreQueryResponse,
  decodeWakuMessage,
  encodeHistoryIndexBeta2,
  encodeHistoryQuery,
  encodeHistoryQueryBeta2,
  encodeHistoryResponse,
  encodeHistoryResponseBeta2,
  encodeStoreQueryRequest,
  encodeStoreQueryResponse,
  encodeWakuMessage
} from 'waku-light/wire'
import { CODECS, type CodecCase } from './codecs.ts'
import { clean } from './frame.ts'
import { fieldBytes, readFields, type TwinSchema, type TwinType } from './twin.ts'

/** What decode makes of some bytes: a value, or the code of its error. */
function outcome({ decode }: Pick<CodecCase, 'decode'>, bytes: Iterable<number>): unknown {
  try {
    return clean(decode(Uint8Array.from(bytes)))
  } catch (error) {
    for (const code of ['ERR_INVALID_MESSAGE', 'ERR_LIMIT_EXCEEDED'] as const) {
      if (hasErrorCode(error, code)) {
        return code
      }
    }
    throw error
  }
}

const INVALID = 'ERR_INVALID_MESSAGE'

/** All fields of a schema with a path to each, as encoded messages that hold nothing else. */
function fieldsOf(
  schema: TwinSchema,
  wrap: (bytes: number[]) => number[] = (bytes) => bytes
): { path: string; type: TwinType; fieldNumber: number; wrap: (bytes: number[]) => number[] }[] {
  return Object.entries(schema).flatMap(([path, [fieldNumber, declared]]) => {
    const type =
      typeof declared === 'object' && 'repeated' in declared ? declared.repeated : declared
    const own = { path, type, fieldNumber, wrap }
    if (typeof type !== 'object' || !('message' in type)) {
      return [own]
    }
    const inner = fieldsOf(type.message, (bytes) => wrap(fieldBytes(fieldNumber, 2, bytes)))
    return [own, ...inner.map((field) => ({ ...field, path: `${path}.${field.path}` }))]
  })
}

for (const codec of CODECS) {
  const [sample] = fc.sample(codec.values, { seed: 7, numRuns: 40 }).slice(-1)
  const bytes = [...codec.encode(sample)]
  const good = outcome(codec, bytes)

  describe(codec.name, () => {
    it('returns what was encoded', () => {
      expect(good).to.deep.equal(clean(sample))
    })

    it('rejects every truncation within a field', () => {
      const ends = new Set([0, ...readFields(Uint8Array.from(bytes)).map(({ end }) => end)])
      for (let length = 0; length < bytes.length; length++) {
        if (!ends.has(length)) {
          expect(outcome(codec, bytes.slice(0, length)), `${length} bytes`).to.equal(INVALID)
        }
      }
    })

    it('rejects trailing bytes that are no field', () => {
      for (const rest of [
        [0],
        [0x80],
        [8],
        [10],
        [10, 1],
        [13, 0, 0, 0],
        [9, 0, 0, 0, 0, 0, 0, 0]
      ]) {
        expect(outcome(codec, [...bytes, ...rest]), String(rest)).to.equal(INVALID)
      }
    })

    it('rejects field number 0, groups and wire types that do not exist', () => {
      for (let wireType = 0; wireType < 8; wireType++) {
        expect(outcome(codec, [...bytes, wireType, 0])).to.equal(INVALID)
      }
      for (const wireType of [3, 4, 6, 7]) {
        for (const fieldNumber of [1, 2, 60]) {
          expect(outcome(codec, [...bytes, ...fieldBytes(fieldNumber, wireType, [])])).to.equal(
            INVALID
          )
        }
      }
      expect(
        outcome(codec, [...bytes, ...fieldBytes(60, 3, []), ...fieldBytes(60, 4, [])])
      ).to.equal(INVALID)
    })

    it('rejects varints that are overlong, over 64 bits, or tags and lengths over 32', () => {
      const unknown = fieldBytes(60, 0, [])
      const nines = (count: number) => Array<number>(count).fill(0xff)
      for (const varint of [
        [0x80, 0],
        [0xff, 0x80, 0],
        [...nines(9), 2],
        [...nines(10), 1],
        [...nines(9), 0x80, 0]
      ]) {
        expect(
          outcome(codec, [...bytes, ...unknown, ...varint]),
          `value ${String(varint)}`
        ).to.equal(INVALID)
      }
      expect(outcome(codec, [...bytes, ...unknown, ...nines(9), 1])).to.deep.equal(good)
      for (const tag of [
        [0x88, 0x80, 0],
        [0xe0, 0x83, 0x80, 0],
        [...nines(4), 0x10],
        [...nines(5), 1]
      ]) {
        expect(outcome(codec, [...bytes, ...tag, 0]), `tag ${String(tag)}`).to.equal(INVALID)
      }
      for (const length of [
        [0x81, 0],
        [...nines(4), 0x0f],
        [...nines(4), 0x1f],
        [...nines(9), 1]
      ]) {
        expect(
          outcome(codec, [...bytes, ...fieldBytes(60, 2, []).slice(0, 2), ...length, 65])
        ).to.equal(INVALID)
      }
    })

    it('skips unknown fields, wherever they are', () => {
      const unknown = [
        ...fieldBytes(60, 0, 2n ** 64n - 1n),
        ...fieldBytes(2 ** 29 - 1, 2, [0xff, 0xff]),
        ...fieldBytes(15, 5, [1, 2, 3, 4]),
        ...fieldBytes(2047, 1, [1, 2, 3, 4, 5, 6, 7, 8])
      ]
      for (const position of [0, ...readFields(Uint8Array.from(bytes)).map(({ end }) => end)]) {
        expect(outcome(codec, bytes.toSpliced(position, 0, ...unknown))).to.deep.equal(good)
      }
    })

    it('takes fields in reverse order', () => {
      let start = 0
      const fields = readFields(Uint8Array.from(bytes)).map(({ end, fieldNumber }) => {
        const field = { fieldNumber, bytes: bytes.slice(start, end) }
        start = end
        return field
      })
      // a stable sort: occurrences of one repeated field keep their order
      fields.sort((a, b) => b.fieldNumber - a.fieldNumber)
      expect(
        outcome(
          codec,
          fields.flatMap((field) => field.bytes)
        )
      ).to.deep.equal(good)
    })

    it('refuses or reads a message without one of its fields as the twin does', () => {
      const fields = readFields(Uint8Array.from(bytes))
      for (const left of new Set(fields.map(({ fieldNumber }) => fieldNumber))) {
        let start = 0
        const rest = fields.flatMap(({ fieldNumber, end }) => {
          const field = bytes.slice(start, end)
          start = end
          return fieldNumber === left ? [] : field
        })
        let expected: unknown
        try {
          expected = clean(codec.twin(Uint8Array.from(rest)))
        } catch {
          expected = INVALID
        }
        expect(outcome(codec, rest), `without field ${left}`).to.deep.equal(expected)
      }
    })

    it('does not touch bytes that it is given', () => {
      const given = Uint8Array.from([...bytes, ...fieldBytes(1, 5, [1, 2, 3, 4])])
      const before = toHex(given)
      try {
        codec.decode(given)
      } catch {
        // whether they decode is another test's business
      }
      expect(toHex(given)).to.equal(before)
    })

    for (const { path, type, fieldNumber, wrap } of fieldsOf(codec.schema)) {
      const field = (wireType: number, value: bigint | number[]) =>
        wrap(fieldBytes(fieldNumber, wireType, value))
      /** Bytes put before the sample: what they say, the sample says again where it has the field. */
      const before = (...extra: number[]) => outcome(codec, [...extra, ...bytes])

      it(`ignores ${path} where its wire type is another`, () => {
        const forms = [
          field(0, 1n),
          field(1, [1, 2, 3, 4, 5, 6, 7, 8]),
          field(2, [8, 1]),
          field(5, [1, 2, 3, 4])
        ]
        const own =
          typeof type === 'object' || type === 'string' || type === 'bytes'
            ? 2
            : type === 'float'
              ? 3
              : 0
        const nested = path.includes('.')
        forms.forEach((form, index) => {
          if (index !== own && !(codec.name === 'decodeMetadata')) {
            const expected = nested ? outcome({ decode: codec.twin }, [...form, ...bytes]) : good
            expect(before(...form), `form ${index}`).to.deep.equal(expected)
          }
        })
      })

      if (type === 'string') {
        it(`rejects ${path} that is not UTF-8`, () => {
          for (const text of [
            [0x80],
            [0xff],
            [0xc3],
            [0xc0, 0x80],
            [0xed, 0xa0, 0x80],
            [65, 0xe2, 0x82]
          ]) {
            expect(before(...field(2, text))).to.equal(INVALID)
          }
        })
      } else if (type === 'uint32') {
        it(`rejects ${path} of 33 bits and more`, () => {
          for (const value of [2n ** 32n, 2n ** 35n, 2n ** 63n, 2n ** 64n - 1n]) {
            expect(before(...field(0, value))).to.equal(INVALID)
          }
          expect(before(...field(0, 2n ** 32n - 1n))).to.not.equal(INVALID)
        })
      } else if (type === 'bool') {
        it(`rejects ${path} other than 0 and 1`, () => {
          for (const value of [2n, 127n, 128n, 2n ** 35n, 2n ** 64n - 1n]) {
            expect(before(...field(0, value))).to.equal(INVALID)
          }
        })
      }

      if (typeof type !== 'object' && type !== 'bytes' && type !== 'string') {
        it(`takes the last ${path}`, () => {
          const values =
            type === 'float'
              ? [
                  [0, 0, 128, 63],
                  [0, 0, 0, 64]
                ].map((value) => field(5, value))
              : [field(0, 0n), field(0, 1n)]
          const [first, last] = values as [number[], number[]]
          const only = outcome(codec, [...bytes, ...last])
          expect(outcome(codec, [...bytes, ...first, ...last])).to.deep.equal(only)
        })
      }
    }
  })
}

const LIMITS: readonly [
  string,
  (count: number) => Uint8Array,
  (bytes: Uint8Array, max: number) => unknown
][] = [
  [
    'decodeStoreQueryRequest, content topics',
    (count) =>
      encodeStoreQueryRequest({
        requestId: '',
        includeData: true,
        contentTopics: Array(count).fill('t'),
        messageHashes: [],
        paginationForward: true
      }),
    decodeStoreQueryRequest
  ],
  [
    'decodeStoreQueryRequest, hashes',
    (count) =>
      encodeStoreQueryRequest({
        requestId: '',
        includeData: true,
        contentTopics: [],
        messageHashes: Array(count).fill(new Uint8Array(32)),
        paginationForward: true
      }),
    decodeStoreQueryRequest
  ],
  [
    'decodeStoreQueryResponse, entries',
    (count) =>
      encodeStoreQueryResponse({
        requestId: '',
        statusCode: 200,
        messages: Array(count).fill(new Uint8Array())
      }),
    decodeStoreQueryResponse
  ],
  [
    'decodeHistoryQuery, content topics',
    (count) =>
      encodeHistoryQuery({
        requestId: '',
        contentTopics: Array(count).fill('t'),
        pageSize: 0n,
        forward: true
      }),
    decodeHistoryQuery
  ],
  [
    'decodeHistoryResponse, messages',
    (count) =>
      encodeHistoryResponse({
        requestId: '',
        messages: Array(count).fill(new Uint8Array()),
        error: 0
      }),
    decodeHistoryResponse
  ],
  [
    'decodeHistoryQueryBeta2, topics',
    (count) =>
      encodeHistoryQueryBeta2({
        requestId: '',
        topics: Array(count).fill('t'),
        pageSize: 0n,
        forward: true
      }),
    decodeHistoryQueryBeta2
  ],
  [
    'decodeHistoryResponseBeta2, messages',
    (count) =>
      encodeHistoryResponseBeta2({ requestId: '', messages: Array(count).fill(new Uint8Array()) }),
    decodeHistoryResponseBeta2
  ]
]

for (const [name, encode, decode] of LIMITS) {
  describe(name, () => {
    it('takes as many as the limit and rejects one more with the limit', () => {
      expect(() => decode(encode(3), 3)).to.not.throw()
      expect(() => decode(encode(4), 3))
        .to.throw(LimitExceededError)
        .with.property('limit', 3)
    })
  })
}

describe('decodeHistoryResponse and decodeHistoryResponseBeta2', () => {
  it('bound what they hold even where the caller gives no limit', () => {
    const body = new Uint8Array(100_001 * 2).map((_, index) => (index % 2 === 0 ? 0x12 : 0))
    const whole = Uint8Array.from(fieldBytes(3, 2, body))
    expect(() => decodeHistoryResponse(whole)).to.throw(LimitExceededError)
    expect(() => decodeHistoryResponseBeta2(whole)).to.throw(LimitExceededError)
  })
})

describe('decodeWakuMessage', () => {
  const message: WakuMessage = { payload: fromHex('0102'), contentTopic: '/a/1/b/proto' }

  it('takes meta of 64 bytes and rejects 65', () => {
    const meta = (length: number) => encodeWakuMessage({ ...message, meta: new Uint8Array(length) })
    expect(decodeWakuMessage(meta(64)).meta).to.have.length(64)
    expect(outcome({ decode: decodeWakuMessage }, meta(65))).to.equal(INVALID)
  })

  it('returns bytes of their own, which do not keep the frame alive', () => {
    const encoded = encodeWakuMessage({
      ...message,
      meta: fromHex('03'),
      rateLimitProof: fromHex('04')
    })
    const { payload, meta, rateLimitProof } = decodeWakuMessage(encoded)
    expect([payload, meta, rateLimitProof].map((bytes) => bytes?.buffer.byteLength)).to.deep.equal([
      2, 1, 1
    ])
  })

  it('rejects a message without payload or without content topic', () => {
    expect(outcome({ decode: decodeWakuMessage }, fieldBytes(1, 2, [1]))).to.equal(INVALID)
    expect(outcome({ decode: decodeWakuMessage }, fieldBytes(2, 2, [65]))).to.equal(INVALID)
    expect(outcome({ decode: decodeWakuMessage }, [])).to.equal(INVALID)
  })
})

describe('encodeWakuMessage', () => {
  it('writes payload and content topic even where they are empty, and nothing else that is empty', () => {
    const empty = {
      payload: new Uint8Array(),
      contentTopic: '',
      version: 0,
      meta: new Uint8Array(),
      rateLimitProof: new Uint8Array(),
      ephemeral: false
    }
    expect(toHex(encodeWakuMessage(empty))).to.equal('0a001200')
  })

  it('returns bytes in a buffer of their own', () => {
    const encoded = encodeWakuMessage({ payload: new Uint8Array(3), contentTopic: '/a/1/b/proto' })
    expect(encoded.buffer.byteLength).to.equal(encoded.length)
  })
})

describe('decodeMetadata', () => {
  const read = (hex: string) => outcome({ decode: decodeMetadata }, fromHex(hex))

  it('reads shards packed and unpacked, from field 3 and else from field 2', () => {
    expect(read('1005')).to.deep.equal({ shards: [5] })
    expect(read('10051003')).to.deep.equal({ shards: [3, 5] })
    expect(read('12020503')).to.deep.equal({ shards: [3, 5] })
    expect(read('120103' + '1005')).to.deep.equal({ shards: [3, 5] })
    expect(read('1803' + '1805')).to.deep.equal({ shards: [3, 5] })
    expect(read('10011a0105')).to.deep.equal({ shards: [5] })
    expect(read('10011a00')).to.deep.equal({ shards: [1] })
    expect(read('1a05ffffffff0f')).to.deep.equal({ shards: [0xffffffff] })
  })

  it('reads a cluster id behind an unpacked field 3', () => {
    expect(read('18020801')).to.deep.equal({ clusterId: 1, shards: [2] })
  })

  it('rejects packed shards that are cut, overlong, or over 32 bits', () => {
    for (const packed of [
      '120180',
      '12028000',
      '1205ffffffff1f',
      '1a06ffffffffff01',
      '10ffffffff1f'
    ]) {
      expect(read(packed), packed).to.equal(INVALID)
    }
  })

  it('takes 1024 bytes and rejects more', () => {
    const shards = (count: number) => [0x1a, ...fieldBytes(1, 2, new Uint8Array(count)).slice(1)]
    expect(outcome({ decode: decodeMetadata }, shards(1021))).to.deep.equal({ shards: [0] })
    expect(outcome({ decode: decodeMetadata }, shards(1022))).to.equal('ERR_LIMIT_EXCEEDED')
  })
})

describe('decodeHistoryResponse', () => {
  const read = (hex: string) => outcome({ decode: decodeHistoryResponse }, fromHex(hex))

  it('takes an absent response for an empty page', () => {
    expect(read('0a0161')).to.deep.equal({ requestId: 'a', messages: [], error: 0 })
    expect(read('0a01611a00')).to.deep.equal({ requestId: 'a', messages: [], error: 0 })
  })

  it('rejects an empty frame, and a query in the place of a response', () => {
    expect(read('')).to.equal(INVALID)
    expect(read('0a01611200')).to.equal(INVALID)
  })

  it('takes an empty cursor for none, and keeps errors that no specification names', () => {
    expect(read('1a041a021200')).to.deep.equal({ requestId: '', messages: [], error: 0 })
    expect(read('1a0320f703')).to.deep.equal({ requestId: '', messages: [], error: 503 })
  })
})

describe('decodeStoreQueryResponse', () => {
  const decode = (bytes: Uint8Array) => decodeStoreQueryResponse(bytes, 1)

  it('has status 0 where the node sent none, and no cursor where it is empty', () => {
    expect(outcome({ decode }, [])).to.deep.equal({ requestId: '', statusCode: 0, messages: [] })
    expect(outcome({ decode }, fieldBytes(51, 2, []))).to.not.have.property('paginationCursor')
  })
})

describe('encodeStoreQueryResponse', () => {
  it('always writes request id, status and description, which the reference client requires', () => {
    expect(
      toHex(encodeStoreQueryResponse({ requestId: '', statusCode: 0, messages: [] }))
    ).to.equal('0a0050005a00')
  })
})

describe('decodeHistoryQueryBeta2', () => {
  it('rejects a negative page size', () => {
    const query = (pageSize: bigint) =>
      encodeHistoryQueryBeta2({ requestId: 'a', topics: [], pageSize, forward: true })
    for (const pageSize of [-1n, -(2n ** 53n), -(2n ** 63n)]) {
      expect(outcome({ decode: decodeHistoryQueryBeta2 }, query(pageSize)), `${pageSize}`).to.equal(
        INVALID
      )
    }
    expect(decodeHistoryQueryBeta2(query(2n ** 63n - 1n)).pageSize).to.equal(2n ** 63n - 1n)
  })

  it('asks for everything, forward, where there is no paging info', () => {
    expect(outcome({ decode: decodeHistoryQueryBeta2 }, fromHex('0a01611200'))).to.deep.equal({
      requestId: 'a',
      topics: [],
      pageSize: 0n,
      forward: true
    })
  })
  it('takes an empty cursor for none, as its time had no way to leave it out', () => {
    const read = outcome(
      { decode: decodeHistoryQueryBeta2 },
      fromHex('0a01611206' + '1a04' + '0801' + '1200')
    )
    expect(read).to.deep.equal({ requestId: 'a', topics: [], pageSize: 1n, forward: true })
  })
})

describe('decodeHistoryIndexBeta2', () => {
  it('rejects a time that is no finite number', () => {
    for (const receivedTime of [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]) {
      const bytes = encodeHistoryIndexBeta2({ digest: fromHex('01'), receivedTime })
      expect(outcome({ decode: decodeHistoryIndexBeta2 }, bytes)).to.equal(INVALID)
    }
  })
})
