import FoundationEssentials
import LinnetTesting
import LinnetTransport
import NIOCore
import Synchronization

/// What a server of bytes alone reads of one request's body.
struct UploadedBytes {
    let connection: RawConnection
    /// Bytes after the head, its framing included.
    private(set) var count = 0

    /// Reads the head, and what came with it.
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

    /// Reads until so many bytes are there, or the client ends the connection; the latter is false.
    @discardableResult
    mutating func read(upTo total: Int) async throws -> Bool {
        while count < total {
            guard let more = try await connection.read() else { return false }
            count += more.count
        }
        return true
    }

    /// Reads until the client ends the connection.
    mutating func readToEnd() async throws {
        while let more = try await connection.read() { count += more.count }
    }
}

/// A body whose chunks a closure makes, from the number of the chunk.
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

/// How the same bytes can be given to a transport.
enum UploadKind: CaseIterable, Sendable {
    case memory, known, chunked

    /// So many bytes, the streamed ones in chunks.
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
