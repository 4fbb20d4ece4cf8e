internal import Foundation  // InputStream
internal import LinnetSerialization

/// Reads a body from a stream, once.
final class InputStreamReader: HTTPRequestBodyReader {
    /// The part of the stream that is read at a time.
    private static let pieceSize = 64 * 1024

    private let stream: UncheckedBox<InputStream>

    /// Opens the stream.
    init(_ stream: UncheckedBox<InputStream>) {
        self.stream = stream
        stream.value.open()
    }

    deinit { stream.value.close() }

    func next() async throws -> Data? {
        var piece = Data(count: Self.pieceSize)
        let count = piece.withUnsafeMutableBytes { bytes in
            bytes.bindMemory(to: UInt8.self).baseAddress.map { stream.value.read($0, maxLength: Self.pieceSize) } ?? 0
        }
        guard count >= 0 else {
            throw stream.value.streamError
                ?? NSError(domain: NSURLErrorDomain, code: NSURLErrorRequestBodyStreamExhausted)
        }
        return count == 0 ? nil : piece.prefix(count)
    }
}
