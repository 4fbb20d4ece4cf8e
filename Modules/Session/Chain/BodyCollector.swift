internal import FoundationEssentials

/// Gathers the chunks of a body, up to a limit.
struct BodyCollector {
    let limit: Int
    private(set) var bytes = Data()

    init(limit: Int) {
        self.limit = limit
    }

    mutating func append(_ chunk: Data) throws(SessionError) {
        guard chunk.count <= limit - bytes.count else {
            throw SessionError(.bodyTooLarge, "The body has more than \(limit) bytes.")
        }
        if bytes.isEmpty { bytes = chunk } else { bytes.append(chunk) }
    }
}
