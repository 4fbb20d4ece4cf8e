public import FoundationEssentials

/// Reads a body chunk by chunk.
public protocol HTTPRequestBodyReader {
    /// Returns the next chunk; nil at the end.
    ///
    /// A chunk may be empty. It is not called again after the end or an error.
    mutating func next() async throws -> Data?
}

/// Returns data as a single chunk.
struct DataBodyReader: HTTPRequestBodyReader {
    private var data: Data?

    init(_ data: Data) { self.data = data.isEmpty ? nil : data }

    mutating func next() async throws -> Data? {
        defer { data = nil }
        return data
    }
}
