public import FoundationEssentials

/// Encodes one content as it is produced, in pieces of at most 64 KiB.
///
/// ```swift
/// let encoder = try ContentEncoder(.gzip)
/// encoder.append(bytes)
/// while let piece = try encoder.next() { write(piece) }
/// encoder.finish()
/// while let piece = try encoder.next() { write(piece) }
/// ```
/// The coding holds bytes back until it has enough of them or the content ends.
public final class ContentEncoder {
    private static let pieceSize = 64 * 1024

    private var stage: TransformStage
    private var isEnd = false
    private var isFinished = false
    private let room: UnsafeMutableRawBufferPointer

    /// Creates an encoder.
    ///
    /// - Throws: ``CompressionError`` with ``CompressionError/Code/noEncoder`` if the coding can only be decoded, or a
    ///   failure of its library.
    public init(_ coding: ContentCoding) throws(CompressionError) {
        guard let makeEncoder = coding.makeEncoder else {
            throw CompressionError(code: .noEncoder, message: "The content coding \(coding.name) can only be decoded.")
        }
        stage = TransformStage(try makeEncoder())
        // Allocated last, because deinit does not run when the initializer throws.
        room = .allocate(byteCount: Self.pieceSize, alignment: 16)
    }

    deinit { room.deallocate() }

    /// Adds bytes of the content.
    public func append(_ bytes: Data) { stage.append(bytes) }

    /// Ends the content after the added bytes.
    public func finish() { isEnd = true }

    /// Returns the next piece of the encoded content; nil if it needs more bytes, or after the end.
    ///
    /// - Throws: ``CompressionError`` if the library of the coding fails.
    public func next() throws(CompressionError) -> Data? {
        while !isFinished, isEnd || !stage.needsInput {
            let count = try stage.step(isEnd: isEnd, into: room)
            isFinished = isEnd && stage.isComplete
            guard count > 0 || isFinished || !isEnd || !stage.needsInput else {
                throw .libraryFailed("of the program", "it does not end")
            }
            if count > 0 { return Data(UnsafeRawBufferPointer(rebasing: room[..<count])) }
        }
        return nil
    }
}
