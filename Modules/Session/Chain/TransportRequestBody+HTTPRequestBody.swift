internal import FoundationEssentials
internal import LinnetSerialization
internal import LinnetTransport
internal import NIOCore

extension TransportRequestBody {
    /// Bytes that are watched go out in pieces of this size, so that they can be counted and held back.
    private static let pieceSize = 64 * 1024

    init(_ body: HTTPRequestBody, sink: (any EngineSink)?) {
        if let data = body.data, sink == nil || data.count <= Self.pieceSize {
            self = .bytes(ByteBuffer(bytes: data))
        } else if let data = body.data {
            self = .stream(length: Int64(data.count), isReplayable: true) {
                PiecewiseReader(rest: data, size: Self.pieceSize, sink: sink)
            }
        } else if let file = body.file {
            self = .stream(length: file.size, isReplayable: true) { FileChunkReader(file: file, sink: sink) }
        } else {
            self = .stream(length: body.length, isReplayable: body.isReplayable) {
                StreamReader(
                    reader: try body.makeReader(readingFilesOn: FileThreads(FileExecutor.shared)), sink: sink)
            }
        }
    }
}

/// Cuts bytes in memory into pieces.
private struct PiecewiseReader: TransportBodyReader {
    var rest: Data
    let size: Int
    let sink: (any EngineSink)?

    mutating func next() async throws -> ByteBuffer? {
        try await sink?.passGate()
        guard !rest.isEmpty else { return nil }
        let piece = rest.prefix(size)
        rest = rest.dropFirst(size)
        return ByteBuffer(bytes: piece)
    }
}

/// Pulls a body's own reader.
private struct StreamReader: TransportBodyReader {
    var reader: any HTTPRequestBodyReader
    let sink: (any EngineSink)?

    mutating func next() async throws -> ByteBuffer? {
        try await sink?.passGate()
        return try await reader.next().map { ByteBuffer(bytes: $0) }
    }
}
