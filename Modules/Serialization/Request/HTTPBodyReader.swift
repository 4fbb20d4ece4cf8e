public import FoundationEssentials

/// Gives a body's bytes, chunk by chunk, as they are pulled.
public protocol HTTPBodyReader {
    /// Returns the next chunk, or nil at the end.
    ///
    /// A chunk may be empty; the end is nil only. After an error or the end, the reader is not asked again.
    mutating func next() async throws -> Data?
}

/// Gives bytes in memory as one chunk.
struct DataBodyReader: HTTPBodyReader {
    private var data: Data?

    init(_ data: Data) { self.data = data.isEmpty ? nil : data }

    mutating func next() async throws -> Data? {
        defer { data = nil }
        return data
    }
}
