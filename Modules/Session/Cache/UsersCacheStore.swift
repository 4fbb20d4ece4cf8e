internal import FoundationEssentials
internal import LinnetCache
internal import LinnetTransport

/// A user's store. The cache stops waiting for it when the request is cancelled.
///
/// Steps that keep the store right, such as removing outdated entries, are begun for a cancelled request too.
struct UsersCacheStore: CacheStore {
    private let base: any CacheStore

    /// Wraps a store, unless it is the library's own and may be called directly.
    static func wrapping(_ store: any CacheStore) -> any CacheStore {
        store is any PromptCacheStore ? store : UsersCacheStore(base: store)
    }

    func responses(for key: CacheKey) async throws(CacheError) -> [StoredResponse] {
        try await wait { [base] in try await base.responses(for: key) }
    }

    func body(of id: StoredResponse.ID) async throws(CacheError) -> (any StoredBody)? {
        try await wait { [base] in try await base.body(of: id).map { UsersStoredBody(base: $0) } }
    }

    func beginEntry(
        _ response: StoredResponse, replacing replaced: [StoredResponse.ID]
    ) async throws(CacheError) -> any CacheEntryWriter {
        try await wait { [base] in
            UsersEntryWriter(try await base.beginEntry(response, replacing: replaced))
        }
    }

    func update(_ response: StoredResponse) async throws(CacheError) {
        try await finish { [base] in try await base.update(response) }
    }

    func remove(_ ids: [StoredResponse.ID]) async throws(CacheError) {
        try await finish { [base] in try await base.remove(ids) }
    }

    func removeAll(for keys: [CacheKey]) async throws(CacheError) {
        try await finish { [base] in try await base.removeAll(for: keys) }
    }

    func removeAll() async throws(CacheError) {
        try await finish { [base] in try await base.removeAll() }
    }

    func record(_ outcome: CacheStatistics.Outcome) { base.record(outcome) }

    func statistics() async -> CacheStatistics { await base.statistics() }
}

private struct UsersStoredBody: StoredBody {
    let base: any StoredBody

    var size: Int64 { base.size }

    func bytes(in range: Range<Int64>) async throws(CacheError) -> Data {
        try await wait { [base] in try await base.bytes(in: range) }
    }
}

private final class UsersEntryWriter: CacheEntryWriter {
    private let base: any CacheEntryWriter

    init(_ base: any CacheEntryWriter) {
        self.base = base
    }

    func append(_ bytes: Data) async throws(CacheError) {
        try await wait { [base] in try await base.append(bytes) }
    }

    func commit(asFirstOf total: Int64?) async throws(CacheError) -> StoredResponse {
        try await wait { [base] in try await base.commit(asFirstOf: total) }
    }

    func abandon() async {
        try? await finish { [base] in await base.abandon() }
    }
}

/// Waits for a step that a cancelled request does not need.
private func wait<Value: Sendable>(
    _ step: @escaping @Sendable () async throws -> Value
) async throws(CacheError) -> Value {
    do {
        return try await untilCancelled(step)
    } catch {
        throw error as? CacheError
            ?? CacheError(code: .entryRemoved, message: "The request was cancelled.", underlying: error)
    }
}

/// Begins a step, and waits for it unless the request is cancelled.
private func finish(_ step: @escaping @Sendable () async throws -> Void) async throws(CacheError) {
    guard Task.isCancelled else { return try await wait(step) }
    Task { try await step() }
}
