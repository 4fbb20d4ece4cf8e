internal import FoundationEssentials
internal import Synchronization

/// Collects the body of an entry, and hands it over whole.
final class MemoryEntryWriter: CacheEntryWriter {
    private let store: MemoryCacheStore
    private let id: StoredResponse.ID
    private let response: StoredResponse
    private let replaced: [StoredResponse.ID]
    /// The collected bytes; nil after the entry was committed or abandoned.
    private let body: Mutex<Data?>

    init(
        _ id: StoredResponse.ID, response: StoredResponse, replacing replaced: [StoredResponse.ID],
        in store: MemoryCacheStore
    ) {
        self.id = id
        self.response = response
        self.replaced = replaced
        self.store = store
        body = Mutex(Data())
    }

    deinit { store.abandon(id) }

    func append(_ bytes: Data) async throws(CacheError) {
        // The size is checked before the bytes are kept, so that a body that is too large never fills the memory.
        let length = body.withLock { $0?.count }
        guard let length else { throw .entryRemoved }
        do throws(CacheError) {
            try store.check(id, size: Int64(length) + Int64(bytes.count))
        } catch {
            await abandon()
            throw error
        }
        body.withLock { $0?.append(bytes) }
    }

    func commit(asFirstOf total: Int64?) async throws(CacheError) -> StoredResponse {
        guard let data = take() else { throw .entryRemoved }
        var response = response
        response.id = id
        response.bodySize = Int64(data.count)
        if let total { response.part = StoredResponse.Part(range: 0..<response.bodySize, total: total) }
        return try store.commit(response, body: data, replacing: replaced)
    }

    func abandon() async {
        _ = take()
        store.abandon(id)
    }

    private func take() -> Data? {
        body.withLock { body in
            let taken = body
            body = nil
            return taken
        }
    }
}
