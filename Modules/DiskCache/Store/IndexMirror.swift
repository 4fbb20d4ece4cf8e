internal import LinnetCache

/// Recently read rows of the index, which spare a hit the query. They are used while the index has not changed, for at
/// most a second.
struct IndexMirror {
    /// A part of the mirror that is right while a token has its number.
    struct Answer<Value> {
        let value: Value
        let token: ChangeToken
        let number: UInt64

        /// Whether the index has not changed. Reads eight bytes of a file.
        var isValid: Bool { token.number == number }
    }

    /// The limit bounds the effect of a process that is killed between the two numbers of a change.
    private static let lifetime: Duration = .seconds(1)
    /// The limit for the size of all heads in the mirror.
    private static let limit: Int64 = 1 << 20

    private var source: (token: ChangeToken, number: UInt64, end: ContinuousClock.Instant)?
    private var entries: [CacheKey: [IndexedEntry]] = [:]
    private var bodies: [StoredResponse.ID: IndexedBody] = [:]
    private var size: Int64 = 0

    func entries(for key: CacheKey) -> Answer<[IndexedEntry]>? { answer(entries[key]) }

    func body(of id: StoredResponse.ID) -> Answer<IndexedBody>? { answer(bodies[id]) }

    private func answer<Value>(_ value: Value?) -> Answer<Value>? {
        guard let value, let source, source.end > .now else { return nil }
        return Answer(value: value, token: source.token, number: source.number)
    }

    mutating func add(_ reading: IndexDatabase.Reading, for key: CacheKey) {
        guard let number = reading.number, reading.damaged.isEmpty else { return }
        let added = reading.entries.reduce(0) { $0 + $1.response.size - $1.response.bodySize }
        let isCurrent = source.map { $0.token === reading.token && $0.number == number && $0.end > .now } ?? false
        if !isCurrent || size + added > Self.limit { self = IndexMirror(reading.token, number) }
        guard entries[key] == nil, added <= Self.limit else { return }
        size += added + Int64(key.description.utf8.count)
        entries[key] = reading.entries
        for entry in reading.entries { bodies[entry.body.id] = entry.body }
    }

    init() {}

    private init(_ token: ChangeToken, _ number: UInt64) {
        source = (token, number, .now + Self.lifetime)
    }
}
