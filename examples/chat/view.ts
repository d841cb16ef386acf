// What the person sees. Text of others enters the page as text nodes only.
import type { Delivery, Entry } from './model.ts'
import { byId } from './page.ts'
import type { Room, RoomEvent } from './room.ts'
import { StatusLines } from './status-lines.ts'
import { describeDelivery } from './words.ts'

export interface ViewHandlers {
  readonly onSend: (text: string) => void
  readonly onOlder: () => void
  readonly onCheck: (entry: Entry) => void
  readonly onSendAgain: (entry: Entry) => void
  readonly onReconnect: () => void
  readonly onCatchUp: () => void
  readonly onLeave: () => void
}

/** Within so many pixels of the end, the view stays at the end. */
const NEAR_END_PX = 60
/** Within so many pixels of the beginning, older messages are fetched. */
const NEAR_BEGINNING_PX = 240
/** Messages of one person within this time stand together. */
const GROUP_MS = 5 * 60_000

const clock = new Intl.DateTimeFormat(undefined, { hour: 'numeric', minute: '2-digit' })
const calendar = new Intl.DateTimeFormat(undefined, {
  weekday: 'long',
  day: 'numeric',
  month: 'long'
})
const calendarOfOtherYears = new Intl.DateTimeFormat(undefined, { dateStyle: 'long' })

export class ChatView {
  readonly #handlers: ViewHandlers
  readonly #scroll = byId('scroll')
  readonly #list = byId('messages')
  readonly #text = byId<HTMLTextAreaElement>('text')
  readonly #items = new Map<string, { element: HTMLElement; looks: string }>()
  readonly #status = new StatusLines()
  readonly #stop = new AbortController()
  readonly #room: Room
  readonly #title: string
  #atEnd = true
  #unread = 0

  constructor(room: Room, names: { room: string; nick: string }, handlers: ViewHandlers) {
    this.#room = room
    this.#handlers = handlers
    this.#title = `#${names.room}`
    byId('room-name').textContent = this.#title
    byId('my-nick').textContent = names.nick
  }

  show(): void {
    this.#listen()
    this.#status.show(this.#room.connection, this.#room.catchUp)
    this.#showHistory()
    this.#showEntries([])
    byId('chat').hidden = false
    this.#text.focus()
  }

  update(event: RoomEvent): void {
    if (event.type === 'status') {
      this.#status.show(this.#room.connection, this.#room.catchUp)
    } else if (event.type === 'history') {
      this.#keepingPlace(() => this.#showHistory())
      this.#fetchIfNearBeginning()
    } else {
      this.#showEntries(event.arrived)
    }
  }

  close(): void {
    this.#stop.abort()
    this.#status.close()
    this.#list.replaceChildren()
    this.#text.value = ''
    byId('chat').hidden = true
    document.title = 'waku-light chat'
  }

  #listen(): void {
    const options = { signal: this.#stop.signal }
    const on = (id: string, type: string, listener: (event: Event) => void): void =>
      byId(id).addEventListener(type, listener, options)
    on('composer', 'submit', (event) => {
      event.preventDefault()
      this.#send()
    })
    this.#text.addEventListener(
      'keydown',
      (event) => {
        // Enter also ends the composition of a character
        if (event.key === 'Enter' && !event.shiftKey && !event.isComposing) {
          event.preventDefault()
          this.#send()
        }
      },
      options
    )
    on('older', 'click', () => this.#handlers.onOlder())
    on('reconnect', 'click', () => this.#handlers.onReconnect())
    on('catch-up-now', 'click', () => this.#handlers.onCatchUp())
    on('leave', 'click', () => this.#handlers.onLeave())
    on('jump', 'click', () => {
      this.#toEnd()
      this.#text.focus()
    })
    on('scroll', 'scroll', () => this.#onScroll())
    document.addEventListener('visibilitychange', () => this.#onScroll(), options)
    // a keyboard that opens on a phone must not hide the end
    const observer = new ResizeObserver(() => this.#atEnd && this.#toEnd())
    observer.observe(this.#scroll)
    options.signal.addEventListener('abort', () => observer.disconnect())
  }

  #send(): void {
    const text = this.#text.value.trim()
    if (text !== '') {
      this.#text.value = ''
      this.#atEnd = true
      this.#handlers.onSend(text)
    }
    this.#text.focus()
  }

  #onScroll(): void {
    const { scrollHeight, scrollTop, clientHeight } = this.#scroll
    this.#atEnd = scrollHeight - scrollTop - clientHeight < NEAR_END_PX
    if (this.#atEnd && !document.hidden && this.#unread > 0) {
      this.#setUnread(0)
    }
    this.#fetchIfNearBeginning()
  }

  #fetchIfNearBeginning(): void {
    if (this.#scroll.scrollTop < NEAR_BEGINNING_PX && this.#room.history.state === 'idle') {
      this.#handlers.onOlder()
    }
  }

  #toEnd(): void {
    this.#scroll.scrollTop = this.#scroll.scrollHeight
    this.#atEnd = true
  }

  /** Changes the list so that what is being read stays where it is on the screen. */
  #keepingPlace(change: () => void): void {
    const anchor = this.#atEnd ? undefined : this.#firstVisible()
    const before = this.#topOf(anchor) ?? 0
    change()
    const after = this.#topOf(anchor)
    if (this.#atEnd) {
      this.#toEnd()
    } else if (after !== undefined) {
      this.#scroll.scrollTop += after - before
    }
  }

  /** The key of a message, as its element may be replaced by another one. */
  #firstVisible(): string | undefined {
    const { top } = this.#scroll.getBoundingClientRect()
    return this.#room.entries.find(({ key }) => (this.#topOf(key) ?? top) > top)?.key
  }

  #topOf(key: string | undefined): number | undefined {
    const item = key === undefined ? undefined : this.#items.get(key)
    return item?.element.querySelector('.bubble')?.getBoundingClientRect().top
  }

  #showEntries(arrived: readonly Entry[]): void {
    this.#keepingPlace(() => {
      this.#arrange()
      this.#showHistory()
    })
    if (arrived.length > 0) {
      if (!this.#atEnd || document.hidden) {
        this.#setUnread(this.#unread + arrived.length)
      }
      byId('announcer').textContent = arrived
        .map(({ content }) => (content ? `${content.nick}: ${content.text}` : 'A message'))
        .join('\n')
    }
  }

  /** Brings the elements of the list in line with the entries, leaving alone those that look the same. */
  #arrange(): void {
    const wanted: HTMLElement[] = []
    const keys = new Set<string>()
    let previous: Entry | undefined
    for (const entry of this.#room.entries) {
      const day = toDate(entry).toDateString()
      const isNewDay = previous === undefined || toDate(previous).toDateString() !== day
      if (isNewDay) {
        wanted.push(this.#item(`day ${day}`, day, () => daySeparator(toDate(entry)), keys))
      }
      const isFirst = isNewDay || previous === undefined || !belongTogether(previous, entry)
      const looks = JSON.stringify([isFirst, entry.stored, entry.delivery])
      wanted.push(this.#item(entry.key, looks, () => this.#message(entry, isFirst), keys))
      previous = entry
    }
    for (const [key, { element }] of this.#items) {
      if (!keys.has(key)) {
        element.remove()
        this.#items.delete(key)
      }
    }
    wanted.forEach((element, index) => {
      const there = this.#list.children[index]
      if (there !== element) {
        this.#list.insertBefore(element, there ?? null)
      }
    })
  }

  #item(key: string, looks: string, make: () => HTMLElement, keys: Set<string>): HTMLElement {
    keys.add(key)
    const known = this.#items.get(key)
    if (known?.looks === looks) {
      return known.element
    }
    const element = make()
    const hadFocus = known?.element.contains(document.activeElement)
    known?.element.replaceWith(element)
    if (hadFocus) {
      const next = element.querySelector('button') ?? this.#text
      next.focus()
    }
    this.#items.set(key, { element, looks })
    return element
  }

  #message(entry: Entry, isFirst: boolean): HTMLElement {
    const { content, own, sizeBytes } = entry
    const date = toDate(entry)
    const time = make('time', { title: date.toLocaleString() }, clock.format(date))
    time.dateTime = date.toISOString()
    const bubble = make('div', { className: 'bubble' })
    if (content === undefined) {
      bubble.classList.add('foreign')
      bubble.append(make('p', {}, `A message in another format (${sizeBytes} bytes)`), time)
    } else {
      bubble.append(make('p', {}, content.text), time)
    }
    const item = make('li', { className: own ? 'message own' : 'message' })
    item.classList.toggle('first', isFirst)
    if (isFirst && !own && content !== undefined) {
      const name = make('span', { className: 'nick' }, content.nick || 'nobody')
      name.style.setProperty('--hue', String(hue(content.nick)))
      item.append(name)
    }
    item.append(bubble)
    if (entry.delivery !== undefined) {
      item.append(this.#delivery(entry, entry.delivery))
    }
    return item
  }

  #delivery(entry: Entry, delivery: Delivery): HTMLElement {
    const isSettled = delivery.state === 'unknown' && entry.stored && !delivery.isStranded
    const state = isSettled ? 'stored' : delivery.state
    const line = make('div', { className: 'delivery' })
    line.dataset.state = state
    line.append(make('span', {}, describeDelivery(entry, delivery)))
    const button = (label: string, onClick: () => void): void => {
      const element = make('button', { type: 'button', className: 'quiet' }, label)
      element.addEventListener('click', onClick)
      line.append(element)
    }
    if (delivery.state === 'unknown' && !entry.stored) {
      button('Check', () => this.#handlers.onCheck(entry))
    }
    if (state === 'failed' || state === 'unknown') {
      button('Send again', () => this.#handlers.onSendAgain(entry))
    }
    return line
  }

  #showHistory(): void {
    const { history, entries } = this.#room
    const text = byId('history-text')
    text.classList.toggle('error', history.state === 'failed')
    switch (history.state) {
      case 'loading':
        text.textContent = 'Loading…'
        break
      case 'failed':
        text.textContent = `Older messages could not be loaded: ${history.reason}.`
        break
      case 'complete':
        text.textContent = entries.length > 0 ? 'This is where the room begins.' : ''
        break
      case 'idle':
        text.textContent = ''
        break
    }
    const older = byId('older')
    older.hidden = history.state !== 'idle' && history.state !== 'failed'
    older.textContent = history.state === 'failed' ? 'Try again' : 'Show older messages'
    byId('empty').hidden = entries.length > 0 || history.state !== 'complete'
  }

  #setUnread(count: number): void {
    this.#unread = count
    const jump = byId('jump')
    jump.hidden = count === 0
    jump.textContent = count === 1 ? '1 new message ↓' : `${count} new messages ↓`
    document.title = count === 0 ? this.#title : `(${count}) ${this.#title}`
  }
}

function daySeparator(date: Date): HTMLElement {
  const now = new Date()
  const yesterday = new Date(now)
  yesterday.setDate(now.getDate() - 1)
  const format = date.getFullYear() === now.getFullYear() ? calendar : calendarOfOtherYears
  const text =
    date.toDateString() === now.toDateString()
      ? 'Today'
      : date.toDateString() === yesterday.toDateString()
        ? 'Yesterday'
        : format.format(date)
  return make('li', { className: 'day' }, text)
}

function belongTogether(a: Entry, b: Entry): boolean {
  return (
    a.own === b.own &&
    a.content !== undefined &&
    a.content.nick === b.content?.nick &&
    toDate(b).getTime() - toDate(a).getTime() < GROUP_MS
  )
}

/** What a sender writes as a time may be no date at all. */
function toDate({ time }: Entry): Date {
  const date = new Date(Number(time / 1_000_000n))
  return Number.isNaN(date.getTime()) ? new Date(0) : date
}

/** A colour of its own for each name. */
function hue(name: string): number {
  let sum = 0
  for (const character of name) {
    sum = (sum * 31 + (character.codePointAt(0) ?? 0)) % 360
  }
  return sum
}

function make<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  properties: Partial<HTMLElementTagNameMap[Tag]>,
  text?: string
): HTMLElementTagNameMap[Tag] {
  const element = Object.assign(document.createElement(tag), properties)
  if (text !== undefined) {
    element.append(text)
  }
  return element
}
