internal import FoundationEssentials
internal import LinnetCache
internal import Synchronization

/// Writes the body of an entry into a file, in pieces of 64 KiB and more.
final class DiskEntryWriter: CacheEntryWriter {
    private static let pieceSize = 64 << 10

    private struct State {
        /// The body's file; nil after the entry was committed or abandoned.
        var body: BodyFile?
        var file: LockedFile?
        var unwritten = Data()
        var size: Int64 = 0
    }

    private let store: DiskCacheStore
    private let response: StoredResponse
    private let replaced: [StoredResponse.ID]
    private let state: Mutex<State>

    init(
        _ response: StoredResponse, in file: LockedFile, replacing replaced: [StoredResponse.ID],
        store: DiskCacheStore
    ) {
        self.response = response
        self.replaced = replaced
        self.store = store
        state = Mutex(State(body: BodyFile(file), file: file))
    }

    deinit { store.abandon(response.id) }

    func append(_ bytes: Data) async throws(CacheError) {
        do throws(CacheError) {
            let size = state.withLock { state -> Int64? in
                state.file == nil ? nil : state.size + Int64(bytes.count)
            }
            guard let size, store.isOpen(response.id) else { throw .entryRemoved }
            guard response.size + size <= store.limits.entry else { throw .entryTooLarge }
            let unwritten = state.withLock { state in
                state.size = size
                state.unwritten.append(bytes)
                return state.unwritten.count
            }
            // Chunks of a response are often small, and each write is a hop to another thread.
            if unwritten >= Self.pieceSize { try await flush() }
        } catch {
            await abandon()
            throw error
        }
    }

    func commit(asFirstOf total: Int64?) async throws(CacheError) -> StoredResponse {
        let (body, file) = state.withLock { ($0.body, $0.file) }
        guard let body, let file, store.isOpen(response.id) else {
            await abandon()
            throw .entryRemoved
        }
        do throws(CacheError) {
            try await flush()
            var response = response
            response.bodySize = await body.size
            if let total { response.part = StoredResponse.Part(range: 0..<response.bodySize, total: total) }
            try await store.commit(response, digest: body.digest, in: file, replacing: replaced)
            await close()
            return response
        } catch {
            await abandon()
            throw error
        }
    }

    func abandon() async {
        store.abandon(response.id)
        await close()
    }

    private func flush() async throws(CacheError) {
        let (body, bytes) = state.withLock { state in
            defer { state.unwritten = Data() }
            return (state.body, state.unwritten)
        }
        guard let body, !bytes.isEmpty else { return }
        let rest = await response.expectedBodySize - body.size
        try await store.counting { () async throws(CacheError) in
            try await store.makingRoom(for: max(rest, Int64(bytes.count))) { () async throws(CacheError) in
                try await body.write(bytes)
            }
        }
    }

    /// Releases the file. This removes it unless it was kept.
    private func close() async {
        let file = state.withLock { state in
            defer { state = State() }
            return (state.body, state.file)
        }
        // Closed after unlocking.
        withExtendedLifetime(file) {}
    }
}
