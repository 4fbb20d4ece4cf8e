import CommandSupport
import FoundationEssentials
import HTTPTypes
import LinnetCache
import LinnetDiskCache
import Testing

/// A directory for one test, removed with it.
func withCacheFolder<Result>(_ perform: (URL) async throws -> Result) async throws -> Result {
    let url = FileManager.default.temporaryDirectory.appending(path: "linnet-cache-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: url) }
    return try await perform(url)
}

/// A response as the link of a session would store it.
func entry(_ path: String = "/a", fields: HTTPFields = [:]) throws -> StoredResponse {
    let url = try #require(URL(string: "https://example.com\(path)"))
    let head = HTTPResponse(status: .ok, headerFields: fields)
    let request = HTTPRequest(method: .get, scheme: "https", authority: "example.com", path: path)
    return StoredResponse(
        id: StoredResponse.ID(rawValue: 0), key: try #require(CacheKey(url)), head: head,
        variant: try #require(StoredResponse.Variant(of: head, to: request)),
        requestTime: Date(timeIntervalSince1970: 1_700_000_000.125),
        responseTime: Date(timeIntervalSince1970: 1_700_000_001.25), bodySize: 0)
}

/// Stores a response with a body.
@discardableResult
func add(_ body: Data, _ path: String = "/a", to store: any CacheStore) async throws -> StoredResponse {
    let writer = try await store.beginEntry(try entry(path), replacing: [])
    try await writer.append(body)
    return try await writer.commit()
}

/// The body of a path's entry; nil if there is none.
func body(_ path: String = "/a", in store: any CacheStore) async throws -> Data? {
    guard let stored = try await store.responses(for: try entry(path).key).first,
        let body = try await store.body(of: stored.id)
    else { return nil }
    return try await body.bytes(in: 0..<body.size)
}

/// The names of the files in a directory, in order.
func names(in folder: URL) -> [String] {
    ((try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []).sorted()
}

/// Runs statements on the index of a cache, in another process.
@discardableResult
func sqlite(_ folder: URL, _ sql: String) async throws -> String {
    try await Command.sqlite(folder.appending(path: "index.sqlite").path, sql)
}

/// Bytes that look random and are the same for a seed.
func bytes(_ count: Int, seed: UInt64 = 1) -> Data {
    var state = seed
    var data = Data(capacity: count + 8)
    while data.count < count {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        withUnsafeBytes(of: state.byteSwapped) { data.append(contentsOf: $0) }
    }
    return data.prefix(count)
}

func expect(
    _ code: CacheError.Code, location: SourceLocation = #_sourceLocation, _ body: () async throws -> Void
) async {
    do {
        try await body()
        Issue.record("Nothing was thrown.", sourceLocation: location)
    } catch {
        #expect((error as? CacheError)?.code == code, "\(error)", sourceLocation: location)
    }
}
