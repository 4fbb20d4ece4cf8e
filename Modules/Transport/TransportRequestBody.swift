public import NIOCore

/// The bytes of a request.
public enum TransportRequestBody: Sendable {
    /// Bytes in memory: sent with a Content-Length, and again when a request has to be repeated.
    case bytes(ByteBuffer)
    /// Bytes that are pulled as the connection takes them. `length` is the exact number, or nil when unknown
    /// (then HTTP/1.1 sends them chunked). `make` is called once for each attempt; a body that cannot be produced a
    /// second time says so with `isReplayable`.
    case stream(length: Int64?, isReplayable: Bool, make: @Sendable () throws -> any TransportBodyReader)

    var isReplayable: Bool {
        switch self {
        case .bytes: true
        case .stream(_, let isReplayable, _): isReplayable
        }
    }

    /// The number of bytes, where it is known.
    var length: Int64? {
        switch self {
        case .bytes(let buffer): Int64(buffer.readableBytes)
        case .stream(let length, _, _): length
        }
    }
}

/// Produces a request's bytes, chunk by chunk, for one attempt.
public protocol TransportBodyReader {
    /// The next bytes, or nil at the end. It is called again only after the connection took what it returned before;
    /// an error thrown here fails the request with ``TransportError/Code/requestBodyFailed``.
    mutating func next() async throws -> ByteBuffer?
}
