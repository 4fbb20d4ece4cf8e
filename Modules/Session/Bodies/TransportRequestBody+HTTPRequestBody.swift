internal import FoundationEssentials
internal import LinnetSerialization
internal import LinnetTransport
internal import NIOCore

extension TransportRequestBody {
    /// Observed bytes are sent in pieces of this size, so that they can be counted and suspended.
    private static let pieceSize = 64 * 1024

    init(_ body: HTTPRequestBody, observer: (any TransferObserver)?, control: (any TransferControl)?) {
        if let data = body.data, observer == nil || data.count <= Self.pieceSize {
            self = .bytes(ByteBuffer(bytes: data))
        } else if let data = body.data {
            self = .stream(length: Int64(data.count), isReplayable: true) {
                PiecewiseReader(rest: data, size: Self.pieceSize, control: control)
            }
        } else if let file = body.file {
            self = .stream(length: file.size, isReplayable: true) { FileChunkReader(file: file, control: control) }
        } else {
            self = .stream(length: body.length, isReplayable: body.isReplayable) {
                StreamReader(
                    reader: try body.makeReader(readingFilesOn: FileThreads(FileExecutor.shared)), control: control)
            }
        }
    }
}

/// Cuts bytes in memory into pieces.
private struct PiecewiseReader: TransportBodyReader {
    var rest: Data
    let size: Int
    let control: (any TransferControl)?

    mutating func next() async throws -> ByteBuffer? {
        try await control?.waitWhileSuspended()
        guard !rest.isEmpty else { return nil }
        let piece = rest.prefix(size)
        rest = rest.dropFirst(size)
        return ByteBuffer(bytes: piece)
    }
}

/// Pulls from a body's own reader.
private struct StreamReader: TransportBodyReader {
    var reader: any HTTPRequestBodyReader
    let control: (any TransferControl)?

    mutating func next() async throws -> ByteBuffer? {
        try await control?.waitWhileSuspended()
        return try await reader.next().map { ByteBuffer(bytes: $0) }
    }
}
