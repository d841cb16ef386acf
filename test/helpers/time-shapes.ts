/**
 * What 32 pushes at a time put into a service node, recorded: milliseconds since the time before, and messages of that time, a
 * digit of base 36 each. Half the messages: pages here are half as long.
 */
const PUSHES =
  'b6iana6413d2pgd1114fj251115eb3ee63h9c7j1899146d111661467b1485137caa7rga11167d8218315931631' +
  '279139e879983134158739zgh1kb2174hca4bcb4911212332ae311791474614g51e14c7411c319753142qfb3b3' +
  '9a54611111228145343745858b76a83336cb7691216ab78a97tac7e4691434h15a37aa8795155512da37rgf326' +
  '172111uf32a3316d73415d94524ba431521ba4ac948c44ace4331az48c74z6zgj11ff16g9141631e913331118g' +
  'f74122483186j595811625a5f31eb3o9a2157575477571146cigca7112758cl531111231186111773ab1452319' +
  'o1cf318112115efc346241114d84a16a96eac16g71815g91317gzg7133dgfga1116ga111afg2813egga15g88p9' +
  '48816gb212115b127421'

/** Random numbers that are the same each time. */
function* random(seed = 1): Generator<number, never> {
  for (let state = seed; ; ) {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31
    yield state / 2 ** 31
  }
}

function at(count: number, gap: (index: number, random: number) => number): number[] {
  const numbers = random()
  let time = 0
  return Array.from({ length: count }, (_, index) => {
    time += gap(index, numbers.next().value)
    return time
  })
}

/** The times of a recording that is played over and over. */
function play(recording: string, count: number): number[] {
  const times: number[] = []
  for (let index = 0, time = 0; times.length < count; index = (index + 2) % recording.length) {
    const [gap = 0, messages = 0] = [...recording.slice(index, index + 2)].map((digit) =>
      Number.parseInt(digit, 36)
    )
    time += gap
    times.push(...Array<number>(messages).fill(time))
  }
  return times.slice(0, count)
}

const silenceAfter =
  (length: number) =>
  (index: number, value: number): number =>
    index % length === length >> 2 ? 3_600_000 : value * 100

/** When 3000 messages were sent, in milliseconds, by how they are spread. */
export const SHAPES = {
  even: at(3000, () => 1000),
  random: at(3000, (_index, value) => -Math.log(1 - value) * 1000),
  // a day takes 1000 messages, most of them by day
  'of day and night': at(3000, (i, value) => (1.05 + Math.sin(i / 160)) * value * 1000),
  clumps: at(3000, (index, value) => (index % 16 === 0 ? value * 100 : 0)),
  pushes: play(PUSHES, 3000),
  bursts: at(3000, silenceAfter(333)),
  'short bursts': at(3000, silenceAfter(90))
}
