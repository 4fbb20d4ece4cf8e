internal import FoundationEssentials

/// A response's body whose chunks are passed to a hook before their reader.
final class WatchedBody: Sendable {
    let base: ResponseBody
    let hooks: RequestHooks

    init(base: ResponseBody, hooks: RequestHooks) {
        self.base = base
        self.hooks = hooks
    }
}

struct WatchedSource: ResponseBodySource {
    private var iterator: ResponseBody.Iterator
    private let hooks: RequestHooks

    init(_ body: WatchedBody) {
        iterator = body.base.makeAsyncIterator()
        hooks = body.hooks
    }

    mutating func next() async throws(SessionError) -> Data? {
        guard let chunk = try await iterator.next() else { return nil }
        try await hooks.didReceiveData(chunk)
        return chunk
    }
}
