import FoundationEssentials
import LinnetTesting
import LinnetTransport
import NIOCore
import Synchronization

/// A raw server's view of a request body.
struct UploadedBytes {
    let connection: RawConnection
    /// The bytes after the head, including framing.
    private(set) var count = 0

    /// Reads the head, and the bytes that came with it.
    init(on connection: RawConnection) async throws {
        self.connection = connection
        var bytes = Data()
        while let more = try await connection.read() {
            bytes.append(more)
            if let end = bytes.firstRange(of: Data("\r\n\r\n".utf8))?.upperBound {
                count = bytes.endIndex - end
                return
            }
        }
        throw TestingError(.connectionClosed, "The client closed the connection before its head was complete.")
    }

    /// Reads until enough bytes have arrived, or returns false when the client closes the connection.
    @discardableResult
    mutating func read(upTo total: Int) async throws -> Bool {
        while count < total {
            guard let more = try await connection.read() else { return false }
            count += more.count
        }
        return true
    }

    /// Reads until the client closes the connection.
    mutating func readToEnd() async throws {
        while let more = try await connection.read() { count += more.count }
    }
}

/// A body of chunks from a closure, which gets the chunk's number.
struct MadeReader: TransportBodyReader {
    let make: @Sendable (Int) async throws -> ByteBuffer?
    private var index = 0

    init(_ make: @escaping @Sendable (Int) async throws -> ByteBuffer?) {
        self.make = make
    }

    mutating func next() async throws -> ByteBuffer? {
        defer { index += 1 }
        return try await make(index)
    }
}

/// The ways to pass the same bytes to a transport.
enum UploadKind: CaseIterable, Sendable {
    case memory, known, chunked

    /// A body of a given size; streamed ones are chunked.
    func body(_ count: Int, chunk: Int = 64 * 1024) -> TransportRequestBody {
        guard self != .memory else { return .bytes(ByteBuffer(repeating: 0x61, count: count)) }
        return .stream(length: self == .known ? Int64(count) : nil, isReplayable: true) {
            MadeReader { index in
                let size = min(chunk, count - index * chunk)
                return size > 0 ? ByteBuffer(repeating: 0x61, count: size) : nil
            }
        }
    }
}
