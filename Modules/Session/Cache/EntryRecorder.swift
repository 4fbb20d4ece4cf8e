internal import FoundationEssentials
internal import LinnetCache
internal import Synchronization

/// Writes the body of a response into an entry of a store. One reader of the body uses it.
///
/// The first failure of the store ends the recording, without an effect on the reader. The entry is committed if the
/// body has as many bytes as its head declares.
final class EntryRecorder: Sendable {
    /// Stored bytes in addition to the received ones (RFC 9111, section 3.4).
    typealias Piece = CombinedResponse.Piece

    private struct State {
        /// The writer; nil after the recording has ended.
        var writer: (any CacheEntryWriter)?
        var received: Int64 = 0
    }

    private let state: Mutex<State>
    private let store: any CacheStore
    /// The number of bytes that must be received; nil if only their framing tells the end.
    private let length: Int64?
    private let replaced: [StoredResponse.ID]
    private let stored: (any StoredBody)?
    /// The stored bytes that follow the received ones.
    private let rest: [Range<Int64>]

    private init(
        _ writer: any CacheEntryWriter, length: Int64?, replacing replaced: [StoredResponse.ID],
        in store: any CacheStore,
        stored: (any StoredBody)?, rest: [Range<Int64>]
    ) {
        state = Mutex(State(writer: writer))
        self.length = length
        self.replaced = replaced
        self.store = store
        self.stored = stored
        self.rest = rest
    }

    /// Begins an entry with the stored bytes before the received ones; nil if the store refuses it.
    ///
    /// - Parameter part: The stored part to combine with the received bytes. It is unchanged if they do not come.
    static func make(
        _ entry: StoredResponse, _ pieces: [Piece] = [], _ stored: (any StoredBody)? = nil,
        of part: StoredResponse.ID? = nil, length: Int64?,
        replacing replaced: [StoredResponse.ID], in store: any CacheStore
    ) async -> EntryRecorder? {
        let all = part.map { replaced + [$0] } ?? replaced
        guard let writer = try? await store.beginEntry(entry, replacing: all) else { return nil }
        let (first, rest) = (pieces.prefix { !$0.isReceived }, pieces.drop { !$0.isReceived })
        do throws(CacheError) {
            for case .stored(let range) in first {
                try await stored.append(range, to: writer)
            }
        } catch {
            await writer.abandon()
            return nil
        }
        let ranges = rest.compactMap { if case .stored(let range) = $0 { range } else { nil } }
        return EntryRecorder(
            writer, length: length, replacing: replaced, in: store, stored: stored, rest: ranges)
    }

    /// Whether bytes are still recorded.
    var isRecording: Bool { state.withLock { $0.writer != nil } }

    func append(_ bytes: Data) async {
        let writer = state.withLock { state in
            state.received += Int64(bytes.count)
            return state.writer
        }
        guard let writer else { return }
        do {
            try await writer.append(bytes)
        } catch {
            await abandon()
        }
    }

    /// Makes the entry visible after the end of the body was received.
    func commit() async {
        let (isComplete, writer) = state.withLock { state in
            (length == nil || state.received == length, state.writer)
        }
        guard isComplete, let writer else { return await abandon() }
        do throws(CacheError) {
            for range in rest { try await stored.append(range, to: writer) }
            _ = try await writer.commit()
            let committed = state.withLock { $0.writer.take() }
            // Released after unlocking, since it can be the program's.
            withExtendedLifetime(committed) {}
        } catch {
            await abandon()
        }
    }

    /// Drops the entry, and the entries that it would have replaced, because the response has proved them outdated.
    func abandon() async {
        let writer = state.withLock { state in
            let writer = state.writer
            state.writer = nil
            return writer
        }
        guard let writer else { return }
        await writer.abandon()
        if !replaced.isEmpty { try? await store.remove(replaced) }
    }
}

extension CombinedResponse.Piece {
    fileprivate var isReceived: Bool { if case .received = self { true } else { false } }
}

extension (any StoredBody)? {
    fileprivate func append(_ range: Range<Int64>, to writer: any CacheEntryWriter) async throws(CacheError) {
        guard let self else { throw CacheError(code: .rangeNotStored, message: "The stored body is gone.") }
        try await writer.append(self.bytes(in: range))
    }
}
